"""One whole transaction in one trip to the connection's thread.

Every trip of the driver costs a change of threads, as much as inserting several events; begun, checked,
inserted and committed one by one, a transaction would take six.
"""

from __future__ import annotations

import functools
import itertools
import re
import sqlite3
from collections.abc import Sequence
from typing import Any

import aiosqlite

from dga2d.store import _sqlite
from dga2d.store._insertions import Insertion
from dga2d.store._prepared import in_thread

ROWS_AT_ONCE = (64, 32, 16, 4, 1)
"""Rows of one insertion: few sizes, each of which the connection keeps prepared."""


async def insert_if(
    driver: aiosqlite.Connection,
    guard: tuple[str, Sequence[Any]],
    expected: tuple[Any, ...],
    insertions: Sequence[Insertion],
) -> tuple[Any, ...]:
    """Insert everything and commit if the one row that `guard` selects is `expected`; returns that row.

    Runs to its end even if the caller is cancelled, so a transaction is never left open.

    Raises
    ------
    sqlite3.Error
        Nothing is stored, unless the commit itself reported the error: then that has to be looked up.
    """
    return await in_thread(driver, _insert_if, guard, expected, insertions)


def _insert_if(
    connection: sqlite3.Connection,
    guard: tuple[str, Sequence[Any]],
    expected: tuple[Any, ...],
    insertions: Sequence[Insertion],
) -> tuple[Any, ...]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        found: tuple[Any, ...] = connection.execute(*guard).fetchone()
        if found == expected:
            for sql, rows in insertions:
                insert_rows(connection, sql, rows)
            _sqlite.commit_now(connection)
    finally:
        if connection.in_transaction:
            connection.rollback()
    return found


def insert_rows(connection: sqlite3.Connection, sql: str, rows: Sequence[Sequence[Any]]) -> None:
    """Insert all rows, many in one step: SQLite works without the interpreter's lock, and behind every step
    this thread would wait for the event loop to let go of it."""
    start = 0
    for size in ROWS_AT_ONCE:
        while len(rows) - start >= size:
            values = list(itertools.chain.from_iterable(rows[start : start + size]))
            connection.execute(_of_many(sql, size), values)
            start += size


@functools.cache
def _of_many(sql: str, rows: int) -> str:
    """The insertion of one row as one of many."""
    return re.sub(
        r"VALUES (\([?, ]+\))", lambda found: "VALUES " + ", ".join([found[1]] * rows), sql, count=1
    )
