"""Transactions with translated errors; the edge between the driver's errors and ours."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import aiosqlite
from anyio import CancelScope
from sqlalchemy.exc import DBAPIError

from dga2d.store import _sqlite


@contextmanager
def translated_errors(url: str) -> Iterator[None]:
    """Turn errors of the driver, wrapped by SQLAlchemy or not, into ours.

    Raises
    ------
    sqlite3.IntegrityError
        A constraint or trigger refused a row: what that means, the caller knows.
    """
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        if isinstance(cause, sqlite3.IntegrityError):
            raise cause from None
        if not isinstance(cause, sqlite3.Error):
            raise
        raise _sqlite.translated(cause, url) from error


@asynccontextmanager
async def transaction(driver: aiosqlite.Connection, url: str) -> AsyncIterator[None]:
    """A write transaction: committed at the end of the block, rolled back on any error.

    Beginning it is part of what is rolled back: a cancelled caller leaves a statement running in the driver's
    thread, and a transaction that nobody waits for would keep the database locked.
    """
    with translated_errors(url):
        try:
            await _sqlite.begin(driver)
            yield
            await _sqlite.commit(driver)
        except BaseException:
            with CancelScope(shield=True):
                await _sqlite.rollback(driver)
            raise
