"""The state of a live run, folded once per process for everyone in it who follows the run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple, Protocol

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from dga2d.events import RecordedEvent, RunId
from dga2d.replay.state.fold import fold
from dga2d.replay.state.run_state import RunState

MOST_WAITING = 256
"""Events that a subscriber may be behind before the others wait for it."""


class EventFeed(Protocol):
    """Where the events of a run come from: every one after a number, once, in order, then live ones."""

    def subscribe(self, run_id: RunId, after: int = 0) -> AsyncIterator[RecordedEvent]: ...


class StateChange(NamedTuple):
    """An event and the state after it."""

    event: RecordedEvent
    state: RunState


class Subscription:
    """The state at its beginning, and every change after it, in order. Ends when the projection ends.

    To be used in a ``with`` block; a subscriber that leaves keeps nobody waiting.
    """

    def __init__(self, state: RunState, changes: MemoryObjectReceiveStream[StateChange]) -> None:
        self.state = state
        self._changes = changes

    def __aiter__(self) -> AsyncIterator[StateChange]:
        return self._changes.__aiter__()

    def __enter__(self) -> Subscription:
        return self

    def __exit__(self, *_: object) -> None:
        self._changes.close()


class Projection:
    """The state of a run, kept up with its log; made by `project`."""

    def __init__(self, state: RunState) -> None:
        self.state = state
        """The latest state."""
        self._subscribers: list[MemoryObjectSendStream[StateChange]] = []
        self._has_ended = False

    def subscribe(self) -> Subscription:
        """Return a subscription that begins at the latest state."""
        sender, receiver = anyio.create_memory_object_stream[StateChange](MOST_WAITING)
        if self._has_ended:
            sender.close()
        else:
            self._subscribers.append(sender)
        return Subscription(self.state, receiver)

    async def follow(self, feed: EventFeed, run_id: RunId) -> None:
        """Fold what comes until the feed ends; a subscriber far behind makes the others wait.

        Raises
        ------
        ReplayError, EventError, StoreError
            An event cannot follow, or the feed failed; all subscriptions end.
        """
        try:
            async for event in feed.subscribe(run_id, self.state.seq):
                self.state = fold(self.state, event)
                change = StateChange(event, self.state)
                for subscriber in tuple(self._subscribers):
                    await self._tell(subscriber, change)
        finally:
            self._has_ended = True
            for subscriber in self._subscribers:
                subscriber.close()

    async def _tell(self, subscriber: MemoryObjectSendStream[StateChange], change: StateChange) -> None:
        try:
            try:
                subscriber.send_nowait(change)
            except anyio.WouldBlock:
                await subscriber.send(change)
        except anyio.BrokenResourceError:  # it has left
            subscriber.close()
            self._subscribers.remove(subscriber)


@asynccontextmanager
async def project(feed: EventFeed, run_id: RunId, state: RunState) -> AsyncIterator[Projection]:
    """Follow a run from `state` on for the length of the block.

    A subscription that the block takes before it first waits misses no event. What `Projection.follow` raises
    cancels the block and comes out in an exception group.
    """
    projection = Projection(state)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(projection.follow, feed, run_id, name=f"fold {run_id}")
        yield projection
        tasks.cancel_scope.cancel()
