"""PostgreSQL through asyncpg: many runs and many processes, on one machine or several, in one database.

Two writers of one run are kept apart by the row of its lease, which each append locks; runs do not wait for
each other. Subscribers of other processes are woken by ``NOTIFY``, which is sent behind the commit: a
transaction that carries one waits at its commit for those of all other databases of the server.
"""

from __future__ import annotations

import functools
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, suppress
from typing import Any

import anyio
import asyncpg
from anyio import CancelScope, to_thread
from sqlalchemy import URL, CursorResult, Executable
from sqlalchemy.dialects.postgresql.asyncpg import dialect
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from dga2d.events import RunId
from dga2d.store import _database
from dga2d.store._contract import EventStep, shown_url
from dga2d.store._database import Database, DatabaseConnection, translate_errors
from dga2d.store._errors import (
    ForeignDatabaseError,
    MissingDatabaseError,
    RowRefusedError,
    StoreError,
    StoreFullError,
    StoreLockedError,
    StoreUnavailableError,
)
from dga2d.store._postgresql_schema import SCHEMA_VERSION, prepare_namespace, prepare_schema, schema_findings
from dga2d.store._statements import Insertion, PreparedStatement, RowInsertion, SqlRow

DIALECT = dialect()  # type: ignore[no-untyped-call]
CHANNEL = "dga2d_events"
CONNECT_TIMEOUT_S = 10.0
COMMAND_TIMEOUT_S = 120.0
CLOSE_TIMEOUT_S = 2.0
SETTINGS = {
    "application_name": "dga2d",
    "lock_timeout": "30s",
    "idle_in_transaction_session_timeout": "60s",
    # A plan made while a table was small would read all of it for as long as the connection lives.
    "enable_seqscan": "off",
}
GUARD_TYPES = ("bigint", "bigint", "bytea")
"""Of the row that the guard of an append selects: epoch, number and hash of the last event."""
OPTIONS = {"host", "port", "schema", "ssl"}
"""What may stand behind the question mark of a URL."""


class PostgresDatabase(Database):
    """A database of a server; connections that were lost are opened again."""

    schema_version = SCHEMA_VERSION
    poll_s = 5.0  # announcements tell; this is for one that was lost with its process
    patience_s = 60.0

    def __init__(self, url: URL, *, read_only: bool) -> None:
        self.url = shown_url(url.render_as_string(hide_password=True))
        self._schema = url.query.get("schema")
        self._is_read_only = read_only
        self._options = self._connect_options(url.difference_update_query(["schema"]))
        self._settings = {**SETTINGS, "default_transaction_read_only": "on" if read_only else "off"}
        if self._schema is not None:
            self._settings["search_path"] = '"' + str(self._schema).replace('"', '""') + '"'
        self._listener: asyncpg.Connection[asyncpg.Record] | None = None
        self._listening = anyio.Lock()
        self._announcing = anyio.Lock()  # all runs of a process need one connection for it
        self.engine = create_async_engine(
            "postgresql+asyncpg://",
            async_creator=self._open,
            isolation_level="AUTOCOMMIT",
            pool_reset_on_return=None,
            pool_pre_ping=True,
            pool_size=2,
            max_overflow=-1,
        )

    def _connect_options(self, url: URL) -> dict[str, Any]:
        if unknown := sorted(set(url.query) - OPTIONS):
            known = ", ".join(sorted(OPTIONS))
            raise ForeignDatabaseError(self.url, f"does not know the option {unknown[0]!r}, only {known}")
        if not url.database:
            raise ForeignDatabaseError(self.url, "names no database: postgresql+asyncpg://HOST/DATABASE")
        try:
            return dict(DIALECT.create_connect_args(url)[1])  # type: ignore[no-untyped-call]
        except (ArgumentError, ValueError) as error:
            raise ForeignDatabaseError(self.url, str(error)) from error

    async def _open(self) -> asyncpg.Connection[asyncpg.Record]:
        connection = await asyncpg.connect(
            **self._options,
            timeout=CONNECT_TIMEOUT_S,
            command_timeout=COMMAND_TIMEOUT_S,
            server_settings=self._settings,
        )
        try:
            if await connection.fetchval("SHOW synchronous_commit") == "off":
                await connection.execute("SET synchronous_commit = on")  # what is acknowledged is durable
        except BaseException:
            connection.terminate()
            raise
        return connection

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[DatabaseConnection]:
        connection = PostgresConnection(self)
        with CancelScope(shield=True):
            await connection.open()
        try:
            yield connection
        finally:
            with CancelScope(shield=True):
                await connection.close()

    async def dispose(self) -> None:
        if self._listener is not None and not self._listener.is_closed():
            with suppress(StoreError), self.errors():
                await self._listener.close(timeout=CLOSE_TIMEOUT_S)
        await self.engine.dispose()

    def errors(self) -> AbstractContextManager[None]:
        """Turn errors of the driver, wrapped by SQLAlchemy or not, and of the network into ours."""
        return translate_errors(functools.partial(translate, url=self.url))

    async def prepare(self, connection: DatabaseConnection, *, create: bool) -> None:
        with self.errors():
            if create and self._schema is not None:
                await prepare_namespace(connection, str(self._schema))
            is_prepared = await prepare_schema(
                connection, self.url, create=create, is_read_only=self._is_read_only
            )
        if not is_prepared:
            empty = "the database holds nothing yet; `dga2d evolve` writes the first run into it"
            raise MissingDatabaseError(self.url, empty)

    async def findings(self, connection: DatabaseConnection) -> list[str]:
        with self.errors():
            return await schema_findings(connection)

    async def watch(self, ring: Callable[[RunId | None], None]) -> None:
        async with self._listening:
            if self._listener is None or self._listener.is_closed():
                with self.errors():
                    listener = await self._open()
                    await listener.add_listener(CHANNEL, lambda *told: ring(RunId(str(told[-1]))))
                    listener.add_termination_listener(lambda _: ring(None))
                self._listener = listener

    async def announce(self, run_id: RunId) -> None:
        # An announcement that cannot be made is made good by `poll_s`. It need not be durable.
        statement = "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)"
        with suppress(StoreError), CancelScope(shield=True):
            async with self._announcing, self.connect() as connection:
                assert isinstance(connection, PostgresConnection)
                with self.errors():
                    await connection.driver.execute(statement, CHANNEL, run_id)


