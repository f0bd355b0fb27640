"""Brings a run's state back from its log, page by page."""

from __future__ import annotations

from dga2d.events import RunId, StoredEvent
from dga2d.replay.state.fold import fold, fold_page
from dga2d.replay.state.run_state import RunState
from dga2d.store import EventStore, Head, check_page
from dga2d.store.contract import EMPTY_LOG


async def folded(
    store: EventStore,
    run_id: RunId,
    until: int | None = None,
    state: RunState | None = None,
    start: Head = EMPTY_LOG,
) -> RunState:
    """State after event `until` (after the last by default); chain, order and invariants are checked.

    `state` is what the events up to `start` fold to, for who has it from elsewhere.

    Raises
    ------
    UnknownRunError, CorruptEventError, ReplayError, EventError
        There is no such run, or its log does not hold.
    """
    reached, head = RunState() if state is None else state, start

    def take(page: list[StoredEvent]) -> None:
        nonlocal reached, head
        head = check_page(page, head)
        reached = fold_page(reached, page)

    await store.scan(run_id, take, start.seq, until)
    return reached


async def folded_to_generation(store: EventStore, run_id: RunId, generation: int) -> RunState | None:
    """State when `generation` had closed (0: when the graph was there), ``None`` if it never did.

    Raises
    ------
    UnknownRunError, CorruptEventError, ReplayError, EventError
        There is no such run, or its log does not hold.
    """
    state, head = RunState(), EMPTY_LOG
    async for page in store.pages(run_id):
        head = check_page(page, head)
        for event in page:
            state = fold(state, event)
            if state.graph is not None and state.generation is None and state.completed == generation:
                return state
    return None
