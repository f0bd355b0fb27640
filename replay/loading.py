"""Load the state of a run, from a snapshot that can be believed or from the beginning of its log."""

from __future__ import annotations

from collections.abc import Callable

from dga2d.events import RunId, StoredEvent
from dga2d.replay.snapshots import IgnoredSnapshot, SnapshotSeal, restore
from dga2d.replay.state.fold import fold, fold_page
from dga2d.replay.state.run_state import RunState
from dga2d.store import EMPTY_LOG, EventStore, Head, check_page


async def load_state(
    store: EventStore,
    run_id: RunId,
    until: int | None = None,
    *,
    seal: SnapshotSeal | None = None,
    on_ignored: Callable[[IgnoredSnapshot], None] | None = None,
) -> RunState:
    """Return the state after event `until` (after the last by default), with all checks of chain and fold.

    Parameters
    ----------
    seal
        Reads the last snapshot that bears it, and folds and checks the events behind that alone. ``None``:
        folds the log from its beginning.
    on_ignored
        Hears of the snapshots that were not believed.

    Raises
    ------
    UnknownRunError, CorruptEventError, ReplayError, EventError
        There is no such run, or its log does not hold.
    """
    if seal is not None:
        for snapshot in await store.snapshots(run_id, until):
            found = await restore(store, run_id, snapshot, seal)
            if isinstance(found, RunState):
                return await _fold(store, run_id, until, found, Head(snapshot.seq, snapshot.event_hash))
            if found is not None and on_ignored is not None:
                on_ignored(found)
    return await _fold(store, run_id, until, RunState(), EMPTY_LOG)


async def _fold(
    store: EventStore, run_id: RunId, until: int | None, state: RunState, start: Head
) -> RunState:
    """Return the state after event `until`, where the events up to `start` fold to `state`."""
    reached, head = state, start

    def take(page: list[StoredEvent]) -> None:
        nonlocal reached, head
        head = check_page(page, head)
        reached = fold_page(reached, page)

    await store.scan(run_id, take, start.seq, until)
    return reached


async def load_generation(store: EventStore, run_id: RunId, generation: int) -> RunState | None:
    """Return the state when `generation` had closed (0: when the graph was there), ``None`` if it never did.

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
