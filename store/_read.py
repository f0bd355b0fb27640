"""Reading: queries that change nothing, and the newest events of a run kept in memory."""

from __future__ import annotations

import typing
from collections.abc import Awaitable, Callable, Sequence

import anyio
from sqlalchemy import LargeBinary, cast, select

from dga2d.events import (
    BlobDigest,
    EventError,
    RecordedEvent,
    RunId,
    StoredEvent,
    blob_digest,
    decode_payload,
)
from dga2d.events.payloads import RunStarted
from dga2d.store import _statements
from dga2d.store._contract import EMPTY_LOG, EventStep, Head, RunSummary
from dga2d.store._database import DatabaseConnection
from dga2d.store._errors import BlobMissingError, CorruptBlobError, UnknownRunError
from dga2d.store._runs import Lineage, Segment, read_lease
from dga2d.store._schema import blobs, events, runs

TAIL_LENGTH = 4096


class LiveTail:
    """The newest events of one log, and a bell that rings when it grows or its writer leaves."""

    def __init__(self) -> None:
        self.bell = anyio.Event()
        self._events: list[RecordedEvent] = []
        self._end: int | None = None

    def follow(self, seq: int) -> None:
        """Begin anew: a writer of this process took over at a log that ends at `seq`, and publishes all that
        follows."""
        self._events.clear()
        self._end = seq
        self.ring()

    def leave(self) -> None:
        """End: that writer is gone, and others may append."""
        self._end = None
        self.ring()

    def publish(self, events: list[RecordedEvent]) -> None:
        """Add stored events, the ones that follow the last."""
        self._events += events
        if len(self._events) > 2 * TAIL_LENGTH:
            del self._events[:-TAIL_LENGTH]
        if self._end is not None:
            self._end += len(events)
        self.ring()

    def ring(self) -> None:
        """Wake all who wait."""
        self.bell.set()
        self.bell = anyio.Event()

    def after(self, seq: int) -> list[RecordedEvent] | None:
        """Return the known events behind `seq`, all of them; ``None`` when only the database knows."""
        if self._end is None:
            return None
        if seq == self._end:
            return []
        if self._events and self._events[0].seq <= seq + 1 <= self._end:
            return self._events[seq + 1 - self._events[0].seq :]
        return None


PAGE_SIZE = 10_000
"""Events read at once: enough to make the cost of a query small, ten megabytes or so at most."""
LAST_SEQ = 2**63 - 1
"""No event has a greater number."""


async def head(connection: DatabaseConnection, run_id: RunId, lineage: Lineage) -> Head:
    """Return where a run's log ends. Raises UnknownRunError."""
    own = await _last(connection, run_id, None)
    if own is not None:
        return own
    if (await connection.execute(select(runs.c.run_id).where(runs.c.run_id == run_id))).first() is None:
        raise await unknown_run(connection, run_id)
    return (await _last(connection, *lineage[-1]) if lineage else None) or EMPTY_LOG


async def unknown_run(connection: DatabaseConnection, run_id: RunId) -> UnknownRunError:
    """Return the error that says that there is no such run, but perhaps one of a similar name."""
    known = await connection.execute(select(runs.c.run_id).order_by(runs.c.created_at))
    return UnknownRunError(run_id, [row.run_id for row in known])


async def _last(connection: DatabaseConnection, run_id: RunId, until: int | None) -> Head | None:
    """Return the last event stored with a run, up to `until`."""
    statement = (
        select(events.c.seq, cast(events.c.hash, LargeBinary))
        .where(events.c.run_id == run_id, *([] if until is None else [events.c.seq <= until]))
        .order_by(events.c.seq.desc())
        .limit(1)
    )
    row = (await connection.execute(statement)).one_or_none()
    return None if row is None else Head(row[0], row[1])


async def page(
    connection: DatabaseConnection, run_id: RunId, lineage: Lineage, after: int, until: int | None
) -> list[StoredEvent]:
    """Return the next events behind `after`, in order: ``PAGE_SIZE`` of them, or all there are."""
    last = LAST_SEQ if until is None else until
    found: list[StoredEvent] = []
    for holder, end in (*lineage, Segment(run_id, LAST_SEQ)):
        if after < end and after < last and len(found) < PAGE_SIZE:
            rows = await connection.fetch(
                _statements.page,
                run_id=holder,
                after=after,
                until=min(end, last),
                size=PAGE_SIZE - len(found),
            )
            found += typing.cast("list[StoredEvent]", rows)
            after = found[-1][1] if found else after
    return found


