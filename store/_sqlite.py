"""SQLite: one file, whose write transactions take turns; statements run in the thread of each connection."""

from __future__ import annotations

import functools
import itertools
import re
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, closing
from pathlib import Path
from typing import Any, TypeVar, TypeVarTuple, cast

import aiosqlite
import anyio
from anyio import CancelScope
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.dialects.sqlite.aiosqlite import dialect
from sqlalchemy.ext.asyncio import AsyncConnection

from dga2d.events import RunId
from dga2d.store import _database
from dga2d.store._contract import EventStep
from dga2d.store._database import Database, DatabaseConnection, translate_errors
from dga2d.store._errors import ForeignDatabaseError
from dga2d.store._sqlite_file import connect_current, create_engine, driver_of, translate
from dga2d.store._sqlite_schema import SCHEMA_VERSION, prepare_schema, schema_findings
from dga2d.store._statements import Insertion, PreparedStatement, RowInsertion, SqlRow

DIALECT = dialect()
Arguments = TypeVarTuple("Arguments")
Result = TypeVar("Result")


class SqliteDatabase(Database):
    """A file; transactions that write take turns within the process before they meet the file's own lock."""

    schema_version = SCHEMA_VERSION
    poll_s = 0.2

    def __init__(self, path: Path, url: str, *, read_only: bool) -> None:
        self.url = url
        self.write_lock = anyio.Lock(fast_acquire=True)
        self._path = path
        self._engine = create_engine(path, read_only=read_only)

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[DatabaseConnection]:
        with self.errors():
            async with connect_current(self._engine, self._path) as connection:
                yield SqliteConnection(self, connection, await driver_of(connection))

    async def dispose(self) -> None:
        await self._engine.dispose()

    def errors(self) -> AbstractContextManager[None]:
        return translate_errors(functools.partial(translate, url=self.url))

    async def prepare(self, connection: DatabaseConnection, *, create: bool) -> None:
        if not await prepare_schema(connection, self.url, create=create):
            empty = "the file holds nothing yet; `dga2d evolve` writes the first run into it"
            raise ForeignDatabaseError(self.url, empty)

    async def findings(self, connection: DatabaseConnection) -> list[str]:
        return await schema_findings(await driver_of(connection.core))

    async def watch(self, ring: Callable[[RunId | None], None]) -> None:
        """Do nothing: a file tells nobody that it grew; subscribers ask every ``poll_s``."""

    async def announce(self, run_id: RunId) -> None:
        """Do nothing."""


class SqliteConnection(DatabaseConnection):
    """A connection to the file; what it does happens in the driver's thread."""

    def __init__(self, database: SqliteDatabase, core: AsyncConnection, driver: aiosqlite.Connection) -> None:
        self.core = core
        self.driver = driver
        self._database = database

    async def fetch(self, statement: PreparedStatement, **parameters: Any) -> list[SqlRow]:
        compiled = statement.compiled(DIALECT)
        with self._database.errors():
            rows = await self.driver.execute_fetchall(compiled.sql, compiled.in_order(parameters))
        return cast("list[SqlRow]", rows)

    async def fetch_settled(self, statement: PreparedStatement, **parameters: Any) -> list[SqlRow]:
        return await self.fetch(statement, **parameters)

    async def change(self, statement: PreparedStatement, **parameters: Any) -> int:
        compiled = statement.compiled(DIALECT)
        with self._database.errors():
            return (await self.driver.execute(compiled.sql, compiled.in_order(parameters))).rowcount

    async def insert(self, insertion: RowInsertion, rows: Sequence[SqlRow]) -> None:
        with self._database.errors():
            await in_thread(self.driver, _insert_rows, _text(insertion), rows)

    async def insert_if(
        self, guard: PreparedStatement, run_id: RunId, expected: SqlRow, insertions: Sequence[Insertion]
    ) -> SqlRow:
        compiled = guard.compiled(DIALECT)
        query = compiled.sql, compiled.in_order({"run_id": run_id})
        texts = [(_text(insertion), rows) for insertion, rows in insertions]
        with self._database.errors():
            async with self._database.write_lock:
                return await in_thread(self.driver, _insert_if, query, expected, texts)

    async def scan(
        self, query: PreparedStatement, after: int, step: EventStep, **parameters: Any
    ) -> tuple[int, int]:
        compiled = query.compiled(DIALECT)
        bound = compiled.sql, compiled.in_order({**parameters, "after": after})
        return await in_thread(self.driver, _scan, bound, after, step)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        """Open a write transaction: committed at the end of the block, rolled back on any error.

        Even its beginning is rolled back: a cancelled caller leaves a statement running in the driver's
        thread, and a transaction that nobody waits for would keep the database locked.
        """
        async with self._database.write_lock:
            with self._database.errors():
                try:
                    await self.driver.execute_fetchall("BEGIN IMMEDIATE")
                    yield
                    await self.driver.commit()
                except BaseException:
                    with CancelScope(shield=True):
                        await rollback(self.driver)
                    raise

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[None]:
        await self.driver.execute_fetchall("BEGIN DEFERRED")
        try:
            yield
        finally:
            with CancelScope(shield=True):
                await rollback(self.driver)

    async def lock_run(self, run_id: RunId) -> None:
        """Do nothing: a transaction holds the lock of the whole file from its first moment."""

    async def lock_writers(self) -> None:
        """Do nothing, for the same reason."""


