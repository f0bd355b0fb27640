"""The contract of an event store, and processes, told apart also after their numbers were given to others.
The SQL implementation is ``dga2d.store._store``.
"""

from __future__ import annotations

import os
import platform
import re
import signal
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import psutil

from dga2d.events import (
    GENESIS_HASH,
    BlobDigest,
    CanonicalEncodingError,
    ChainError,
    Draft,
    RecordedEvent,
    RunId,
    StoredEvent,
    verify_links,
)
from dga2d.store._errors import CorruptEventError

_PID_NAMESPACE = Path("/proc/self/ns/pid")
_START_TOLERANCE_MS = 5000
"""Starts are measured from the boot, and the time of the boot moves when the clock is set."""


@dataclass(frozen=True)
class ProcessIdentity:
    """A process; its start tells it from any later one with the same number."""

    host: str
    """Host name and, on Linux, the pid namespace: containers may share a name but not their numbers."""
    pid: int
    started: int
    """Milliseconds since 1970-01-01 UTC."""

    @property
    def is_here(self) -> bool:
        """Whether it is a process of this host, whose numbers mean something here."""
        return self.host == host_name()

    def is_gone(self) -> bool:
        """Return true when the process certainly does not run any more; only processes of this host can be
        told."""
        return self.is_here and self._process() is None

    def interrupt(self) -> bool:
        """Send SIGINT to the process, as Ctrl-C does; return whether there was one of this host to get it."""
        process = self._process() if self.is_here else None
        if process is None:
            return False
        try:
            process.send_signal(signal.SIGINT)
        except psutil.NoSuchProcess:
            return False
        return True

    def _process(self) -> psutil.Process | None:
        try:
            process = psutil.Process(self.pid)
            is_another = abs(_start_time(process) - self.started) > _START_TOLERANCE_MS
            return None if is_another or process.status() == psutil.STATUS_ZOMBIE else process
        except psutil.NoSuchProcess:
            return None


def host_name() -> str:
    """Return the name under which process numbers are unique."""
    try:
        return f"{platform.node()}/{_PID_NAMESPACE.stat().st_ino}"
    except FileNotFoundError:
        return platform.node()


def this_process() -> ProcessIdentity:
    """Return the process that asks."""
    return ProcessIdentity(host_name(), os.getpid(), _start_time(psutil.Process()))


def _start_time(process: psutil.Process) -> int:
    return round(process.create_time() * 1000)


DEFAULT_URL = "sqlite+aiosqlite:///dga2d.db"
EventStep = Callable[[list[StoredEvent]], None]
"""Takes the next events of a scan."""


def database_url(text: str) -> str:
    """Return `text` if it is a URL, else the URL of the SQLite file of that path."""
    return text if "://" in text else f"sqlite+aiosqlite:///{Path(text).expanduser()}"


def shown_url(url: str) -> str:
    """Return `url` with its password masked, both before the host and among the options."""
    return re.sub(r"([?&]\w*password=)[^&]*", r"\1***", re.sub(r"(://[^:/]*):.*@", r"\1:***@", url))


LLM_CALLS = "llm-call"
"""Kind under which ``LLMCallReserved`` is counted."""

LLM_TOKENS = "llm-token"
"""Kind under which the tokens of calls are charged and settled."""

LLM_MICROUSD = "llm-microusd"
"""Kind under which the money for calls is charged and settled, in millionths of a US dollar."""


class Head(NamedTuple):
    """Where a log ends: number and hash of its last event; ``(0, 32 zero bytes)`` when it has none."""

    seq: int
    hash: bytes


EMPTY_LOG = Head(0, GENESIS_HASH)


@dataclass(frozen=True)
class RunSummary:
    """A run in a list of runs."""

    run_id: RunId
    created_at: int
    """Microseconds since 1970-01-01 UTC: of the first event, or when the name was taken if there is none."""
    domain: str | None
    """From the first event; ``None`` when the run has none or it cannot be read."""
    head_seq: int
    head_hash: bytes
    last_type: str | None
    """Type of the last event; ``None`` when there is none."""
    last_recorded_at: int | None
    """Microseconds since 1970-01-01 UTC; ``None`` when there is no event."""
    is_leased: bool
    """A live process holds the run's lease."""
    holder: ProcessIdentity | None = None
    """That process; ``None`` where there is none."""
    parent: RunId | None = None
    """The run this one was forked from; ``None`` for a run that is no fork."""
    parent_seq: int | None = None
    """Last event it shares with `parent`."""


