"""Upkeep of a database: which blobs nobody names, and whether everything in it is as it should be."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import NamedTuple

import aiosqlite
from sqlalchemy import LargeBinary, bindparam, cast, delete, select
from sqlalchemy.ext.asyncio import AsyncConnection

from dga2d.events import EventError, RecordedEvent, RunId, blob_digest, decode_payload, referenced_blobs
from dga2d.store import _read
from dga2d.store._digest_set import DigestSet
from dga2d.store._errors import RunBusyError
from dga2d.store._lease import read_lease
from dga2d.store._schema import TRIGGERS, blobs, events, runs
from dga2d.store._statements import PreparedStatement

AT_ONCE = 500

_blob_page = PreparedStatement(
    select(blobs.c.digest, blobs.c.size, cast(blobs.c.data, LargeBinary))
    .where(blobs.c.digest > bindparam("after"))
    .order_by(blobs.c.digest)
    .limit(AT_ONCE)
)
_size_page = PreparedStatement(
    select(blobs.c.digest, blobs.c.size)
    .where(blobs.c.digest > bindparam("after"))
    .order_by(blobs.c.digest)
    .limit(AT_ONCE)
)
_delete_blob = PreparedStatement(delete(blobs).where(blobs.c.digest == bindparam("digest")))
_operation_page = PreparedStatement(
    select(
        events.c.seq, events.c.type, events.c.version, cast(events.c.payload, LargeBinary), events.c.operation
    )
    .where(events.c.run_id == bindparam("run_id"), events.c.seq > bindparam("after"))
    .order_by(events.c.seq)
    .limit(AT_ONCE)
)


class Unnamed(NamedTuple):
    """Blobs that no event names."""

    n_blobs: int
    size_bytes: int


async def run_ids(connection: AsyncConnection) -> list[RunId]:
    """All runs."""
    found = await connection.execute(select(runs.c.run_id).order_by(runs.c.run_id))
    return [RunId(run_id) for (run_id,) in found]


async def refuse_if_written(connection: AsyncConnection, now: int) -> None:
    """Raise RunBusyError if a process is writing one of the runs."""
    for run_id in await run_ids(connection):
        lease = await read_lease(connection, run_id)
        if lease is not None and lease.is_live(now):
            raise RunBusyError(run_id, lease.holder or "another process")


async def collect_unnamed(
    connection: AsyncConnection, driver: aiosqlite.Connection, *, keep: bool
) -> Unnamed:
    """Count the blobs that no event names and, unless `keep`, delete them.

    Raises
    ------
    EventError
        An event cannot be decoded; nothing is deleted then.
    """
    count = size_bytes = 0
    with DigestSet() as named:
        for run_id in await run_ids(connection):
            async for page in _own_pages(connection, run_id):
                named.add(digest for event in page for digest in referenced_blobs(event))
        after = ""
        while rows := await _size_page.fetch(driver, after=after):
            after = rows[-1][0]
            lost = [(digest, size) for digest, size in rows if digest not in named]
            count += len(lost)
            size_bytes += sum(size for _, size in lost)
            if lost and not keep:
                await _delete_blob.insert(driver, [(digest,) for digest, _ in lost])
    return Unnamed(count, size_bytes)


async def _own_pages(connection: AsyncConnection, run_id: RunId) -> AsyncIterator[list[RecordedEvent]]:
    after = 0
    while page := await _read.page(connection, run_id, (), after, None):
        yield list(map(RecordedEvent._make, page))
        after = page[-1][1]


async def findings(connection: AsyncConnection, driver: aiosqlite.Connection) -> list[str]:
    """What is wrong with the database as such: file, references, guards, blobs, operations.

    The chains of the runs are not looked at (``EventStore.verify``).
    """
    found = [f"file: {row[0]}" for row in await driver.execute_fetchall("PRAGMA integrity_check")]
    found = [] if found == ["file: ok"] else found
    for table, row, parent, _ in await driver.execute_fetchall("PRAGMA foreign_key_check"):
        found.append(f"table {table}, row {row}: what it refers to is not in {parent}")
    found += await _missing_guards(driver)
    after = ""
    while rows := await _blob_page.fetch(driver, after=after):
        after = rows[-1][0]
        for digest, size, data in rows:
            if blob_digest(data) != digest or len(data) != size:
                found.append(f"blob {digest}: its bytes have another digest or length")
    for run_id in await run_ids(connection):
        found += await _wrong_operations(driver, run_id)
    return found + await _unmatched_reservations(driver)


async def _missing_guards(driver: aiosqlite.Connection) -> list[str]:
    query = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
    there: dict[str, str] = {row[0]: row[1] for row in await driver.execute_fetchall(query)}
    wanted = {}
    for sql in TRIGGERS:
        name = re.match(r"CREATE TRIGGER (\w+)", sql)
        assert name is not None
        wanted[name[1]] = sql
    return [
        f"trigger {name}: {'is another one' if name in there else 'is missing'}"
        for name, sql in sorted(wanted.items())
        if there.get(name) != sql
    ]


async def _wrong_operations(driver: aiosqlite.Connection, run_id: RunId) -> list[str]:
    found, after = [], 0
    while rows := await _operation_page.fetch(driver, run_id=run_id, after=after):
        after = rows[-1][0]
        for seq, type_name, version, payload, operation in rows:
            try:
                wanted = decode_payload(type_name, version, payload).operation()
            except EventError as error:
                found.append(f"run {run_id}, event {seq}: {error}")
                continue
            if operation != wanted:
                found.append(f"run {run_id}, event {seq}: operation {operation!r} stands for {wanted!r}")
    return found


async def _unmatched_reservations(driver: aiosqlite.Connection) -> list[str]:
    query = (
        "SELECT e.run_id, e.seq FROM events e LEFT JOIN reservations r "
        "ON r.run_id = e.run_id AND r.seq = e.seq "
        "WHERE (e.type = 'LLMCallReserved') IS NOT (r.number IS NOT NULL)"
    )
    return [
        f"run {run_id}, event {seq}: the call and its reservation do not match"
        for run_id, seq in await driver.execute_fetchall(query)
    ]
