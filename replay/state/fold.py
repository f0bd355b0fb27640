"""The one fold: (state, event) → state. Live agents and every offline command use this and no other.

Every handler checks what must hold before the event and raises :class:`InvariantError` where it does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from dga2d.events import (
    PAYLOAD_TYPES,
    DeclarationError,
    RecordedEvent,
    StoredEvent,
    UnknownEventTypeError,
    decoder_of,
)
from dga2d.replay.state import (  # noqa: F401 (they fill RULES)
    fold_comparisons,
    fold_credits,
    fold_edits,
    fold_evaluations,
    fold_generation,
    fold_kernels,
    fold_methods,
    fold_operators,
    fold_run,
)
from dga2d.replay.state.handler import RULES, Events, Rule, amend, refuse, replace
from dga2d.replay.state.run_state import RunState

Stored = TypeVar("Stored", bound=StoredEvent)


def check_rules(rules: Mapping[str, Rule]) -> None:
    """See that every event type has its handler.

    Raises
    ------
    DeclarationError
        One has none.
    """
    for name in PAYLOAD_TYPES:
        if name not in rules:
            raise DeclarationError(name, "has no handler in the fold (`folds`)")


check_rules(RULES)


def fold(state: RunState, event: RecordedEvent) -> RunState:
    """Return the state after `event`, which must be number ``state.seq + 1``.

    Raises
    ------
    InvariantError
        The event cannot follow this state.
    PayloadError, UnknownEventTypeError
        The event cannot be decoded.
    """
    return fold_page(state, [event])


def fold_all(events: Iterable[RecordedEvent], state: RunState | None = None) -> RunState:
    """Return the state after all `events`. Raises as `fold`."""
    return fold_page(RunState() if state is None else state, list(events))


def fold_page(state: RunState, page: list[Stored]) -> RunState:
    """Return the state after all events of `page`, which is emptied.

    An event that is let go before the next is decoded gives its memory, still in the processor's cache, to
    that one: twice as fast as decoding a page of events and then dropping it.

    Raises
    ------
    InvariantError, PayloadError, UnknownEventTypeError
        As `fold`, for the first event that cannot follow.
    """
    page.reverse()
    while page:
        type_name, left = page[-1][3], len(page)
        rule = RULES.get(type_name)
        if rule is None:
            raise UnknownEventTypeError(type_name, page[-1][4])
        events = _take(state, page, rule)
        after = rule.handler(state, events) if rule.takes_many else _fold_one(state, events, rule)
        seq = state.seq + left - len(page)
        state = replace(after, seq=seq) if after is state else amend(after, seq=seq)
    return state


def _fold_one(state: RunState, events: Events, rule: Rule) -> RunState:
    """Return the state after the only one of `events`."""
    after = state
    for event, payload in events:
        after = rule.handler(state, event, payload)
    return after


def _take(state: RunState, page: list[Stored], rule: Rule) -> Events:
    """Yield the events of one type at the end of `page`, or the last one, decoded and checked.

    Each is taken from the page when the next is asked for.
    """
    type_name, takes_many, owners = page[-1][3], rule.takes_many, rule.owners
    model = PAYLOAD_TYPES[type_name]
    decode, version = decoder_of(model), model.version
    is_plain, seq = state.status == "running" and state.training is None, state.seq
    while page and page[-1][3] == type_name:
        event: StoredEvent = page[-1]
        if takes_many and event[4] == version:
            payload = decode(event[9])
        else:
            event = event if isinstance(event, RecordedEvent) else RecordedEvent._make(event)
            payload = event.payload
        seq += 1
        if event[1] != seq:
            refuse(event, f"event {seq} is next")
        if not is_plain:
            _check_status(state, event, rule)
        if event[5] not in owners:
            refuse(event, f"{event[5]} may not write it; it belongs to {', '.join(owners)}")
        cause, filed = event[7], event[6]
        if cause is not None and not 0 < cause < seq:
            refuse(event, f"its cause, event {cause}, is not before it")
        yield event, payload
        if filed is not None and filed != (named := getattr(payload, "generation", filed)):
            refuse(event, f"it is filed under generation {filed} and tells of {named}")
        page.pop()
        if not takes_many:
            return


def _check_status(state: RunState, event: StoredEvent, rule: Rule) -> None:
    if event[3] in ("RunStarted", "TrainingStarted"):
        return
    if state.training is not None:
        if event[3] not in fold_run.TRAINING_TYPES:
            refuse(event, "the log is that of a training")
    elif state.started is None:
        refuse(event, "the run has not started")
    if state.status != "running" and not rule.follows_end:
        refuse(event, f"the run is {state.status} at this point")
