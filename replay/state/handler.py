"""The parts of the fold: handlers by event type, conditions that must hold, copies with changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, TypeVar

from dga2d.events import (
    AgentName,
    DeclarationError,
    ImplementationId,
    OperatorId,
    Payload,
    RecordedEvent,
    StoredEvent,
)
from dga2d.events import payloads as p
from dga2d.replay.errors import InvariantError
from dga2d.replay.state.generation_state import GenerationState
from dga2d.replay.state.run_state import Offer, RunState

Record = TypeVar("Record")
Value = TypeVar("Value")

Events = Iterator[tuple[StoredEvent, Any]]
"""Events of one type, one behind the other, each with its payload or a record that has its fields."""
HandlerOfMany = Callable[[RunState, Events], RunState]
"""(state, events of one type) → state after all of them."""

AnyHandler = TypeVar("AnyHandler", bound=Callable[..., RunState])


class Rule(NamedTuple):
    """How the fold takes events of one type."""

    handler: Callable[..., RunState]
    owners: tuple[AgentName, ...]
    takes_many: bool
    """The handler is a `HandlerOfMany`: it takes all events of its type that stand one behind the other, and
    copies what it changes once. For the types that fill a log."""
    follows_end: bool
    """Such events may also follow when the run is paused, completed or failed."""


RULES: dict[str, Rule] = {}
"""Event type → its rule; filled by `folds`."""


def folds(
    model: type[Payload], *, takes_many: bool = False, follows_end: bool = False
) -> Callable[[AnyHandler], AnyHandler]:
    """Make a function the handler of events of a type; the options are those of its `Rule`.

    Raises
    ------
    DeclarationError
        The type has a handler already.
    """

    def register(handler: AnyHandler) -> AnyHandler:
        if model.__name__ in RULES:
            raise DeclarationError(model.__name__, "has two handlers in the fold")
        RULES[model.__name__] = Rule(handler, model.owners, takes_many, follows_end)
        return handler

    return register


# ---------------------------------------------------------------- conditions


def require(value: Value | None, event: StoredEvent, reason: str) -> Value:
    """Return `value` if it is true, and refuse `event` with `reason` if not.

    Raises
    ------
    InvariantError
        `value` is ``None``, false or empty.
    """
    if not value:
        refuse(event, reason)
    return value


def refuse(event: StoredEvent, reason: str) -> NoReturn:
    """Refuse `event`: for the frequent events, whose reasons are put into words only where they are needed.

    Raises
    ------
    InvariantError
        Always.
    """
    raise InvariantError(event[1], event[3], reason)


def open_generation(state: RunState, event: StoredEvent, number: int) -> GenerationState:
    """Return the open generation, which must be `number`.

    Raises
    ------
    InvariantError
        No generation is open, or another one is.
    """
    generation = state.generation
    if state.status != "running":
        refuse(event, f"the run is {state.status}")
    if generation is None:
        refuse(event, "no generation is open")
    if generation.number != number:
        refuse(event, f"speaks of generation {number} while generation {generation.number} is open")
    return generation


def with_generation(state: RunState, generation: GenerationState) -> RunState:
    """Return `state` with `generation` in its place: as the open one, or among those sampled ahead."""
    if state.generation is not None and state.generation.number == generation.number:
        return replace(state, generation=generation)
    return replace(state, ahead=state.ahead.set(generation.number, generation))


def judge(
    state: RunState,
    event: RecordedEvent,
    number: int,
    verdict: Literal["accepted", "rejected"],
    diagnostic: str | None = None,
    bought: tuple[str, ...] = (),
) -> RunState:
    """Return the state after the asking agent judged the answer to call `number`.

    Raises
    ------
    InvariantError
        There is no such call, it is another agent's, has no answer, or was judged before.
    """
    call = require(state.ledger.calls.get(number), event, f"call {number} was never reserved")
    require(call.agent == event.agent, event, f"call {number} belongs to {call.agent}")
    require(call.status == "settled", event, f"call {number} was not answered")
    require(call.verdict is None, event, f"call {number} was judged before")
    require(not call.is_in_flight, event, f"the answer to call {number} is for a later generation")
    return replace(state, ledger=state.ledger.judge(number, event.seq, verdict, diagnostic, bought))


OfferedOrAnswered = (
    p.ImplementationProposed
    | p.ImplementationAdded
    | p.ImplementationReplaced
    | p.ImplementationRejected
    | p.OperatorProposed
    | p.OperatorAdded
    | p.OperatorRejected
)
Place = tuple[OperatorId, int]
"""Operator and slot that an entry of the bank is offered for."""


def judge_origin(
    state: RunState,
    event: RecordedEvent,
    payload: OfferedOrAnswered,
    place: Place,
    verdict: Literal["accepted", "rejected"],
    implementation: ImplementationId | None = None,
    diagnostic: str = "",
) -> RunState:
    """Return the state after a verdict on code, whether it is the answer to a call or an offer of the bank.

    Raises
    ------
    InvariantError
        As of `judge` and `judge_offer`, or it is neither.
    """
    if payload.offer is not None:
        return judge_offer(state, event, payload, place, implementation, verdict, diagnostic)
    call = require(payload.call, event, "it is neither the answer to a call nor an offer of the bank")
    bought = () if implementation is None else (implementation,)
    return judge(state, event, call, verdict, diagnostic or None, bought)


def judge_offer(
    state: RunState,
    event: RecordedEvent,
    payload: OfferedOrAnswered,
    place: Place,
    implementation: ImplementationId | None,
    verdict: Literal["accepted", "rejected"] | None = None,
    diagnostic: str = "",
) -> RunState:
    """Return the state after an entry of the bank was offered, or judged.

    Raises
    ------
    InvariantError
        The bank has no such entry, it was offered there before, or a call is named as well.
    """
    bank, entry = state.header.bank or (), payload.offer
    require(payload.call is None, event, "it is both the answer to a call and an offer of the bank")
    if entry is None or not 0 <= entry < len(bank):
        refuse(event, f"the run's bank has no entry {entry}")
    operator, slot = place
    before = next((o for o in state.offers if (o.entry, o.operator) == (entry, operator)), None)
    if before is None:
        offer = Offer(entry, operator, payload.generation, slot)
    else:
        is_open = before.verdict is None and (before.generation, before.slot) == (payload.generation, slot)
        offer = require(before if is_open else None, event, f"entry {entry} was offered before")
    offer = replace(
        offer, implementation=implementation or offer.implementation, verdict=verdict, diagnostic=diagnostic
    )
    others = (o for o in state.offers if (o.entry, o.operator) != (entry, operator))
    return replace(state, offers=tuple(sorted((*others, offer), key=lambda o: (o.entry, o.operator))))


# ---------------------------------------------------------------- copies

if TYPE_CHECKING:
    from dataclasses import replace as replace
else:

    def replace(record: Any, /, **changes: Any) -> Any:
        """Return `record` with other values of some fields, ten times as fast as ``dataclasses.replace``.

        For frozen dataclasses without slots; what ``cached_property`` kept on the old record is left behind.

        Raises
        ------
        TypeError
            There is no such field.
        """
        kind = type(record)
        fields = kind.__dataclass_fields__
        values = record.__dict__ | changes
        if len(values) != len(fields):  # something else is among them
            if unknown := changes.keys() - fields.keys():
                raise TypeError(f"{kind.__name__} has no field {', '.join(sorted(unknown))}")
            values = {name: values[name] for name in fields}
        copy = object.__new__(kind)
        object.__setattr__(copy, "__dict__", values)
        return copy


def amend(fresh: Record, **changes: Any) -> Record:
    """Return `fresh` itself with other values: only for a copy that nobody else has seen yet."""
    fresh.__dict__.update(changes)
    return fresh