async def rollback(driver: aiosqlite.Connection) -> None:
    """End the transaction; does nothing where SQLite ended it already by itself."""
    try:
        await driver.rollback()
    except ValueError:
        # aiosqlite's error on a closed connection: a cancelled statement closes it, and with it goes the
        # transaction.
        return


async def in_thread(
    driver: aiosqlite.Connection,
    function: Callable[[sqlite3.Connection, *Arguments], Result],
    *arguments: *Arguments,
) -> Result:
    """Run `function` with the connection and `arguments` in the connection's thread, to its end even if the
    caller is cancelled.

    The driver's only way to do so: private, but as old as the driver.
    """
    execute = cast("Callable[..., Awaitable[Result]]", driver._execute)
    return await execute(function, driver._conn, *arguments)


# ---------------------------------------------------------------- in the connection's thread


def _scan(
    connection: sqlite3.Connection, query: tuple[str, Sequence[Any]], after: int, step: EventStep
) -> tuple[int, int]:
    """Return the number of the last event that `query` gave (`after` if none), and how many there were."""
    count = 0
    with closing(connection.execute(*query)) as cursor:
        while page := cursor.fetchmany(_database.SCAN_SIZE):
            after, count = page[-1][1], count + len(page)
            step(page)
    return after, count


ROWS_AT_ONCE = (64, 32, 16, 4, 1)
"""Rows of one insertion: few sizes, each of which the connection keeps prepared."""


def _insert_if(
    connection: sqlite3.Connection,
    guard: tuple[str, Sequence[Any]],
    expected: SqlRow,
    insertions: Sequence[tuple[str, Sequence[SqlRow]]],
) -> SqlRow:
    connection.execute("BEGIN IMMEDIATE")
    try:
        found: SqlRow = connection.execute(*guard).fetchone()
        if found == expected:
            for sql, rows in insertions:
                _insert_rows(connection, sql, rows)
            commit_now(connection)
    finally:
        if connection.in_transaction:
            connection.rollback()
    return found


def _insert_rows(connection: sqlite3.Connection, sql: str, rows: Sequence[SqlRow]) -> None:
    """Insert all rows, many in one step: SQLite works without the interpreter's lock, and behind every step
    this thread would wait for the event loop to let go of it."""
    start = 0
    for size in ROWS_AT_ONCE:
        while len(rows) - start >= size:
            values = list(itertools.chain.from_iterable(rows[start : start + size]))
            connection.execute(_of_many(sql, size), values)
            start += size


def commit_now(connection: sqlite3.Connection) -> None:
    """Make the transaction durable, in the connection's own thread."""
    connection.commit()


@functools.cache
def _text(insertion: RowInsertion) -> str:
    """Return the insertion of one row."""
    if insertion.ignores_present:
        return str(sqlite_insert(insertion.table).on_conflict_do_nothing().compile(dialect=DIALECT))
    return str(insertion.table.insert().compile(dialect=DIALECT))


@functools.cache
def _of_many(sql: str, rows: int) -> str:
    """Return the insertion of one row as one of many."""
    return re.sub(
        r"VALUES (\([?, ]+\))", lambda found: "VALUES " + ", ".join([found[1]] * rows), sql, count=1
    )
