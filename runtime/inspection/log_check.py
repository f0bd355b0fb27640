"""The whole check of one log: chain, order, invariants, blobs, snapshots, the tables beside its events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from dga2d.events import BlobDigest, ChainError, EventError, RecordedEvent, RunId, referenced_blobs
from dga2d.replay.errors import ReplayError
from dga2d.replay.snapshots import SnapshotCheck, SnapshotReport
from dga2d.replay.state.fold import fold
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.runs.config import call_quotas
from dga2d.runtime.runs.states import snapshot_seal
from dga2d.store import (
    BlobMissingError,
    CorruptBlobError,
    CorruptEventError,
    DigestSet,
    EventStore,
    verify_events,
)

DIFFERENCES = (
    CorruptEventError,
    ChainError,
    ReplayError,
    EventError,
    BlobMissingError,
    CorruptBlobError,
)
"""Errors that a log raises that does not hold."""

CALL_EVENTS = ("LLMCallReserved", "LLMCallSettled")
"""Types whose blobs (prompts and answers) every check reads."""
BLOBS_AT_ONCE = 200


@dataclass(frozen=True)
class BlobReport:
    """Which blobs a check read."""

    named: int
    """Different blobs that events of the run name."""
    checked: int
    wrong: tuple[str, ...]
    """Those that are missing or have another digest, a line each."""


@dataclass(frozen=True)
class LogReport:
    """What a check found; the log holds where nothing differs."""

    state: RunState
    """State after the last event that holds."""
    difference: str | None
    """The first event that does not hold, and why."""
    blobs: BlobReport
    snapshots: SnapshotReport
    tables: tuple[str, ...]
    """Where the tables beside the events tell otherwise than these; empty where `difference` is set."""

    @property
    def differences(self) -> tuple[str, ...]:
        """Everything that is wrong, the events first."""
        chain = () if self.difference is None else (self.difference,)
        return (*chain, *self.tables, *self.blobs.wrong, *self.snapshots.differences)


async def check_log(
    store: EventStore,
    run_id: RunId,
    *,
    all_blobs: bool,
    on_event: Callable[[RecordedEvent], object] | None = None,
) -> LogReport:
    """Check a run; the first event that does not hold ends the reading of its log, and nothing else.

    Parameters
    ----------
    all_blobs
        Read every blob the run names, not only prompts and answers.
    on_event
        Is called with every event that holds.

    Raises
    ------
    UnknownRunError
        There is no such run.
    """
    state, difference = RunState(), None
    snapshots = SnapshotCheck(run_id, await store.snapshots(run_id), snapshot_seal())
    with DigestSet() as named, DigestSet() as wanted:
        try:
            async for event in verify_events(store.read(run_id)):
                state = fold(state, event)
                snapshots.compare(event, state)
                digests = list(referenced_blobs(event))
                named.add(digests)
                if all_blobs or event.type in CALL_EVENTS:
                    wanted.add(digests)
                if on_event is not None:
                    on_event(event)
        except DIFFERENCES as error:
            difference = str(error)
        blobs = BlobReport(len(named), len(wanted), tuple([line async for line in _wrong(store, wanted)]))
    tables: list[str] = []
    if difference is None:  # else there is nothing to compare them with
        tables = [*await store.discrepancies(run_id), *_wrong_limits(state, await store.quotas(run_id))]
    return LogReport(state, difference, blobs, snapshots.report(is_whole=difference is None), tuple(tables))


async def _wrong(store: EventStore, digests: Iterable[BlobDigest]) -> AsyncIterator[str]:
    """Yield a line about each blob that is missing or damaged."""
    for many in _batches(digests):
        try:
            await store.get_blobs(many)
        except (BlobMissingError, CorruptBlobError):
            for digest in many:
                try:
                    await store.get_blob(digest)
                except (BlobMissingError, CorruptBlobError) as error:
                    yield str(error)


def _batches(digests: Iterable[BlobDigest]) -> Iterator[list[BlobDigest]]:
    rest = iter(digests)
    while many := list(islice(rest, BLOBS_AT_ONCE)):
        yield many


def _wrong_limits(state: RunState, granted: dict[str, int]) -> Iterator[str]:
    """Yield a line about each limit of model calls that is not the one the run was started with."""
    if state.started is None:
        return
    expected = call_quotas(state.settings)
    for kind in sorted({*expected, *granted}):
        if expected.get(kind) != granted.get(kind):
            yield (
                f"run has a limit of {granted.get(kind)} {kind} in the table of quotas, "
                f"it was started with {expected.get(kind)}"
            )
