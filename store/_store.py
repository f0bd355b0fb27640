"""The event store on an SQL database."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TypeVar

import anyio
from anyio import CancelScope, get_cancelled_exc_class, move_on_after
from sqlalchemy import select

from dga2d.events import BlobDigest, RecordedEvent, RunId, StoredEvent
from dga2d.store import _read, _runs, _statements
from dga2d.store._contract import (
    EMPTY_LOG,
    EventStep,
    EventWriter,
    Head,
    RunSummary,
    Snapshot,
    check_page,
    this_process,
)
from dga2d.store._database import Database, DatabaseConnection
from dga2d.store._errors import CorruptEventError, RunExistsError, StoreClosedError, StoreError
from dga2d.store._import import SqlRunImport
from dga2d.store._maintenance import Unnamed, collect_unnamed, discrepancies, findings, refuse_if_written
from dga2d.store._read import LiveTail
from dga2d.store._rows import blob_rows
from dga2d.store._schema import runs
from dga2d.store._writer import SqlEventWriter

QUERIES_AT_ONCE = 8
"""Each takes a connection and its thread; writers have connections of their own."""
Result = TypeVar("Result")


class SqlEventStore:
    """``EventStore`` on SQLAlchemy's asynchronous Core; made by ``open_store``."""

    def __init__(self, database: Database, clock: Callable[[], int], *, is_read_only: bool) -> None:
        self._database = database
        self._clock = clock
        self._is_read_only = is_read_only
        self._is_closed = False
        self._query_slots = anyio.CapacityLimiter(QUERIES_AT_ONCE)
        self._tails: dict[RunId, LiveTail] = {}
        self._lineages: dict[RunId, _runs.Lineage] = {}

    async def prepare(self, *, create: bool) -> None:
        """Check the schema, or (`create`) make it in an empty database. Raises ForeignDatabaseError."""
        async with self._connect() as connection:
            await self._database.prepare(connection, create=create and not self._is_read_only)

    async def close(self) -> None:
        """End the subscriptions and let the connections go."""
        self._is_closed = True
        for tail in self._tails.values():
            tail.leave()
        with CancelScope(shield=True):
            await self._database.dispose()

    @asynccontextmanager
    async def _connect(self) -> AsyncIterator[DatabaseConnection]:
        if self._is_closed:
            raise StoreClosedError(f"{self._database.url} has been closed")
        async with self._database.connect() as connection:
            yield connection

    async def _ask(self, query: Callable[[DatabaseConnection], Awaitable[Result]]) -> Result:
        """Run something short that can be repeated, and that a cancellation should not interrupt."""

        async def ask() -> Result:
            with CancelScope(shield=True):
                async with self._query_slots, self._connect() as connection:
                    result = await query(connection)
            return result

        return await self._database.persist(ask)

    # ------------------------------------------------------------ reading

    async def runs(self) -> list[RunSummary]:
        async def query(connection: DatabaseConnection) -> list[RunSummary]:
            lineage_of = functools.partial(self._lineage, connection)
            return await _read.run_summaries(connection, self._clock(), lineage_of)

        return await self._ask(query)

    async def head(self, run_id: RunId) -> Head:
        async def query(connection: DatabaseConnection) -> Head:
            return await _read.head(connection, run_id, await self._lineage(connection, run_id))

        return await self._ask(query)

    async def _lineage(self, connection: DatabaseConnection, run_id: RunId) -> _runs.Lineage:
        """Return where the first events of a run lie; never changes once the run is there."""
        if run_id not in self._lineages:
            found = await _runs.read_lineage(connection, run_id)
            if not found:
                return ()  # perhaps there is no such run yet
            self._lineages[run_id] = found
        return self._lineages[run_id]

    async def _page(self, run_id: RunId, after: int, until: int | None) -> list[StoredEvent]:
        async def query(connection: DatabaseConnection) -> list[StoredEvent]:
            lineage = await self._lineage(connection, run_id)
            return await _read.page(connection, run_id, lineage, after, until)

        return await self._ask(query)

    async def read(
        self, run_id: RunId, after: int = 0, until: int | None = None
    ) -> AsyncIterator[RecordedEvent]:
        async for page in self.pages(run_id, after, until):
            for event in page:
                yield event

    async def pages(
        self, run_id: RunId, after: int = 0, until: int | None = None
    ) -> AsyncIterator[list[RecordedEvent]]:
        page = await self._page(run_id, after, until)
        if not page:
            await self.head(run_id)
        while page:
            after, is_last = page[-1][1], len(page) < _read.PAGE_SIZE
            yield list(map(RecordedEvent._make, page))
            page = [] if is_last else await self._page(run_id, after, until)

    async def scan(self, run_id: RunId, step: EventStep, after: int = 0, until: int | None = None) -> None:
        first, is_last, reached = after, False, after

        def reach(events: list[StoredEvent]) -> None:
            nonlocal reached  # where the scan goes on if the connection is lost
            reached = events[-1][1]
            step(events)

        async def query(connection: DatabaseConnection) -> bool:
            lineage = await self._lineage(connection, run_id)
            return await _read.scan(connection, run_id, lineage, reached, until, reach)

        while not is_last:
            is_last = await self._ask(query)  # anew for every page: there a cancellation ends it
            if reached == first:
                await self.head(run_id)

    async def verify(self, run_id: RunId) -> Head:
        head = await self.head(run_id)
        reached = EMPTY_LOG

        def check(page: list[StoredEvent]) -> None:
            nonlocal reached
            reached = check_page(page, reached)

        await self.scan(run_id, check, until=head.seq)
        if reached.seq != head.seq:
            missing = f"is missing; the log goes on to event {head.seq}"
            raise CorruptEventError(run_id, reached.seq + 1, missing)
        return reached

    async def subscribe(self, run_id: RunId, after: int = 0) -> AsyncIterator[RecordedEvent]:
        await self.head(run_id)
        tail = self._tails.setdefault(run_id, LiveTail())
        while not self._is_closed:
            bell = tail.bell
            events = tail.after(after)
            if events is None:
                try:
                    await self._database.persist(self._watch)
                    events = list(map(RecordedEvent._make, await self._page(run_id, after, None)))
                except StoreClosedError:
                    return
            for event in events:
                if event.seq != after + 1:
                    raise CorruptEventError(run_id, after + 1, f"is missing; event {event.seq} follows")
                after = event.seq
                yield event
            if not events:
                with move_on_after(self._database.poll_s):
                    await bell.wait()

    async def _watch(self) -> None:
        await self._database.watch(self._ring)

    def _ring(self, run_id: RunId | None) -> None:
        """Wake the subscribers of a run, or of all."""
        for watched, tail in self._tails.items():
            if run_id in (watched, None):
                tail.ring()

    # ------------------------------------------------------------ blobs

    async def put_blobs(self, many: Iterable[bytes]) -> list[BlobDigest]:
        rows = blob_rows(many)

        async def query(connection: DatabaseConnection) -> None:
            async with connection.transaction():
                await connection.insert(_statements.insert_blobs, rows)

        if rows:
            await self._ask(query)
        return [row[0] for row in rows]

    async def get_blob(self, digest: BlobDigest) -> bytes:
        return await self._ask(functools.partial(_read.blob, digest=digest))

    async def get_blobs(self, digests: Sequence[BlobDigest]) -> list[bytes]:
        return await self._ask(functools.partial(_read.blobs_of, digests=digests))

    # ------------------------------------------------------------ whole runs

    async def lineage(self, run_id: RunId) -> _runs.Lineage:
        return await self._ask(functools.partial(self._lineage, run_id=run_id))

    async def quotas(self, run_id: RunId) -> dict[str, int]:
        return await self._ask(functools.partial(_runs.grant, run_id=run_id, quotas={}))

    @asynccontextmanager
    async def open_import(
        self,
        run_id: RunId,
        lineage: tuple[tuple[RunId, int], ...] = (),
        hashes: Mapping[RunId, bytes] | None = None,
        quotas: Mapping[str, int] | None = None,
    ) -> AsyncIterator[SqlRunImport]:
        async with self._connect() as connection:
            segments = tuple(_runs.Segment(*pair) for pair in lineage)
            target = SqlRunImport(connection, run_id, segments, quotas or {})
            async with connection.transaction():
                await target.begin(hashes or {})
                yield target
                await target.end()

    async def put_snapshot(self, run_id: RunId, snapshot: Snapshot) -> None:
        async def query(connection: DatabaseConnection) -> None:
            async with connection.transaction():
                await _runs.put_snapshot(connection, run_id, snapshot)

        await self._ask(query)

    async def snapshots(self, run_id: RunId, until: int | None = None) -> list[Snapshot]:
        async def query(connection: DatabaseConnection) -> list[Snapshot]:
            lineage = await self._lineage(connection, run_id)
            return await _runs.read_snapshots(connection, run_id, lineage, until)

        return await self._ask(query)

    async def collect_blobs(self, *, keep: bool = False) -> Unnamed:
        async with self._connect() as connection, connection.transaction():
            await connection.lock_writers()
            await refuse_if_written(connection, self._clock())
            return await collect_unnamed(connection, keep=keep)

    async def discrepancies(self, run_id: RunId) -> list[str]:
        async with self._connect() as connection, connection.reading():
            return await discrepancies(connection, run_id)

    async def findings(self) -> list[str]:
        async with self._connect() as connection, connection.reading():
            own = await self._database.findings(connection)
            return own + await findings(connection, self._database.schema_version)

    # ------------------------------------------------------------ writing

    @asynccontextmanager
    async def write(
        self,
        run_id: RunId,
        *,
        holder: str = "",
        create: bool = False,
        fork_of: tuple[RunId, int] | None = None,
        quotas: Mapping[str, int] | None = None,
    ) -> AsyncIterator[EventWriter]:
        async with self._connect() as connection:
            with CancelScope(shield=True):
                writer = await self._start_writer(connection, run_id, holder, create, fork_of, quotas or {})
            body_error: BaseException | None = None
            try:
                async with anyio.create_task_group() as tasks, anyio.create_task_group() as renewal:
                    tasks.start_soon(writer.serve)
                    renewal.start_soon(writer.keep_lease)
                    renewal.start_soon(writer.keep_announced)
                    try:
                        yield writer
                    except get_cancelled_exc_class():
                        raise
                    except BaseException as error:  # raised below: a task group would wrap it in a group
                        body_error = error
                    finally:
                        renewal.cancel_scope.cancel()
                        writer.close()
            finally:
                self._tails[run_id].leave()
                with CancelScope(shield=True):
                    try:
                        await writer.release()
                    except StoreError:
                        if body_error is None:  # else that error counts, and the lease expires by itself
                            raise
            if body_error is not None:
                raise body_error

    async def _start_writer(
        self,
        connection: DatabaseConnection,
        run_id: RunId,
        holder: str,
        create: bool,
        fork_of: tuple[RunId, int] | None,
        quotas: Mapping[str, int],
    ) -> SqlEventWriter:
        now, epoch = self._clock(), None
        try:
            async with connection.transaction():
                await connection.lock_run(run_id)
                await self._find_or_create(connection, run_id, now, create, fork_of, quotas)
                epoch = await _runs.take_lease(connection, run_id, holder, this_process(), now)
                granted = await _runs.grant(connection, run_id, quotas)
                lineage = await _runs.read_lineage(connection, run_id)
                head = await _read.head(connection, run_id, lineage)
        except asyncio.CancelledError:  # from outside, past the shield; the commit may have taken place
            if epoch is not None:
                await self._drop_lease(run_id, epoch)
            raise
        tail = self._tails.setdefault(run_id, LiveTail())
        tail.follow(head.seq)
        return SqlEventWriter(
            run_id,
            epoch,
            head,
            granted,
            lineage,
            database=self._database,
            connection=connection,
            tail=tail,
            clock=self._clock,
        )

    async def _find_or_create(
        self,
        connection: DatabaseConnection,
        run_id: RunId,
        now: int,
        create: bool,
        fork_of: tuple[RunId, int] | None,
        quotas: Mapping[str, int],
    ) -> None:
        is_there = (await connection.execute(select(runs).where(runs.c.run_id == run_id))).first()
        if create and is_there:
            await _refuse_begun(connection, run_id, quotas)
        if not create and not is_there:
            raise await _read.unknown_run(connection, run_id)
        if create and not is_there:
            await connection.insert(_statements.insert_runs, [(run_id, now)])
        if create and fork_of is not None:
            lineage = _runs.prefix(await self._lineage(connection, fork_of[0]), *fork_of)
            await _runs.write_lineage(connection, run_id, lineage)
            await _runs.inherit_quotas(connection, run_id, fork_of[0])

    async def _drop_lease(self, run_id: RunId, epoch: int) -> None:
        """Release a lease whose writer was never made; where that fails it expires by itself."""
        with CancelScope(shield=True), suppress(StoreError):
            async with self._connect() as connection, connection.transaction():
                await _runs.extend_lease(connection, run_id, epoch, 0)


async def _refuse_begun(connection: DatabaseConnection, run_id: RunId, quotas: Mapping[str, int]) -> None:
    """Refuse to create a run again, unless its first writer ended before the first event.

    Quotas are stored for good. A run without events therefore also keeps its name if it was granted more than
    is asked for now: a later writer that names no limits would get that amount.

    Raises
    ------
    RunExistsError
    """
    head = await _read.head(connection, run_id, await _runs.read_lineage(connection, run_id))
    if head.seq > 0:
        raise RunExistsError(run_id)
    for kind, amount in (await _runs.grant(connection, run_id, {})).items():
        if amount > quotas.get(kind, -1):
            raise RunExistsError(run_id, f"without events, but with a greater limit ({amount} {kind})")