async def scan(
    connection: DatabaseConnection,
    run_id: RunId,
    lineage: Lineage,
    after: int,
    until: int | None,
    step: EventStep,
) -> bool:
    """Hand the events of the next page to `step`, in the reader's thread where there is one; returns whether
    that was the end."""
    last, left = LAST_SEQ if until is None else until, PAGE_SIZE
    for holder, end in (*lineage, Segment(run_id, LAST_SEQ)):
        if after < end and after < last and left:
            after, count = await connection.scan(
                _statements.page, after, step, run_id=holder, until=min(end, last), size=left
            )
            left -= count
    return left > 0


async def blob(connection: DatabaseConnection, digest: BlobDigest) -> bytes:
    """Return the bytes of a blob. Raises BlobMissingError, CorruptBlobError."""
    statement = select(cast(blobs.c.data, LargeBinary)).where(blobs.c.digest == digest)
    data = (await connection.execute(statement)).scalar_one_or_none()
    if data is None:
        raise BlobMissingError(digest)
    if blob_digest(data) != digest:
        raise CorruptBlobError(digest)
    return bytes(data)


async def blobs_of(connection: DatabaseConnection, digests: Sequence[BlobDigest]) -> list[bytes]:
    """Return the bytes of several blobs, in the given order. Raises BlobMissingError, CorruptBlobError."""
    statement = select(blobs.c.digest, cast(blobs.c.data, LargeBinary)).where(blobs.c.digest.in_(digests))
    found = {row[0]: bytes(row[1]) for row in await connection.execute(statement)}
    for digest in digests:
        if digest not in found:
            raise BlobMissingError(digest)
        if blob_digest(found[digest]) != digest:
            raise CorruptBlobError(digest)
    return [found[digest] for digest in digests]


async def run_summaries(
    connection: DatabaseConnection, now: int, lineage_of: Callable[[RunId], Awaitable[Lineage]]
) -> list[RunSummary]:
    """Return all runs, oldest first."""
    rows = await connection.execute(select(runs))
    found = [
        await _summary(connection, RunId(run_id), created_at, await lineage_of(RunId(run_id)), now)
        for run_id, created_at in rows.all()
    ]
    return sorted(found, key=lambda run: (run.created_at, run.run_id))


async def _summary(
    connection: DatabaseConnection, run_id: RunId, created_at: int, lineage: Lineage, now: int
) -> RunSummary:
    first = (
        select(events.c.type, events.c.version, cast(events.c.payload, LargeBinary))
        .where(events.c.run_id == (lineage[0].run_id if lineage else run_id))
        .order_by(events.c.seq)
        .limit(1)
    )
    start = (await connection.execute(first)).one_or_none()
    own = select(events.c.recorded_at).where(events.c.run_id == run_id).order_by(events.c.seq).limit(1)
    begun_at = (await connection.execute(own)).scalar_one_or_none()  # hashed, unlike the time of the row
    end = await head(connection, run_id, lineage)
    at = (
        select(events.c.type, events.c.recorded_at)
        .where(events.c.run_id.in_([run_id, *(s.run_id for s in lineage[-1:])]), events.c.seq == end.seq)
        .order_by(events.c.run_id != run_id)
        .limit(1)
    )
    last = (await connection.execute(at)).one_or_none()
    lease = await read_lease(connection, run_id)
    is_live = lease is not None and lease.is_live(now)
    return RunSummary(
        run_id=run_id,
        created_at=created_at if begun_at is None else begun_at,
        domain=None if start is None else _domain(*start),
        head_seq=end.seq,
        head_hash=end.hash,
        last_type=None if last is None else last[0],
        last_recorded_at=None if last is None else last[1],
        is_leased=is_live,
        holder=lease.process if lease is not None and is_live else None,
        parent=lineage[-1].run_id if lineage else None,
        parent_seq=lineage[-1].until if lineage else None,
    )


def _domain(type_name: str, version: int, payload: bytes) -> str | None:
    try:
        started = decode_payload(type_name, version, payload)
    except EventError:
        return None
    return started.domain if isinstance(started, RunStarted) else None
