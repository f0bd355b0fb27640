"""The event store on an SQL database."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress

import anyio
from anyio import CancelScope, get_cancelled_exc_class, move_on_after
from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from dga2d.events import BlobDigest, RecordedEvent, RunId, StoredEvent
from dga2d.store import _read, _statements
from dga2d.store._connections import driver_of, reading, transaction, translate_errors
from dga2d.store._contract import EMPTY_LOG, EventWriter, Head, RunSummary, Snapshot, check_page
from dga2d.store._errors import (
    CorruptEventError,
    ForeignDatabaseError,
    RunExistsError,
    StoreClosedError,
    StoreError,
)
from dga2d.store._import import SqlRunImport
from dga2d.store._lease import extend_lease, take_lease
from dga2d.store._maintenance import Unnamed, collect_unnamed, discrepancies, findings, refuse_if_written
from dga2d.store._process import this_process
from dga2d.store._read import LiveTail
from dga2d.store._rows import blob_rows
from dga2d.store._runs import (
    Lineage,
    Segment,
    grant,
    inherit_quotas,
    prefix,
    put_snapshot,
    read_lineage,
    read_snapshots,
    write_lineage,
)
from dga2d.store._schema import prepare_schema, runs
from dga2d.store._writer import SqlEventWriter

QUERIES_AT_ONCE = 8
"""Each takes a connection and its thread; writers have connections of their own."""
POLL_S = 0.2
"""How often a subscriber asks the database for the events of another process."""


class SqlEventStore:
    """``EventStore`` on SQLAlchemy's asynchronous Core; made by ``open_store``."""

    def __init__(
        self, engine: AsyncEngine, url: str, clock: Callable[[], int], *, is_read_only: bool
    ) -> None:
        self._engine = engine
        self._url = url
        self._clock = clock
        self._is_read_only = is_read_only
        self._is_closed = False
        self._write_lock = anyio.Lock(fast_acquire=True)
        self._query_slots = anyio.CapacityLimiter(QUERIES_AT_ONCE)
        self._tails: dict[RunId, LiveTail] = {}
        self._lineages: dict[RunId, Lineage] = {}

    async def prepare(self, *, create: bool) -> None:
        """Check the schema, or (`create`) make it in an empty file. Raises ForeignDatabaseError."""
        async with self._connect() as connection:
            may_create = create and not self._is_read_only
            if not await prepare_schema(connection, self._url, create=may_create):
                raise ForeignDatabaseError(
                    self._url, "the file holds nothing yet; `dga2d evolve` writes the first run into it"
                )

    async def close(self) -> None:
        """End the subscriptions and let the connections go."""
        self._is_closed = True
        for tail in self._tails.values():
            tail.leave()
        with CancelScope(shield=True):
            await self._engine.dispose()

    @asynccontextmanager
    async def _connect(self) -> AsyncIterator[AsyncConnection]:
        if self._is_closed:
            raise StoreClosedError(f"{self._url} has been closed")
        with translate_errors(self._url):
            async with self._engine.connect() as connection:
                yield connection

    @asynccontextmanager
    async def _query(self) -> AsyncIterator[AsyncConnection]:
        """Open a connection for something short that a cancellation should not interrupt."""
        with CancelScope(shield=True):
            async with self._query_slots, self._connect() as connection:
                yield connection

    # ------------------------------------------------------------ reading

    async def runs(self) -> list[RunSummary]:
        async with self._query() as connection:
            return await _read.run_summaries(
                connection, self._clock(), functools.partial(self._lineage, connection)
            )

    async def head(self, run_id: RunId) -> Head:
        async with self._query() as connection:
            return await _read.head(connection, run_id, await self._lineage(connection, run_id))

    async def _lineage(self, connection: AsyncConnection, run_id: RunId) -> Lineage:
        """Return where the first events of a run lie; never changes once the run is there."""
        if run_id not in self._lineages:
            found = await read_lineage(connection, run_id)
            if not found:
                return ()  # perhaps there is no such run yet
            self._lineages[run_id] = found
        return self._lineages[run_id]

    async def _page(
        self, run_id: RunId, lineage: Lineage, after: int, until: int | None
    ) -> list[StoredEvent]:
        async with self._query() as connection:
            return await _read.page(connection, run_id, lineage, after, until)

    async def read(
        self, run_id: RunId, after: int = 0, until: int | None = None
    ) -> AsyncIterator[RecordedEvent]:
        async for page in self.pages(run_id, after, until):
            for event in page:
                yield event

    async def pages(
        self, run_id: RunId, after: int = 0, until: int | None = None
    ) -> AsyncIterator[list[RecordedEvent]]:
        async with self._query() as connection:
            lineage = await self._lineage(connection, run_id)
            page = await _read.page(connection, run_id, lineage, after, until)
            if not page:
                await _read.head(connection, run_id, lineage)
        while page:
            after, is_last = page[-1][1], len(page) < _read.PAGE_SIZE
            yield list(map(RecordedEvent._make, page))
            page = [] if is_last else await self._page(run_id, lineage, after, until)

    async def scan(
        self,
        run_id: RunId,
        step: Callable[[list[StoredEvent]], None],
        after: int = 0,
        until: int | None = None,
    ) -> None:
        first, is_last = after, False
        while not is_last:
            async with self._query() as connection:  # anew for every page: there a cancellation ends it
                lineage = await self._lineage(connection, run_id)
                after, is_last = await _read.scan(connection, run_id, lineage, after, until, step)
                if after == first:
                    await _read.head(connection, run_id, lineage)

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
        async with self._query() as connection:
            lineage = await self._lineage(connection, run_id)
            await _read.head(connection, run_id, lineage)
        tail = self._tails.setdefault(run_id, LiveTail())
        while not self._is_closed:
            bell = tail.bell
            events = tail.after(after)
            if events is None:
                events = list(map(RecordedEvent._make, await self._page(run_id, lineage, after, None)))
            for event in events:
                if event.seq != after + 1:
                    raise CorruptEventError(run_id, after + 1, f"is missing; event {event.seq} follows")
                after = event.seq
                yield event
            if not events:
                with move_on_after(POLL_S):
                    await bell.wait()

    # ------------------------------------------------------------ blobs

    async def put_blobs(self, many: Iterable[bytes]) -> list[BlobDigest]:
        rows = blob_rows(many)
        if rows:
            async with self._query() as connection:
                driver = await driver_of(connection)
                async with self._write_lock, transaction(driver, self._url):
                    await _statements.insert_blobs.insert(driver, rows)
        return [row[0] for row in rows]

    async def get_blob(self, digest: BlobDigest) -> bytes:
        async with self._query() as connection:
            return await _read.blob(connection, digest)

    async def get_blobs(self, digests: Sequence[BlobDigest]) -> list[bytes]:
        async with self._query() as connection:
            return await _read.blobs_of(connection, digests)

    # ------------------------------------------------------------ whole runs

    async def lineage(self, run_id: RunId) -> Lineage:
        async with self._query() as connection:
            return await self._lineage(connection, run_id)

    async def quotas(self, run_id: RunId) -> dict[str, int]:
        async with self._query() as connection:
            return await grant(connection, run_id, {})

    @asynccontextmanager
    async def open_import(
        self,
        run_id: RunId,
        lineage: tuple[tuple[RunId, int], ...] = (),
        hashes: Mapping[RunId, bytes] | None = None,
        quotas: Mapping[str, int] | None = None,
    ) -> AsyncIterator[SqlRunImport]:
        async with self._connect() as connection:
            driver = await driver_of(connection)
            segments = tuple(Segment(*pair) for pair in lineage)
            target = SqlRunImport(connection, driver, run_id, segments, quotas or {})
            async with self._write_lock, transaction(driver, self._url):
                await target.begin(hashes or {})
                yield target
                await target.end()

    async def put_snapshot(self, run_id: RunId, snapshot: Snapshot) -> None:
        async with self._query() as connection:
            driver = await driver_of(connection)
            async with self._write_lock, transaction(driver, self._url):
                await put_snapshot(connection, run_id, snapshot)

    async def snapshots(self, run_id: RunId, until: int | None = None) -> list[Snapshot]:
        async with self._query() as connection:
            return await read_snapshots(connection, run_id, await self._lineage(connection, run_id), until)

    async def collect_blobs(self, *, keep: bool = False) -> Unnamed:
        async with self._connect() as connection:
            driver = await driver_of(connection)
            async with self._write_lock, transaction(driver, self._url):
                await refuse_if_written(connection, self._clock())
                return await collect_unnamed(connection, driver, keep=keep)

    async def discrepancies(self, run_id: RunId) -> list[str]:
        async with self._connect() as connection:
            driver = await driver_of(connection)
            async with reading(driver):
                return await discrepancies(connection, driver, run_id)

    async def findings(self) -> list[str]:
        async with self._connect() as connection:
            driver = await driver_of(connection)
            async with reading(driver):
                return await findings(connection, driver)

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
        connection: AsyncConnection,
        run_id: RunId,
        holder: str,
        create: bool,
        fork_of: tuple[RunId, int] | None,
        quotas: Mapping[str, int],
    ) -> SqlEventWriter:
        now, epoch = self._clock(), None
        driver = await driver_of(connection)
        try:
            async with self._write_lock, transaction(driver, self._url):
                await self._find_or_create(connection, run_id, now, create, fork_of, quotas)
                epoch = await take_lease(connection, run_id, holder, this_process(), now)
                granted = await grant(connection, run_id, quotas)
                lineage = await read_lineage(connection, run_id)
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
            driver=driver,
            write_lock=self._write_lock,
            tail=tail,
            clock=self._clock,
            url=self._url,
        )

    async def _find_or_create(
        self,
        connection: AsyncConnection,
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
            await connection.execute(insert(runs).values(run_id=run_id, created_at=now))
        if create and fork_of is not None:
            lineage = prefix(await self._lineage(connection, fork_of[0]), *fork_of)
            await write_lineage(connection, run_id, lineage)
            await inherit_quotas(connection, run_id, fork_of[0])

    async def _drop_lease(self, run_id: RunId, epoch: int) -> None:
        """Release a lease whose writer was never made; where that fails it expires by itself."""
        with CancelScope(shield=True), suppress(StoreError):
            async with self._connect() as connection:
                driver = await driver_of(connection)
                async with self._write_lock, transaction(driver, self._url):
                    await extend_lease(driver, run_id, epoch, 0)


async def _refuse_begun(connection: AsyncConnection, run_id: RunId, quotas: Mapping[str, int]) -> None:
    """Refuse to create a run again, unless its first writer ended before the first event.

    Quotas are stored for good. A run without events therefore also keeps its name if it was granted more than
    is asked for now: a later writer that names no limits would get that amount.

    Raises
    ------
    RunExistsError
    """
    head = await _read.head(connection, run_id, await read_lineage(connection, run_id))
    if head.seq > 0:
        raise RunExistsError(run_id)
    for kind, amount in (await grant(connection, run_id, {})).items():
        if amount > quotas.get(kind, -1):
            raise RunExistsError(run_id, f"without events, but with a greater limit ({amount} {kind})")
