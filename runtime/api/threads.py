"""Asynchronous work for synchronous callers, in a thread of its own: it does not meet the event loop that may
already run, as in Jupyter.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, TimeoutError
from os import PathLike
from typing import TypeVar

import anyio

from dga2d.runtime.runs.interruption import Interruption

T = TypeVar("T")
FilePath = str | PathLike[str]
REFRESH_S = 0.5
"""Seconds between two looks at the work."""


def call(work: Callable[[], Awaitable[T]]) -> T:
    """Return what `work` returns: a short look into a database."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return anyio.run(work)
    return start(work).result()


def start(work: Callable[[], Awaitable[T]]) -> Future[T]:
    """Begin `work` in a thread with an event loop of its own."""
    future: Future[T] = Future()

    def carry_out() -> None:
        try:
            future.set_result(anyio.run(work))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=carry_out, name="dga2d", daemon=True).start()
    return future


def follow(work: Callable[[], Awaitable[T]], stop: Interruption, refresh: Callable[[], None]) -> T:
    """Return what `work` returns; call `refresh` meanwhile, in this thread.

    Raises
    ------
    KeyboardInterrupt
        The user interrupted: once, and `stop` has ended the work in good order; or twice, and it is left as
        it is.
    """
    future = start(work)
    try:
        return _wait(future, refresh)
    except KeyboardInterrupt:
        stop.request("KeyboardInterrupt")
        _wait(future, refresh)
        raise


def _wait(future: Future[T], refresh: Callable[[], None]) -> T:
    while True:
        try:
            return future.result(REFRESH_S)
        except TimeoutError:
            if future.done():  # the work itself raised one
                raise
            refresh()
