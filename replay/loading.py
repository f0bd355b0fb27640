"""Loads the state of a run: folds its log, from a snapshot where one can be relied on."""

from __future__ import annotations

import hashlib

from anyio.to_thread import run_sync

from dga2d.events import RunId, StoredEvent
from dga2d.replay._state_codec import decode_state, encode_state
from dga2d.replay.state.digest import state_digest
from dga2d.replay.state.fold import fold, fold_page
from dga2d.replay.state.run_state import RunState
from dga2d.store import EMPTY_LOG, CorruptEventError, EventStore, Head, Snapshot, check_page


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


FORMAT = "4"
"""Rises with the form of the bytes."""


async def save_snapshot(
    store: EventStore, run_id: RunId, state: RunState, event_hash: bytes, code_version: str
) -> None:
    """Keep the state after an event; `code_version` is the only one that will read it.

    Raises
    ------
    StoreError
        The database refused. Nothing depends on a snapshot: a caller may go on.
    """
    data = await run_sync(encode_state, state)
    digest = _seal(run_id, state.seq, event_hash, code_version, state_digest(state), data)
    await store.put_snapshot(run_id, Snapshot(state.seq, event_hash, digest, data))


async def opened(store: EventStore, run_id: RunId, code_version: str, until: int | None = None) -> RunState:
    """State after event `until` (the last by default), from the last snapshot before it if one holds.

    The events after the snapshot are checked as by ``folded``; those before it are not read. A snapshot
    that does not belong to the log, was damaged, or was made by another version of the program is ignored.

    Raises
    ------
    UnknownRunError, CorruptEventError, ReplayError, EventError
        There is no such run, or its log does not hold.
    """
    for snapshot in await store.snapshots(run_id, until):
        state = await _restored(store, run_id, snapshot, code_version)
        if state is not None:
            return await folded(store, run_id, until, state, Head(snapshot.seq, snapshot.event_hash))
    return await folded(store, run_id, until)


async def _restored(
    store: EventStore, run_id: RunId, snapshot: Snapshot, code_version: str
) -> RunState | None:
    """The state of a snapshot, ``None`` if it cannot be relied on."""
    page = [event async for event in store.read(run_id, snapshot.seq - 1, snapshot.seq)]
    if len(page) != 1 or page[0].hash != snapshot.event_hash:
        return None
    try:
        check_page(page, Head(snapshot.seq - 1, page[0].prev_hash))
        state = decode_state(snapshot.data)
        digest = state_digest(state)
    except (CorruptEventError, ValueError, TypeError, LookupError, AttributeError):
        return None
    holder = page[0].run_id
    seal = _seal(holder, state.seq, snapshot.event_hash, code_version, digest, snapshot.data)
    return state if state.seq == snapshot.seq and seal == snapshot.digest else None


def _seal(run_id: str, seq: int, event_hash: bytes, code_version: str, digest: str, data: bytes) -> str:
    """SHA-256 over the bytes and all that they belong to."""
    seal = hashlib.sha256(f"{FORMAT}\n{run_id}\n{seq}\n{code_version}\n{digest}\n".encode())
    seal.update(event_hash)
    seal.update(data)
    return seal.hexdigest()
