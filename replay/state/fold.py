"""The one fold: (state, event) → state. Live agents and every offline command use this and no other.

Every handler checks what must hold before the event and raises :class:`InvariantError` where it does not.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from dga2d.events import OWNERS, RecordedEvent, StoredEvent
from dga2d.replay.state.fold_edits import EDIT_HANDLERS
from dga2d.replay.state.fold_generation import GENERATION_HANDLERS
from dga2d.replay.state.fold_outcomes import FOLDS_OF_MANY
from dga2d.replay.state.fold_run import RUN_HANDLERS
from dga2d.replay.state.handler import Handler, refuse, replace, require, stamped
from dga2d.replay.state.run_state import RunState

Stored = TypeVar("Stored", bound=StoredEvent)

HANDLERS: dict[str, Handler] = {**RUN_HANDLERS, **GENERATION_HANDLERS, **EDIT_HANDLERS}

ALWAYS = frozenset(
    {"RunPaused", "RunResumed", "RunFailed", "TestStarted", "EvaluationRecorded", "TestScored"}
)
"""What may also follow when the run is paused, completed or failed (of evaluations, those of a test)."""


def fold(state: RunState, event: RecordedEvent) -> RunState:
    """State after `event`, which must be number ``state.seq + 1``.

    Raises
    ------
    InvariantError
        The event cannot follow this state.
    PayloadError, UnknownEventTypeError
        The event cannot be decoded.
    """
    payload = event.payload
    if event.seq != state.seq + 1:
        refuse(event, f"event {state.seq + 1} is next")
    if event.type != "RunStarted":
        require(state.started is not None, event, "the run has not started")
        if state.status != "running" and event.type not in ALWAYS:
            refuse(event, f"the run is {state.status} at this point")
    owners = OWNERS[event.type]
    if event.agent not in owners:
        refuse(event, f"{event.agent} may not write it; it belongs to {', '.join(owners)}")
    cause = event.caused_by
    if cause is not None and not 0 < cause < event.seq:
        refuse(event, f"its cause, event {cause}, is not before it")
    after = HANDLERS[event.type](state, event, payload)
    named = getattr(payload, "generation", None)
    if event.generation is not None and named is not None and event.generation != named:
        refuse(event, f"it is filed under generation {event.generation} and tells of {named}")
    return replace(after, seq=event.seq) if after is state else stamped(after, seq=event.seq)


def fold_page(state: RunState, page: list[Stored]) -> RunState:
    """State after all events of `page`, which is emptied; what `fold` gives for one after the other.

    An event that is let go before the next is decoded gives its memory, still in the processor's cache, to
    that one: twice as fast as decoding a page of events and then dropping it.

    Raises
    ------
    InvariantError, PayloadError, UnknownEventTypeError
        As `fold`, for the first event that cannot follow.
    """
    page.reverse()
    while page:
        left = len(page)
        if (fold_many := FOLDS_OF_MANY.get(page[-1][3])) is not None:
            state = fold_many(state, page)
        if len(page) == left:
            state = fold(state, RecordedEvent._make(page.pop()))
    return state


def fold_all(events: Iterable[RecordedEvent], state: RunState | None = None) -> RunState:
    """State after all `events`."""
    state = RunState() if state is None else state
    for event in events:
        state = fold(state, event)
    return state
