"""A pool that a fixture can hold open."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from dga2d.runtime.evaluation.pool import EvaluatorPool


@asynccontextmanager
async def hold(pool: EvaluatorPool) -> AsyncIterator[EvaluatorPool]:
    """`pool`, entered and left by one and the same task, as its task group demands and fixtures do not."""
    ready: asyncio.Future[EvaluatorPool] = asyncio.get_running_loop().create_future()
    stop = asyncio.Event()

    async def keep_open() -> None:
        async with pool as running:
            ready.set_result(running)
            await stop.wait()

    keeper = asyncio.create_task(keep_open())
    futures: list[asyncio.Future[Any]] = [ready, keeper]
    await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
    if keeper.done():
        await keeper
    yield await ready
    stop.set()
    await keeper
