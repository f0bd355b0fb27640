"""Asynchronous work of a command."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar, TypeVarTuple, Unpack

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")


def in_loop(function: Callable[[Unpack[Arguments]], Awaitable[Result]], *arguments: *Arguments) -> Result:
    """What `function` returns, in an event loop of its own, which is loaded only here."""
    import anyio

    return anyio.run(function, *arguments)
