"""Queries that change nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from sqlalchemy import LargeBinary, cast, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from dga2d.events import GENESIS_HASH, BlobDigest, EventError, RecordedEvent, RunId, decode_payload
from dga2d.events.payloads import RunStarted
from dga2d.store import _statements
from dga2d.store._lease import read_lease
from dga2d.store._prepared import driver_of
from dga2d.store._statements import EVENT_FIELDS
from dga2d.store._tables import blobs, events, runs
from dga2d.store.contract import EMPTY_LOG, Head, RunSummary
from dga2d.store.errors import BlobMissingError, CorruptBlobError, UnknownRunError

PAGE_SIZE = 1000
"""Events read at once."""


async def head(connection: AsyncConnection, run_id: RunId) -> Head:
    """Where a run's log ends. Raises UnknownRunError."""
    statement = (
        select(events.c.seq, cast(events.c.hash, LargeBinary))
        .where(events.c.run_id == run_id)
        .order_by(events.c.seq.desc())
        .limit(1)
    )
    row = (await connection.execute(statement)).one_or_none()
    if row is not None:
        return Head(row[0], row[1])
    if (await connection.execute(select(runs.c.run_id).where(runs.c.run_id == run_id))).first() is None:
        raise UnknownRunError(run_id)
    return EMPTY_LOG


async def page(
    connection: AsyncConnection, run_id: RunId, after: int, until: int | None
) -> list[RecordedEvent]:
    """The next events behind `after`, at most ``PAGE_SIZE``, in order."""
    rows = await _statements.page.fetch(
        await driver_of(connection),
        run_id=run_id,
        after=after,
        until=2**63 - 1 if until is None else until,
        size=PAGE_SIZE,
    )
    return [RecordedEvent.from_fields(dict(zip(EVENT_FIELDS, row, strict=True))) for row in rows]


async def blob(connection: AsyncConnection, digest: BlobDigest) -> bytes:
    """Bytes of a blob. Raises BlobMissingError, CorruptBlobError."""
    statement = select(cast(blobs.c.data, LargeBinary)).where(blobs.c.digest == digest)
    data = (await connection.execute(statement)).scalar_one_or_none()
    if data is None:
        raise BlobMissingError(digest)
    if hashlib.sha256(data).hexdigest() != digest:
        raise CorruptBlobError(digest)
    return bytes(data)


async def run_summaries(connection: AsyncConnection, now: int) -> list[RunSummary]:
    """All runs, oldest first."""
    first, last = events.alias("first"), events.alias("last")
    end = (
        select(func.max(events.c.seq))
        .where(events.c.run_id == runs.c.run_id)
        .correlate(runs)
        .scalar_subquery()
    )
    statement = (
        select(
            runs.c.run_id,
            runs.c.created_at,
            first.c.type,
            first.c.version,
            cast(first.c.payload, LargeBinary),
            last.c.seq,
            cast(last.c.hash, LargeBinary),
            last.c.type,
            last.c.recorded_at,
        )
        .select_from(
            runs.outerjoin(first, (first.c.run_id == runs.c.run_id) & (first.c.seq == 1)).outerjoin(
                last, (last.c.run_id == runs.c.run_id) & (last.c.seq == end.correlate(runs).scalar_subquery())
            )
        )
        .order_by(runs.c.created_at, runs.c.run_id)
    )
    rows = (await connection.execute(statement)).all()
    return [await _summary(connection, row, now) for row in rows]


async def _summary(
    connection: AsyncConnection,
    row: Sequence[Any],
    now: int,
) -> RunSummary:
    run_id, created_at, first_type, version, payload, seq, link, last_type, recorded_at = row
    lease = await read_lease(connection, RunId(run_id))
    return RunSummary(
        run_id=RunId(run_id),
        created_at=created_at,
        domain=_domain(first_type, version, payload),
        head_seq=seq or 0,
        head_hash=link or GENESIS_HASH,
        last_type=last_type,
        last_recorded_at=recorded_at,
        is_leased=lease is not None and lease.is_live(now),
    )


def _domain(type_name: str | None, version: int | None, payload: bytes) -> str | None:
    if type_name is None or version is None:
        return None
    try:
        started = decode_payload(type_name, version, payload)
    except EventError:
        return None
    return started.domain if isinstance(started, RunStarted) else None
