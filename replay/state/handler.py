"""What the handlers of the fold are made of: conditions that must hold, and copies with changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar

from dga2d.events import RecordedEvent
from dga2d.replay.errors import InvariantError
from dga2d.replay.state.run_state import GenerationState, RunState

Record = TypeVar("Record")

if TYPE_CHECKING:
    from dataclasses import replace as replace
else:

    def replace(record: Any, /, **changes: Any) -> Any:
        """`record` with other values of some fields; for frozen dataclasses without slots.

        What ``cached_property`` kept on the old record is left behind.

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


def stamped(fresh: Record, **changes: Any) -> Record:
    """`fresh` itself with other values: only for a copy that nobody else has seen yet."""
    fresh.__dict__.update(changes)
    return fresh


Handler = Callable[[RunState, RecordedEvent, Any], RunState]
"""(state, event, its payload) → state."""


def require(condition: object, event: RecordedEvent, reason: str) -> None:
    """Refuse `event` with `reason` unless `condition` holds.

    Raises
    ------
    InvariantError
        `condition` is false.
    """
    if not condition:
        raise InvariantError(event.seq, event.type, reason)


def refuse(event: RecordedEvent, reason: str) -> NoReturn:
    """Refuse `event`: for the frequent events, whose reasons are put into words only where they are needed.

    Raises
    ------
    InvariantError
        Always.
    """
    raise InvariantError(event.seq, event.type, reason)


def open_generation(state: RunState, event: RecordedEvent, number: int) -> GenerationState:
    """The open generation, which must be `number`.

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


def judge(
    state: RunState,
    event: RecordedEvent,
    number: int,
    verdict: Literal["accepted", "rejected"],
    diagnostic: str | None = None,
) -> RunState:
    """The state after the asking agent judged the answer to call `number`.

    Raises
    ------
    InvariantError
        There is no such call, it is another agent's, has no answer, or was judged before.
    """
    call = state.ledger.calls.get(number)
    require(call is not None, event, f"call {number} was never reserved")
    assert call is not None
    require(call.agent == event.agent, event, f"call {number} belongs to {call.agent}")
    require(call.status == "settled", event, f"call {number} was not answered")
    require(call.verdict is None, event, f"call {number} was judged before")
    return replace(state, ledger=state.ledger.judged(number, event.seq, verdict, diagnostic))
