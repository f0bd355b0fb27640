"""Snapshots of folded states, sealed when they are saved and believed only with their seal, and how a state
is loaded from one, or from the beginning of its log.

A snapshot is a cache beside the log. It may be lost or wrong at any time, and whoever can write the database
can write one. It is therefore read only if it bears the seal of a key that lies elsewhere; else the log is
folded.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import orjson
from anyio.to_thread import run_sync

from dga2d.events import RecordedEvent, RunId, StoredEvent
from dga2d.replay._state_codec import decode_state, encode_state
from dga2d.replay.state.fold import fold, fold_page
from dga2d.replay.state.run_state import RunState
from dga2d.store import EMPTY_LOG, CorruptEventError, EventStore, Head, Snapshot, check_page

FORMAT = 5
"""Rises with the form of the bytes."""

NOT_SEALED = "does not bear the seal of this user's key"
OTHER_PLACE = "is of another place than it says"
OTHER_EVENT = "belongs to another event"


@dataclass(frozen=True)
class SnapshotSeal:
    """Seals snapshots and recognises its seal: nobody without `key` can make a snapshot that passes."""

    key: bytes = field(repr=False)
    """Secret of the user, kept outside the database."""
    code_version: str
    """The program that makes the states and reads them; a state of any other is not read."""

    def sign(self, run_id: RunId, seq: int, event_hash: bytes, data: bytes) -> str:
        """Return the seal: HMAC-SHA256 over run, number and hash of the event, and the bytes of the state."""
        place = orjson.dumps(["dga2d-snapshot", run_id, seq, event_hash.hex()])
        return hmac.new(self.key, place + b"\n" + data, hashlib.sha256).hexdigest()

    @property
    def header(self) -> bytes:
        """What the bytes of a snapshot begin with: their form, the program, and which key seals them."""
        key = hashlib.sha256(b"dga2d-key" + self.key).hexdigest()[:16]
        return orjson.dumps({"code_version": self.code_version, "format": FORMAT, "key": key})

    def claims(self, header: bytes) -> bool:
        """Return whether a header names this key; the version of the program does not matter."""
        try:
            return bool(orjson.loads(header)["key"] == orjson.loads(self.header)["key"])
        except (ValueError, TypeError, LookupError):
            return False

    def is_on(self, run_id: RunId, snapshot: Snapshot) -> bool:
        """Return whether a snapshot bears this seal."""
        try:
            expected = self.sign(run_id, snapshot.seq, snapshot.event_hash, snapshot.data)
            return hmac.compare_digest(expected.encode(), str(snapshot.digest).encode())
        except (TypeError, AttributeError):  # a column holds a value of another type
            return False


class IgnoredSnapshot(NamedTuple):
    """A snapshot that could have been read and was not."""

    run_id: RunId
    seq: int
    reason: str

    def __str__(self) -> str:
        return f"run {self.run_id}: the snapshot after event {self.seq} {self.reason}; it is ignored"


async def save_snapshot(
    store: EventStore, run_id: RunId, state: RunState, event_hash: bytes, seal: SnapshotSeal
) -> None:
    """Keep the state after an event.

    Raises
    ------
    StoreError
        The database refused. Nothing depends on a snapshot: a caller may go on.
    """
    data = seal.header + b"\n" + await run_sync(encode_state, state)
    digest = seal.sign(run_id, state.seq, event_hash, data)
    await store.put_snapshot(run_id, Snapshot(state.seq, event_hash, digest, data))


async def restore(
    store: EventStore, run_id: RunId, snapshot: Snapshot, seal: SnapshotSeal
) -> RunState | IgnoredSnapshot | None:
    """Return the state of a snapshot of a run or of its ancestors.

    ``None`` for one that another version of the program sealed, which is nothing to tell anybody.
    """
    page = [event async for event in store.read(run_id, snapshot.seq - 1, snapshot.seq)]
    if len(page) != 1 or page[0].hash != snapshot.event_hash:
        return IgnoredSnapshot(run_id, snapshot.seq, OTHER_EVENT)
    try:
        check_page(page, Head(snapshot.seq - 1, page[0].prev_hash))
    except CorruptEventError as error:
        return IgnoredSnapshot(run_id, snapshot.seq, f"is that of an event that does not hold ({error})")
    if not seal.is_on(page[0].run_id, snapshot):
        return IgnoredSnapshot(run_id, snapshot.seq, NOT_SEALED)
    header, _, data = snapshot.data.partition(b"\n")
    if header != seal.header:
        return None
    state = await run_sync(decode_state, data)
    return state if state.seq == snapshot.seq else IgnoredSnapshot(run_id, snapshot.seq, OTHER_PLACE)


class SnapshotReport(NamedTuple):
    """What a check of all snapshots of a run found."""

    kept: int
    sealed: int
    """Those that this user's key sealed, of whatever version of the program."""
    differences: tuple[str, ...]
    """Those that are not the state after their event, or cannot be compared with it; a line each."""


class SnapshotCheck:
    """Compares the snapshots of a run with the states to which its log folds."""

    def __init__(self, run_id: RunId, snapshots: Iterable[Snapshot], seal: SnapshotSeal | None) -> None:
        self._run_id = run_id
        self._left = list(snapshots)
        self._kept = len(self._left)
        self._seal = seal
        self._sealed = 0
        self._differences: list[str] = []

    def compare(self, event: RecordedEvent, state: RunState) -> None:
        """Compare the snapshots after `event` with `state`, the state there."""
        for snapshot in [snapshot for snapshot in self._left if snapshot.seq == event.seq]:
            self._left.remove(snapshot)
            reason = self._difference(snapshot, event, state)
            if reason is not None:
                self._differences.append(f"the snapshot after event {snapshot.seq} {reason}")

    def report(self, *, is_whole: bool = True) -> SnapshotReport:
        """Return what was found after the last event; not `is_whole` where the log could not be read to its
        end."""
        what = "is of no event of the log" if is_whole else "is behind the events that hold"
        beyond = [f"the snapshot after event {s.seq} {what}" for s in self._left]
        return SnapshotReport(self._kept, self._sealed, (*self._differences, *beyond))

    def _difference(self, snapshot: Snapshot, event: RecordedEvent, state: RunState) -> str | None:
        """Say why a snapshot is not to be trusted, given what the log says."""
        if snapshot.event_hash != event.hash:
            return OTHER_EVENT
        is_sealed = self._seal is not None and self._seal.is_on(event.run_id, snapshot)
        self._sealed += is_sealed
        header, _, data = snapshot.data.partition(b"\n")
        if is_sealed and self._seal is not None and header != self._seal.header:
            return None  # another version of the program made it, and the seal vouches for it
        if not is_sealed and self._seal is not None and self._seal.claims(header):
            return "has been changed since this user's key sealed it"
        try:
            found = decode_state(data)
        except (ValueError, TypeError, LookupError, AttributeError):
            return f"{NOT_SEALED} and is no state"
        return None if found == state else "is not the state there"


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
