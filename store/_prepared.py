"""Core statements compiled once and handed to the driver itself.

A statement run through SQLAlchemy's adapter takes three or four trips to the connection's thread and a new
compilation context; handed to the driver it takes one. Only appending and reading events go this way.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, TypeVarTuple, cast

import aiosqlite
from sqlalchemy.dialects.sqlite.aiosqlite import dialect
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql import ClauseElement
from sqlalchemy.sql.compiler import SQLCompiler

Arguments = TypeVarTuple("Arguments")
Result = TypeVar("Result")


class PreparedStatement:
    """A compiled statement; `names` are its parameters in the order in which the driver wants them."""

    def __init__(self, statement: ClauseElement) -> None:
        compiled = statement.compile(dialect=dialect())
        assert isinstance(compiled, SQLCompiler)
        self.sql = str(compiled)
        self.names: tuple[str, ...] = tuple(compiled.positiontup or ())
        self._constants: Mapping[str, Any] = compiled.params

    def bound(self, **parameters: Any) -> tuple[str, list[Any]]:
        """Text and parameters, for the driver's own connection."""
        return self.sql, self._in_order(parameters)

    async def fetch(self, driver: aiosqlite.Connection, **parameters: Any) -> list[Sequence[Any]]:
        """Run it once and return all rows as tuples."""
        return list(await driver.execute_fetchall(self.sql, self._in_order(parameters)))

    async def change(self, driver: aiosqlite.Connection, **parameters: Any) -> int:
        """Run it once and return how many rows it changed."""
        return (await driver.execute(self.sql, self._in_order(parameters))).rowcount

    def of(self, rows: Sequence[Sequence[Any]]) -> tuple[str, Sequence[Sequence[Any]]]:
        """Text and rows, to be run for every row."""
        return self.sql, rows

    async def insert(self, driver: aiosqlite.Connection, rows: Iterable[Sequence[Any]]) -> None:
        """Run it for every row; values stand in the order of `names`."""
        await driver.executemany(self.sql, rows)

    def _in_order(self, parameters: Mapping[str, Any]) -> list[Any]:
        values = {**self._constants, **parameters}
        return [values[name] for name in self.names]


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


async def driver_of(connection: AsyncConnection) -> aiosqlite.Connection:
    """The driver's connection beneath SQLAlchemy's."""
    raw = await connection.get_raw_connection()
    driver = raw.driver_connection
    assert isinstance(driver, aiosqlite.Connection)
    return driver
