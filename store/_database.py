"""What the store asks of a database: connections, transactions, and the statements of the hot paths.

``_sqlite`` and ``_postgresql`` are the two there are. What they have in common is SQLAlchemy's Core; the hot
paths go past it (``_statements``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from typing import Any, TypeVar

import anyio
from sqlalchemy import CursorResult, Executable
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from dga2d.events import RunId
from dga2d.store._contract import EventStep
from dga2d.store._errors import ForeignDatabaseError, StoreError, StoreUnavailableError
from dga2d.store._statements import Insertion, PreparedStatement, RowInsertion, SqlRow

Result = TypeVar("Result")

RETRY_S = 0.2
"""Between two attempts to reach a server."""
SCAN_SIZE = 256
"""Events handed on at once by a scan: some hundred kilobytes, which fit a processor's cache."""


class DatabaseConnection(ABC):
    """One connection, for one task at a time. Where it was lost, the next call opens another, unless a
    transaction is open.

    Its methods raise errors of the store; ``RowRefusedError`` where a constraint or trigger refused a row.
    """

    core: AsyncConnection
    """SQLAlchemy's connection. Outside of :meth:`transaction` each statement stands for itself."""

    async def execute(self, statement: Executable, parameters: Any = None) -> CursorResult[*tuple[Any, ...]]:
        """Run a Core statement, off the hot paths."""
        return await self.core.execute(statement, parameters)

    @abstractmethod
    async def fetch(self, statement: PreparedStatement, **parameters: Any) -> list[SqlRow]:
        """Run a query once and return all rows as tuples."""

    @abstractmethod
    async def fetch_settled(self, statement: PreparedStatement, **parameters: Any) -> list[SqlRow]:
        """Run a query that locks its rows (``FOR UPDATE``), and return what it finds when no other
        transaction holds them any more."""

    @abstractmethod
    async def change(self, statement: PreparedStatement, **parameters: Any) -> int:
        """Run a statement once and return how many rows it changed."""

    @abstractmethod
    async def insert(self, insertion: RowInsertion, rows: Sequence[SqlRow]) -> None:
        """Insert all rows, inside a transaction."""

    @abstractmethod
    async def insert_if(
        self, guard: PreparedStatement, run_id: RunId, expected: SqlRow, insertions: Sequence[Insertion]
    ) -> SqlRow:
        """Insert everything and commit if the one row that `guard` selects is `expected`; returns that row.

        Runs to its end even if the caller is cancelled, so a transaction is never left open.

        Raises
        ------
        StoreError
            Nothing is stored, unless the commit itself reported the error: then that has to be looked up.
        """

    @abstractmethod
    async def scan(
        self, query: PreparedStatement, after: int, step: EventStep, **parameters: Any
    ) -> tuple[int, int]:
        """Hand the events that `query` gives behind `after` to `step`, ``SCAN_SIZE`` at a time; number of the
        last one (`after` if none), and how many there were."""

    @abstractmethod
    def transaction(self) -> AbstractAsyncContextManager[None]:
        """Open a write transaction: committed at the end of the block, rolled back on any error."""

    @abstractmethod
    def reading(self) -> AbstractAsyncContextManager[None]:
        """Let all queries of the block see the database as it is at the first, whatever is written
        meanwhile."""

    @abstractmethod
    async def lock_run(self, run_id: RunId) -> None:
        """Let no other transaction create or take over that run until this one ends."""

    @abstractmethod
    async def lock_writers(self) -> None:
        """Let nobody write events or blobs, or take a lease, until this transaction ends."""


class Database(ABC):
    """A file or a server's database that holds logs."""

    url: str
    """As shown to people: without a password."""
    schema_version: int
    """The number of the schema that this program writes; each kind of database counts for itself."""
    poll_s: float
    """How often a subscriber asks for the events of another process."""
    patience_s: float = 0.0
    """How long a server that was there is waited for."""

    @abstractmethod
    def connect(self) -> AbstractAsyncContextManager[DatabaseConnection]:
        """Open a connection, or take one from the pool, for the length of the block."""

    @abstractmethod
    async def dispose(self) -> None:
        """Let all connections go."""

    async def persist(self, action: Callable[[], Awaitable[Result]]) -> Result:
        """Do what can be repeated, again and again while the server is not there or ends the connection.

        Raises
        ------
        StoreUnavailableError
            It was so for ``patience_s``.
        """
        deadline = anyio.current_time() + self.patience_s
        while True:
            try:
                return await action()
            except StoreUnavailableError:
                if anyio.current_time() >= deadline:
                    raise
            await anyio.sleep(RETRY_S)

    @abstractmethod
    def errors(self) -> AbstractContextManager[None]:
        """Turn errors of the driver, wrapped by SQLAlchemy or not, into ours."""

    @abstractmethod
    async def prepare(self, connection: DatabaseConnection, *, create: bool) -> None:
        """See whether the database is a log of this program, and (`create`) make one of an empty database.

        Raises
        ------
        ForeignDatabaseError
            It is not ours, of another version, or empty and not to be created.
        """

    @abstractmethod
    async def findings(self, connection: DatabaseConnection) -> list[str]:
        """Return what is wrong with the database as such, a line each: storage, references, types, guards."""

    @abstractmethod
    async def watch(self, ring: Callable[[RunId | None], None]) -> None:
        """Have `ring` called when another process appended to a run (``None``: perhaps to any run), from now
        on. Does nothing where the database cannot tell; subscribers then ask every ``poll_s``."""

    @abstractmethod
    async def announce(self, run_id: RunId) -> None:
        """Tell the processes that watch that events were appended to a run."""


def check_version(url: str, version: object, known_version: int) -> None:
    """Raise ForeignDatabaseError for a schema that this program does not know."""
    if version != known_version:
        is_newer = isinstance(version, int) and version > known_version
        compared, advice = ("newer than", "; update dga2d") if is_newer else ("not", "")
        known = f"{compared} the {known_version} this program knows{advice}"
        raise ForeignDatabaseError(url, f"has schema version {version}, {known}")


@contextmanager
def translate_errors(translate: Callable[[Exception], StoreError | None]) -> Iterator[None]:
    """Turn errors of a driver, wrapped by SQLAlchemy or not, into those that `translate` gives (``None``: the
    error is not the driver's)."""
    try:
        yield
    except StoreError:
        raise
    except Exception as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        ours = translate(cause) if isinstance(cause, Exception) else None
        if ours is None:
            raise
        raise ours from error
