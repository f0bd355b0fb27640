"""The one fold: (state, event) → state. Live agents and every offline command use this and no other.

Every handler checks what must hold before the event and raises :class:`InvariantError` where it does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from dga2d.events import (
    PAYLOAD_TYPES,
    DeclarationError,
    RecordedEvent,
    StoredEvent,
    UnknownEventTypeError,
    decode_payload,
    decoder_of,
)
from dga2d.replay.state import fold_edits, fold_generation, fold_run  # noqa: F401 (they fill RULES)
from dga2d.replay.state.handler import RULES, Rule, amend, refuse, replace
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
        after = _fold_many(state, page, rule) if rule.takes_many else _fold_one(state, page, rule)
        seq = state.seq + left - len(page)
        state = replace(after, seq=seq) if after is state else amend(after, seq=seq)
    return state


def _fold_one(state: RunState, page: list[Stored], rule: Rule) -> RunState:
    """Return the state after the last event of `page`, which is taken from it."""
    event = page.pop()
    recorded = event if isinstance(event, RecordedEvent) else RecordedEvent._make(event)
    payload = recorded.payload
    _check_order(state, recorded, rule, state.seq + 1)
    after: RunState = rule.handler(state, recorded, payload)
    _check_generation(recorded, payload)
    return after


def _fold_many(state: RunState, page: list[Stored], rule: Rule) -> RunState:
    """Return the state after all events of one type at the end of `page`, which are taken from it."""
    after: RunState = rule.handler(state, _take(state, page, rule))
    return after


def _take(state: RunState, page: list[Stored], rule: Rule) -> Iterator[tuple[StoredEvent, Any]]:
    """Yield the events of one type at the end of `page`, decoded and checked; each is taken from the page
    when the next is asked for."""
    type_name = page[-1][3]
    model = PAYLOAD_TYPES[type_name]
    decode, version = decoder_of(model), model.version
    seq = state.seq
    while page and page[-1][3] == type_name:
        event = page[-1]
        seq += 1
        is_current = event[4] == version
        payload = decode(event[9]) if is_current else decode_payload(type_name, event[4], event[9])
        _check_order(state, event, rule, seq)
        yield event, payload
        _check_generation(event, payload)
        page.pop()


def _check_order(state: RunState, event: StoredEvent, rule: Rule, seq: int) -> None:
    """See that an event may stand where it does, whatever it tells."""
    if event[1] != seq:
        refuse(event, f"event {seq} is next")
    if state.status != "running":
        _check_status(state, event, rule)
    if event[5] not in rule.owners:
        refuse(event, f"{event[5]} may not write it; it belongs to {', '.join(rule.owners)}")
    cause = event[7]
    if cause is not None and not 0 < cause < seq:
        refuse(event, f"its cause, event {cause}, is not before it")


def _check_status(state: RunState, event: StoredEvent, rule: Rule) -> None:
    if event[3] == "RunStarted":
        return
    if state.started is None:
        refuse(event, "the run has not started")
    if not rule.follows_end:
        refuse(event, f"the run is {state.status} at this point")


def _check_generation(event: StoredEvent, payload: Any) -> None:
    """See that an event is filed under the generation that it tells of."""
    filed = event[6]
    if filed is not None and filed != (named := getattr(payload, "generation", filed)):
        refuse(event, f"it is filed under generation {filed} and tells of {named}")
