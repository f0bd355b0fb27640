"""Connections to an SQLite file, as its journal allows them, and what its errors mean."""

from __future__ import annotations

import asyncio
import functools
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar, NamedTuple
from urllib.parse import quote

import aiosqlite
from anyio import CancelScope
from sqlalchemy import event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import AsyncAdaptedQueuePool, ConnectionPoolEntry

from dga2d.store._errors import (
    ForeignDatabaseError,
    RowRefusedError,
    StoreError,
    StoreFullError,
    StoreLockedError,
)

BUSY_TIMEOUT_S = 30.0
CHECKPOINT_PAGES = 4000
"""Pages (of 4 KiB) in the write-ahead log after which the next commit moves them into the database. SQLite's
own 1,000 make so many commits wait that it shows in the 99th percentile (``benchmarks/log.py``)."""


class FileState(NamedTuple):
    """Identity of a file without a write-ahead log, to tell whether it is still the one that was opened."""

    inode: int
    size: int
    modified_ns: int


class LogConnection(sqlite3.Connection):
    """Sets its pragmas in its own thread, and ends its transaction before it closes.

    SQLite keeps a closed connection, and its write lock with it, until the last cursor is gone; a cursor that
    hangs on the traceback of a cancelled task can stay for long.
    """

    is_closed = False
    pragmas: ClassVar[tuple[str, ...]] = (
        "foreign_keys = ON",
        "recursive_triggers = ON",
        "synchronous = FULL",
        f"wal_autocheckpoint = {CHECKPOINT_PAGES}",
    )

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for pragma in self.pragmas:
            self.execute(f"PRAGMA {pragma}")

    def close(self) -> None:
        """Close; does nothing the second time, which the driver asks for when stopped while it closes."""
        if not self.is_closed and self.in_transaction:
            self.rollback()
        super().close()
        self.is_closed = True


class ReadingConnection(LogConnection):
    """Refuses to write."""

    pragmas = (*LogConnection.pragmas, "query_only = ON")


class DriverConnection(aiosqlite.Connection):
    """The driver's connection. When it cannot be opened, its thread has ended before the error is raised."""

    opened: FileState | None = None
    """The file when it was opened as one that nobody writes; ``None``: it has a write-ahead log."""
    _stopping: asyncio.Future[Any] | None = None

    def stop(self) -> asyncio.Future[Any] | None:
        self._stopping = super().stop()
        return self._stopping

    async def _connect(self) -> DriverConnection:
        try:
            await super()._connect()
        except BaseException:
            if self._stopping is not None:
                with CancelScope(shield=True):
                    await self._stopping
            raise
        return self


def create_engine(path: Path, *, read_only: bool) -> AsyncEngine:
    """Return an engine on the file at `path`; transactions are opened explicitly."""

    async def connect() -> DriverConnection:
        opened = unwritten(path) if read_only else None
        database = _uri(path, read_only=read_only, is_immutable=opened is not None)
        connection = DriverConnection(functools.partial(_open, database, read_only), iter_chunk_size=64)
        connection.opened = opened
        await connection
        return connection

    engine = create_async_engine(
        "sqlite+aiosqlite://",
        async_creator=connect,
        isolation_level="AUTOCOMMIT",
        pool_reset_on_return=None,
        poolclass=AsyncAdaptedQueuePool,
        max_overflow=-1,
    )
    if read_only:
        event.listen(engine.sync_engine, "checkin", _keep_only_immutable)
    return engine


@asynccontextmanager
async def connect_current(engine: AsyncEngine, path: Path) -> AsyncIterator[AsyncConnection]:
    """Give a connection that sees the file as it is now.

    One to a file that was written since it was opened is thrown away for another, as often as needed: the
    pool's own way (an error of its "checkout" listeners) gives up after two.
    """
    while True:
        async with engine.connect() as connection:
            opened = (await driver_of(connection)).opened
            if opened is None or opened == unwritten(path):
                yield connection
                return
            await connection.invalidate()


async def driver_of(connection: AsyncConnection) -> DriverConnection:
    """Return the driver's connection beneath SQLAlchemy's."""
    raw = await connection.get_raw_connection()
    driver = raw.driver_connection
    assert isinstance(driver, DriverConnection)
    return driver


def unwritten(path: Path) -> FileState | None:
    """Return the state of a file that nobody writes, ``None`` if it has a write-ahead log or is gone.

    Without such a log nobody is writing, and only an immutable open leaves no side files behind.
    """
    if path.with_name(path.name + "-wal").exists():
        return None
    try:
        found = path.stat()
    except FileNotFoundError:  # SQLite says so when it opens it
        return None
    return FileState(found.st_ino, found.st_size, found.st_mtime_ns)


def _uri(path: Path, *, read_only: bool, is_immutable: bool) -> str:
    uri = f"file:{quote(str(path.absolute()))}?mode={'ro' if read_only else 'rwc'}"
    return f"{uri}&immutable=1" if is_immutable else uri


def _open(database: str, read_only: bool) -> sqlite3.Connection:
    return sqlite3.connect(
        database,
        uri=True,
        timeout=BUSY_TIMEOUT_S,
        isolation_level=None,
        factory=ReadingConnection if read_only else LogConnection,
    )


def _keep_only_immutable(connection: DBAPIConnection | None, entry: ConnectionPoolEntry) -> None:
    """Keep reading connections for as long as the file stays as it was. Next to a writer each connection
    serves one query, so that readers without work do not keep the writer from removing its side files."""
    if connection is None:
        return
    driver = connection.driver_connection
    assert isinstance(driver, DriverConnection)
    if driver.opened is None:
        entry.close()


def translate(error: Exception, url: str) -> StoreError | None:
    """Return our error for an error of the driver, ``None`` for any other."""
    if not isinstance(error, sqlite3.Error):
        return None
    if isinstance(error, sqlite3.IntegrityError):
        return RowRefusedError(str(error))
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    text = str(error)
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return StoreFullError(f"{url}: {text}; nothing acknowledged is lost, free some space and resume")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreLockedError(
            f"{url}: another process kept the database locked for over {BUSY_TIMEOUT_S:g} s; "
            "end it (backup tool? other run?) and try again"
        )
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_CANTOPEN):
        return ForeignDatabaseError(url, text)
    if code == sqlite3.SQLITE_READONLY:
        return StoreError(f"{url}: {text}; it was opened read-only or the file may not be written")
    return StoreError(f"{url}: {text}")
