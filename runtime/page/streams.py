"""Event streams that end with the server.

A stream has no end of its own: browsers keep it open, and a server that goes away in the middle of one leaves
an answer without its last part. So the server closes all of them first, and each ends as an answer ends.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio
from sse_starlette import EventSourceResponse

Message = dict[str, str]
"""Fields of a server-sent event."""


class Streams:
    """The open event streams of a server."""

    def __init__(self) -> None:
        self._closing = anyio.Event()

    def close(self) -> None:
        """End all streams, and those that are still asked for."""
        self._closing.set()

    def answer(self, messages: AsyncIterator[Message]) -> EventSourceResponse:
        """Return a stream of `messages` as an answer; it ends when they do, or with the server."""
        return EventSourceResponse(self._until_closed(messages))

    async def _until_closed(self, messages: AsyncIterator[Message]) -> AsyncIterator[Message]:
        while (message := await self._next(messages)) is not None:
            yield message

    async def _next(self, messages: AsyncIterator[Message]) -> Message | None:
        """Return the next of `messages`; ``None`` after the last one, or when the server closes."""
        message = None
        async with anyio.create_task_group() as waiting:

            async def give_up() -> None:
                await self._closing.wait()
                waiting.cancel_scope.cancel()

            waiting.start_soon(give_up)
            message = await anext(messages, None)
            waiting.cancel_scope.cancel()
        return message