class PostgresConnection(DatabaseConnection):
    """A connection to the server, by SQLAlchemy's and by the driver's interface."""

    driver: asyncpg.Connection[asyncpg.Record]

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database
        self._is_in_transaction = False  # or may be: a statement that was cancelled can still take effect

    async def open(self) -> None:
        """Take a connection from the pool."""
        with self._database.errors():
            self.core = await self._database.engine.connect()
            self.driver = await _driver_of(self.core)

    async def close(self) -> None:
        """Give the connection back, unless it is of no more use."""
        if self.core.closed:  # no other could be opened in its place
            return
        if self._is_in_transaction or self.driver.is_closed():
            await self.core.invalidate()
        await self.core.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Raise errors of the store; give a connection up whose end the driver may not have noticed yet."""
        try:
            with self._database.errors():
                yield
        except StoreUnavailableError:
            self.driver.terminate()
            raise

    async def _current(self) -> asyncpg.Connection[asyncpg.Record]:
        """Return the driver's connection, another one where it was lost outside of a transaction."""
        if self.driver.is_closed() and not self._is_in_transaction:
            await self.close()
            await self.open()
        return self.driver

    async def execute(self, statement: Executable, parameters: Any = None) -> CursorResult[*tuple[Any, ...]]:
        await self._current()
        with self._errors():
            return await self.core.execute(statement, parameters)

    async def fetch(self, statement: PreparedStatement, **parameters: Any) -> list[SqlRow]:
        compiled = statement.compiled(DIALECT)
        driver = await self._current()
        with self._errors():
            return [tuple(row) for row in await driver.fetch(compiled.sql, *compiled.in_order(parameters))]

    async def fetch_settled(self, statement: PreparedStatement, **parameters: Any) -> list[SqlRow]:
        async with self.transaction():
            await self.fetch(statement, **parameters)  # waits for the lock, but sees what was before that
            return await self.fetch(statement, **parameters)

    async def change(self, statement: PreparedStatement, **parameters: Any) -> int:
        compiled = statement.compiled(DIALECT)
        driver = await self._current()
        with self._errors():
            tag = await driver.execute(compiled.sql, *compiled.in_order(parameters))
        return int(tag.rpartition(" ")[2])

    async def insert(self, insertion: RowInsertion, rows: Sequence[SqlRow]) -> None:
        if not rows:
            return
        driver = await self._current()
        with self._errors():
            await driver.execute(_text(insertion), _order_rows(insertion, rows))

    async def insert_if(
        self, guard: PreparedStatement, run_id: RunId, expected: SqlRow, insertions: Sequence[Insertion]
    ) -> SqlRow:
        """Insert with one statement, which is a transaction by itself: one exchange with the server."""
        if not insertions:
            [found] = await self.fetch(guard, run_id=run_id)
            return found
        if len(insertions) == 1 and not insertions[0][0].ignores_present:
            return await self._insert_alone_if(guard, run_id, expected, *insertions[0])
        sql = _guarded_text(guard, tuple(insertion for insertion, _ in insertions))
        written = [_order_rows(insertion, rows) for insertion, rows in insertions]
        values = [*guard.compiled(DIALECT).in_order({"run_id": run_id}), *expected, *written]
        driver = await self._current()
        with self._errors():
            [found] = await driver.fetch(sql, *values)
        return tuple(found)

    async def _insert_alone_if(
        self,
        guard: PreparedStatement,
        run_id: RunId,
        expected: SqlRow,
        insertion: RowInsertion,
        rows: Sequence[SqlRow],
    ) -> SqlRow:
        """Insert into one table, as most appends do: the server takes less time for it, and the guard's row
        is asked for only where it is not the expected one."""
        values = [*guard.compiled(DIALECT).in_order({"run_id": run_id}), *expected, rows]
        driver = await self._current()
        with self._errors():
            outcome = await driver.execute(_guarded_insertion(guard, insertion), *values)
        if outcome != "INSERT 0 0":
            return expected
        [found] = await self.fetch_settled(guard, run_id=run_id)
        if (
            found == expected
        ):  # it waited for another transaction of this very writer, whose connection was lost
            raise StoreUnavailableError(f"{self._database.url}: the end of the log moved meanwhile; {_SAFE}")
        return found

    async def scan(
        self, query: PreparedStatement, after: int, step: EventStep, **parameters: Any
    ) -> tuple[int, int]:
        rows = await self.fetch(query, after=after, **parameters)
        await to_thread.run_sync(_hand_on, rows, step)
        return (rows[-1][1] if rows else after), len(rows)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        async with self._transaction("BEGIN"):
            yield

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[None]:
        async with self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"):
            yield

    @asynccontextmanager
    async def _transaction(self, begin: str) -> AsyncIterator[None]:
        driver = await self._current()
        self._is_in_transaction = True
        try:
            with self._errors():
                await driver.execute(begin)
            yield
            with self._errors():
                outcome = await driver.execute("COMMIT")
            self._is_in_transaction = False
        except BaseException:
            with CancelScope(shield=True):
                await self._roll_back()
            raise
        if outcome != "COMMIT":  # the server's way to say that a statement had failed
            raise StoreError(f"{self._database.url}: the transaction was rolled back")

    async def _roll_back(self) -> None:
        """End the transaction, with its connection if need be."""
        if not self.driver.is_closed():
            try:
                with self._errors():
                    await self.driver.execute("ROLLBACK")
            except StoreError:
                self.driver.terminate()
        self._is_in_transaction = False

    async def lock_run(self, run_id: RunId) -> None:
        with self._errors():
            await self.driver.execute(
                "SELECT pg_advisory_xact_lock(hashtext($1), hashtext($2))", CHANNEL, run_id
            )

    async def lock_writers(self) -> None:
        with self._errors():
            await self.driver.execute("LOCK TABLE leases, blobs IN EXCLUSIVE MODE")


