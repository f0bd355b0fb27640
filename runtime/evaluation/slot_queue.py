"""A queue for free evaluation slots."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable
from typing import Generic, NamedTuple, TypeVar

import anyio

Slot = TypeVar("Slot")


class Urgency(NamedTuple):
    """Rank of a waiting request; the lowest is served first."""

    turn: int
    minus_s: float
    """Expected seconds, negative: the longest begin first."""


class _Turn(Generic[Slot]):
    """A wait for a slot."""

    def __init__(self) -> None:
        self.come = anyio.Event()
        self.slot: Slot | None = None
        self.is_given_up = False


class SlotQueue(Generic[Slot]):
    """Slots that are taken and given back, and those that wait for one."""

    def __init__(self, slots: Iterable[Slot] = ()) -> None:
        self._idle = list(slots)
        self._waiting: list[tuple[Urgency, int, _Turn[Slot]]] = []
        self._numbers = itertools.count()

    async def take(self, urgency: Urgency) -> Slot:
        """Return a slot as soon as there is one; it belongs to the caller until it is given back."""
        if self._idle:
            return self._idle.pop()
        turn = _Turn[Slot]()
        heapq.heappush(self._waiting, (urgency, next(self._numbers), turn))
        try:
            await turn.come.wait()
        except BaseException:
            turn.is_given_up = True
            if turn.slot is not None:
                self.give(turn.slot)
            raise
        assert turn.slot is not None
        return turn.slot

    def give(self, slot: Slot) -> None:
        """Hand a slot to the next that waits; also one that nobody has had before."""
        while self._waiting:
            _, _, turn = heapq.heappop(self._waiting)
            if not turn.is_given_up:
                turn.slot = slot
                turn.come.set()
                return
        self._idle.append(slot)