class Snapshot(NamedTuple):
    """A state folded from the events up to `seq`; the store does not interpret its bytes."""

    seq: int
    event_hash: bytes
    """Hash of event `seq`."""
    digest: str
    """Seal of whoever made it."""
    data: bytes


class EventWriter(Protocol):
    """The only way into a run's log; one per run at any time, shared by all agents of a process."""

    @property
    def run_id(self) -> RunId:
        """The run written to."""

    @property
    def epoch(self) -> int:
        """Fencing number of the lease: greater than that of every writer before."""

    @property
    def head(self) -> Head:
        """Last event known to be stored."""

    async def append(self, drafts: Sequence[Draft], blobs: Sequence[bytes] = ()) -> list[RecordedEvent]:
        """Append `drafts` in order and store `blobs`, all or nothing, and return the events.

        Returning means stored: the events survive a crash of the process and of the machine. May be called
        by any number of tasks at once; appends of different callers are never interleaved. A refused append
        affects no other. A cancelled call has stored either everything or nothing. With no drafts only the
        blobs are stored.

        Raises
        ------
        OwnershipError, UnknownEventTypeError, CanonicalEncodingError
            A draft may not be written by its agent or cannot be encoded.
        DuplicateOperationError
            A draft's operation is already in the log, or twice among `drafts`.
        QuotaExceededError
            A reservation lies beyond its limit, or could use more tokens or money than its limit leaves.
        LeaseLostError
            Another writer took the run over.
        StaleVersionError
            Somebody wrote to the run past its lease.
        StoreFullError, StoreLockedError, StoreError
            The database refused; nothing of this append is stored, and it may be tried again.
        StoreClosedError
            The writer's block has ended.
        """


class RunImport(Protocol):
    """Receives a run from elsewhere (``EventStore.open_import``)."""

    async def add_events(self, page: Sequence[RecordedEvent]) -> None:
        """Store the next events, in order."""

    async def add_blobs(self, many: Iterable[bytes]) -> None:
        """Store blobs, in any order."""