async def _driver_of(core: AsyncConnection) -> asyncpg.Connection[asyncpg.Record]:
    driver = (await core.get_raw_connection()).driver_connection
    assert isinstance(driver, asyncpg.Connection)
    return driver


def _hand_on(rows: list[SqlRow], step: Callable[[list[Any]], None]) -> None:
    for start in range(0, len(rows), _database.SCAN_SIZE):
        step(rows[start : start + _database.SCAN_SIZE])


def _order_rows(insertion: RowInsertion, rows: Sequence[SqlRow]) -> Sequence[SqlRow]:
    """Return rows in an order in which two transactions cannot wait for each other's."""
    return sorted(rows) if insertion.ignores_present else rows


@functools.cache
def _guarded_insertion(guard: PreparedStatement, insertion: RowInsertion) -> str:
    """Return what inserts rows into one table if the guard's row is the expected one."""
    compiled = guard.compiled(DIALECT)
    condition = _condition(len(compiled.names) + 1, f"({compiled.sql}) AS found ({_COLUMNS})")
    return _text(insertion, len(compiled.names) + len(GUARD_TYPES) + 1, condition)


@functools.cache
def _guarded_text(guard: PreparedStatement, insertions: tuple[RowInsertion, ...]) -> str:
    """Return what inserts rows if the guard's row is the expected one, and selects that row.

    The condition reads the guard's row, so its lock is held before anything is inserted. Triggers and
    references are checked behind all insertions.
    """
    compiled = guard.compiled(DIALECT)
    condition = _condition(len(compiled.names) + 1, "found")
    number = len(compiled.names) + len(GUARD_TYPES) + 1
    parts = [f"found ({_COLUMNS}) AS MATERIALIZED ({compiled.sql})"]
    for insertion in insertions:
        parts.append(f"{insertion.table.name}_added AS ({_text(insertion, number, condition)})")
        number += 1
    return f"WITH {', '.join(parts)} SELECT * FROM found"


