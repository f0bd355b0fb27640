"""Open a store. SQLAlchemy is loaded here, at the first use, and not with the package."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from dga2d.store._contract import DEFAULT_URL, EventStore, shown_url
from dga2d.store._errors import ForeignDatabaseError, MissingDatabaseError

if TYPE_CHECKING:
    from sqlalchemy import URL

    from dga2d.store._database import Database


def system_clock() -> int:
    """Return microseconds since 1970-01-01 UTC."""
    return time.time_ns() // 1000


@asynccontextmanager
async def open_store(
    url: str = DEFAULT_URL,
    *,
    create: bool = True,
    read_only: bool = False,
    clock: Callable[[], int] = system_clock,
) -> AsyncIterator[EventStore]:
    """Open the database at `url` for the length of the block, and check its schema.

    Parameters
    ----------
    url
        SQLAlchemy's form: ``sqlite+aiosqlite:///relative/path.db`` (four slashes: absolute path),
        ``postgresql+asyncpg://USER@HOST/DATABASE``.
    create
        Make the file if it is missing, and the tables in an empty database.
    read_only
        Change nothing, not even the schema; leaves no files behind. Implies that nothing is created.
    clock
        Microseconds since 1970-01-01 UTC, for the events' times and the leases' ends.

    Raises
    ------
    ForeignDatabaseError
        The file or the server's database is missing or empty and may not be created, is none, belongs to
        another program, or has a schema that this program does not know.
    StoreUnavailableError
        No server answers.
    """
    from dga2d.store._store import SqlEventStore

    store = SqlEventStore(
        _database_of(url, create=create, read_only=read_only), clock, is_read_only=read_only
    )
    try:
        await store.prepare(create=create)
        yield store
    finally:
        await store.close()


def _database_of(url: str, *, create: bool, read_only: bool) -> Database:
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):  # ValueError: of a port; both quote what may be a password
        raise ForeignDatabaseError(shown_url(url), f"is not a database URL such as {DEFAULT_URL}") from None
    shown = shown_url(parsed.render_as_string(hide_password=True))
    if parsed.drivername == "postgresql+asyncpg":
        try:
            from dga2d.store._postgresql import PostgresDatabase
        except ModuleNotFoundError as error:
            raise ForeignDatabaseError(shown, "needs asyncpg: pip install 'dga2d[postgres]'") from error
        return PostgresDatabase(parsed, read_only=read_only)
    if parsed.drivername != "sqlite+aiosqlite":
        known = "sqlite+aiosqlite and postgresql+asyncpg"
        raise ForeignDatabaseError(shown, f"only {known} databases are supported, not {parsed.drivername}")
    from dga2d.store._sqlite import SqliteDatabase

    path = _path_of(parsed, shown)
    if not path.exists() and (read_only or not create):
        raise MissingDatabaseError(shown, f"there is no file {path}")
    if not path.parent.is_dir():
        raise ForeignDatabaseError(shown, f"there is no folder {path.parent}")
    if path.is_dir():
        raise ForeignDatabaseError(shown, f"{path} is a folder")
    return SqliteDatabase(path, shown, read_only=read_only)


def _path_of(parsed: URL, shown: str) -> Path:
    if parsed.query:
        raise ForeignDatabaseError(shown, "takes no options after the path")
    if not parsed.database or parsed.database == ":memory:":
        raise ForeignDatabaseError(shown, "a log needs a file")
    return Path(parsed.database)