class EventStore(Protocol):
    """Append-only logs of runs, and content-addressed blobs. All methods may be called concurrently."""

    async def runs(self) -> list[RunSummary]:
        """Return all runs, oldest first."""

    async def head(self, run_id: RunId) -> Head:
        """Return where the log of a run ends. Raises UnknownRunError."""

    def read(self, run_id: RunId, after: int = 0, until: int | None = None) -> AsyncIterator[RecordedEvent]:
        """Yield the events ``after < seq ≤ until`` (up to the end that is reached if ``None``) in order of
        `seq`.

        Reads page by page, in constant memory; verifies nothing (see ``verify_events``). Raises
        UnknownRunError at the first step.
        """

    def pages(
        self, run_id: RunId, after: int = 0, until: int | None = None
    ) -> AsyncIterator[list[RecordedEvent]]:
        """Yield what `read` gives in lists of many events: the way to go through a long log. The caller may
        keep and change a list."""

    async def scan(self, run_id: RunId, step: EventStep, after: int = 0, until: int | None = None) -> None:
        """Hand all that `read` gives to `step`, some hundred events at a time: the fastest way through a log.

        `step` is called in a thread of its own, in SQLite the one that reads: the events are still in the
        processor's cache, and no list changes threads. It may keep and change the list. What it raises ends
        the scan and is raised here.
        Raises UnknownRunError.
        """

    async def verify(self, run_id: RunId) -> Head:
        """Check every event of a run: no gaps, links, hashes. Returns the head that was reached.

        Raises
        ------
        UnknownRunError
        CorruptEventError
            Names the first event that is wrong.
        """

    def subscribe(self, run_id: RunId, after: int = 0) -> AsyncIterator[RecordedEvent]:
        """Yield every event with ``seq > after``, stored or still to come, each once and in order without
        gaps.

        Ends when the store is closed; otherwise goes on until cancelled. Events of another process are seen
        by polling, or as the database announces them. Raises UnknownRunError at the first step.
        """

    async def put_blobs(self, many: Iterable[bytes]) -> list[BlobDigest]:
        """Store those that are not there yet in one transaction; SHA-256 digests in the given order."""

    async def get_blob(self, digest: BlobDigest) -> bytes:
        """Return the bytes of a blob, checked against `digest`. Raises BlobMissingError, CorruptBlobError."""

    async def get_blobs(self, digests: Sequence[BlobDigest]) -> list[bytes]:
        """Return the bytes of several blobs (some hundred at most), each checked. Raises as `get_blob`."""

    async def lineage(self, run_id: RunId) -> tuple[tuple[RunId, int], ...]:
        """Return the ancestors of a forked run from the first event on, each with the last event it gave to
        the run; the last is the parent. Empty for a run that is no fork."""

    async def quotas(self, run_id: RunId) -> dict[str, int]:
        """Return the greatest amount granted to a run, by kind."""

    def open_import(
        self,
        run_id: RunId,
        lineage: tuple[tuple[RunId, int], ...] = (),
        hashes: Mapping[RunId, bytes] | None = None,
        quotas: Mapping[str, int] | None = None,
    ) -> AbstractAsyncContextManager[RunImport]:
        """Import a run that was written elsewhere, all or nothing, when the block ends.

        `lineage` is that of the run there, `hashes` those of the last events of its segments: an ancestor
        that is here with the same events is shared. The caller verifies what it hands over.

        Raises
        ------
        RunExistsError
            The run is here already, or an ancestor of that name with other events.
        StoreError
            The database refuses an event: an operation twice, a call over its limit, a foreign one.
        """

    async def put_snapshot(self, run_id: RunId, snapshot: Snapshot) -> None:
        """Keep a snapshot of a run; of each run the last two remain."""

    async def snapshots(self, run_id: RunId, until: int | None = None) -> list[Snapshot]:
        """Return the snapshots of a run, and of its ancestors within the shared part, not after event
        `until`; latest first."""

    async def collect_blobs(self, *, keep: bool = False) -> tuple[int, int]:
        """Delete the blobs that no event of any run names; returns their number and bytes. With `keep` they
        are only counted.

        Raises
        ------
        RunBusyError
            A process is writing one of the runs.
        EventError
            An event cannot be decoded, so that nobody can say what it names; nothing is deleted then.
        """

    async def findings(self) -> list[str]:
        """Return what is wrong with the database as such, a line each: the file, references between tables,
        types of values, the guards against changes, blobs, and `discrepancies` of all runs. See `verify` for
        a run's chain."""

    async def discrepancies(self, run_id: RunId) -> list[str]:
        """Return where the tables beside a run's own events tell otherwise than these, a line each:
        operations, reservations, charges, settlements, the run's creation, the epoch of its lease."""

    def write(
        self,
        run_id: RunId,
        *,
        holder: str = "",
        create: bool = False,
        fork_of: tuple[RunId, int] | None = None,
        quotas: Mapping[str, int] | None = None,
    ) -> AbstractAsyncContextManager[EventWriter]:
        """Take the run's lease and write until the block ends; appends under way are finished then.

        `holder` is a name for people. The lease is renewed in the background and released at the end; a
        lease that has expired, or whose process on this host is gone, is taken over under a greater epoch.
        `quotas` limit the reservations of this writer by kind (``{"llm-call": 500}``); for a kind not named
        the greatest amount ever granted to the run holds. Without any, no call can be reserved at all, while
        tokens and money (``llm-token``, ``llm-microusd``) are unlimited.

        With `create` and `fork_of` (a run and the number of one of its events) the new run begins with the
        events of that run up to this one, which are not copied, and goes on behind them. Their operations are
        not done again, and what they used counts for its quotas, which are those of that run.

        Raises
        ------
        UnknownRunError, UnknownEventError, RunExistsError
            The run, or the run or event to fork, is not there, or (`create`) the run is there already. A run
            without any event, whose writer is gone and had no greater quotas, does not count as there.
        RunBusyError
            A live process holds the lease.
        """


async def verify_events(
    events: AsyncIterable[RecordedEvent], start: Head = EMPTY_LOG
) -> AsyncIterator[RecordedEvent]:
    """Pass `events` on, each after its number, link and hash were checked.

    Parameters
    ----------
    start
        Head of the part that was checked before; the beginning of the log by default.

    Raises
    ------
    CorruptEventError
        Names the first event that is missing, altered, repeated or out of order. That the end of a log was
        cut off shows only against a head that was kept elsewhere.
    """
    head = start
    async for event in events:
        head = check_page([event], head)
        yield event


def check_page(page: Sequence[StoredEvent], start: Head) -> Head:
    """Check the events that follow `start`; returns the head after them. Raises CorruptEventError."""
    try:
        return Head(*verify_links(page, *start))
    except ChainError as error:
        raise CorruptEventError(error.run_id, error.seq, error.reason) from error
    except (CanonicalEncodingError, TypeError) as error:  # a column holds a value of another type
        if len(page) > 1:  # find the first one
            for event in page:
                start = check_page([event], start)
        run_id, seq = page[0][0], start.seq + 1
        raise CorruptEventError(run_id, seq, f"holds a value of a wrong type ({error})") from error
