"""The newest events of a run kept in memory, so that subscribers in the writer's process need no reading."""

from __future__ import annotations

import anyio

from dga2d.events import RecordedEvent

TAIL_LENGTH = 4096


class LiveTail:
    """A contiguous end piece of one log, and a bell that rings when it grows or its writer leaves."""

    def __init__(self) -> None:
        self.bell = anyio.Event()
        self._events: list[RecordedEvent] = []
        self._end: int | None = None

    def follow(self, seq: int) -> None:
        """A writer of this process took over at a log that ends at `seq`: all that follows comes here."""
        self._events.clear()
        self._end = seq
        self.ring()

    def leave(self) -> None:
        """That writer is gone; others may append now."""
        self._end = None
        self.ring()

    def publish(self, events: list[RecordedEvent]) -> None:
        """Add stored events, the ones that follow the last."""
        self._events += events
        if len(self._events) > 2 * TAIL_LENGTH:
            del self._events[:-TAIL_LENGTH]
        if self._end is not None:
            self._end += len(events)
        self.ring()

    def ring(self) -> None:
        """Wake who waits."""
        self.bell.set()
        self.bell = anyio.Event()

    def after(self, seq: int) -> list[RecordedEvent] | None:
        """The known events behind `seq`, all of them; ``None`` when only the database knows."""
        if self._end is None:
            return None
        if seq == self._end:
            return []
        if self._events and self._events[0].seq <= seq + 1 <= self._end:
            return self._events[seq + 1 - self._events[0].seq :]
        return None
