"""Transactions with translated errors; the edge between the driver's errors and ours."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from anyio import CancelScope
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from dga2d.store import _sqlite


@contextmanager
def translated_errors(url: str) -> Iterator[None]:
    """Turn driver errors into ours. Refusals by constraints pass, their meaning is the caller's to find."""
    try:
        yield
    except DBAPIError as error:
        if _sqlite.is_refusal(error):
            raise
        raise _sqlite.translated(error, url) from error


@asynccontextmanager
async def transaction(connection: AsyncConnection, url: str) -> AsyncIterator[None]:
    """A write transaction: committed at the end of the block, rolled back on any error."""
    with translated_errors(url):
        await _sqlite.begin(connection)
        try:
            yield
            await _sqlite.commit(connection)
        except BaseException:
            with CancelScope(shield=True):
                await _sqlite.rollback(connection)
            raise