_COLUMNS = ", ".join(f"c{n}" for n in range(len(GUARD_TYPES)))


def _condition(number: int, found: str) -> str:
    """Return the condition that the row `found` is the expected one, whose first parameter is ``$number``."""
    expected = ", ".join(f"${number + n}::{kind}" for n, kind in enumerate(GUARD_TYPES))
    return f" WHERE (SELECT ({_COLUMNS}) IS NOT DISTINCT FROM ({expected}) FROM {found})"


@functools.cache
def _text(insertion: RowInsertion, number: int = 1, condition: str = "") -> str:
    """Return an insertion of any number of rows, which are one parameter, ``$number``."""
    name = insertion.table.name
    conflict = " ON CONFLICT DO NOTHING" if insertion.ignores_present else ""
    return f"INSERT INTO {name} SELECT * FROM unnest(${number}::{name}[]){condition}{conflict}"


# ---------------------------------------------------------------- errors

_LOST = ("08", "57P01", "57P02", "57P03", "57P05", "25P03", "25P04", "53300", "40001", "40P01")
"""SQLSTATEs, or their beginnings, after which the same can be tried again on another connection."""


def translate(error: Exception, url: str) -> StoreError | None:
    """Return our error for one of the driver or the network, ``None`` for any other."""
    text = str(error).strip() or type(error).__name__
    state = getattr(error, "sqlstate", None)
    if state is not None:
        return _by_state(state, text, url)
    if isinstance(error, socket.gaierror):
        return ForeignDatabaseError(url, f"the name of its server is not known ({text})")
    if isinstance(error, TimeoutError):
        return StoreUnavailableError(f"{url}: the server does not answer in time; {_SAFE}")
    if isinstance(error, OSError):
        return StoreUnavailableError(f"{url}: no server answers ({text}); is PostgreSQL running there?")
    cause = error.__cause__ or error
    # The driver's own words for a server's end in the midst of an exchange.
    is_confused = isinstance(cause, asyncpg.InternalClientError)
    if is_confused or (isinstance(cause, asyncpg.InterfaceError) and "clos" in text):
        return StoreUnavailableError(f"{url}: the connection was lost ({text}); {_SAFE}")
    if isinstance(cause, asyncpg.InterfaceError):
        return StoreError(f"{url}: {text}")
    return None


_SAFE = "nothing acknowledged is lost, resume when the server is there"


def _by_state(state: str, text: str, url: str) -> StoreError:
    if state.startswith("23"):
        return RowRefusedError(text)
    if state in ("53100", "58030"):
        return StoreFullError(f"{url}: {text}; nothing acknowledged is lost, free some space and resume")
    if state.startswith(_LOST):
        return StoreUnavailableError(f"{url}: the server ended the connection ({text}); {_SAFE}")
    if state in ("55P03", "57014"):
        return StoreLockedError(f"{url}: another process kept the rows locked ({text}); end it and try again")
    if state == "25006":
        return StoreError(f"{url}: {text}; it was opened read-only, or the server only reads (a standby?)")
    if state == "3D000":
        return ForeignDatabaseError(url, f"{text}; an administrator makes one with createdb")
    if state.startswith("28"):
        return ForeignDatabaseError(url, f"the server refuses the login: {text}")
    if state == "42501":
        return ForeignDatabaseError(url, f"{text}; its owner may GRANT what is missing")
    return StoreError(f"{url}: {text}")
