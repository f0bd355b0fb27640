"""Time or work an algorithm may spend, shared over its positions.

A budget is wall-clock seconds (the paper: 90 s per instance) or *work units* (moves or decodes). Under a
work budget nothing an operator sees depends on the clock, so its run is reproducible bit for bit.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

Clock = Callable[[], float]


class Budget:
    """What an operator sees as ``env_data["budget"]``.

    `amount` is in seconds (`unit` ``"s"``) or work units (`unit` ``"work"``) for the whole pipeline of
    `positions` operators. Each position may use an equal share of what remains, so an operator that stops
    early leaves the rest to its successors.
    """

    def __init__(
        self,
        amount: float,
        unit: Literal["s", "work"],
        positions: int,
        clock: Clock = time.perf_counter,
    ) -> None:
        if not amount > 0:
            raise ValueError(f"expected a budget above 0, got {amount}")
        if positions < 1:
            raise ValueError(f"expected at least one position, got {positions}")
        self._amount = float(amount)
        self._is_timed = unit == "s"
        self._clock = clock
        self._work = 0
        self._positions_left = positions
        self._start = clock()
        self._share_start = 0.0
        self._share_end = 0.0
        self.next_position()

    def next_position(self) -> None:
        """Give the next position its share (called by the runner, not by operators)."""
        spent = self.spent()
        self._share_start = spent
        self._share_end = spent + max(self._amount - spent, 0.0) / max(self._positions_left, 1)
        self._positions_left -= 1

    def spent(self) -> float:
        """Seconds or units spent by the whole pipeline so far."""
        return self._clock() - self._start if self._is_timed else float(self._work)

    @property
    def work(self) -> int:
        """Work units charged so far, under either kind of budget."""
        return self._work

    def charge(self, units: int = 1) -> None:
        """Account for `units` moves or decodes just made (`units` ≥ 0)."""
        if units < 0:
            raise ValueError("work cannot be negative")
        self._work += int(units)

    def exhausted(self) -> bool:
        """Whether this position's share is used up: the operator should return now."""
        return self.spent() >= self._share_end

    def remaining(self) -> float:
        """Fraction of this position's share that is left, 1 at its start, 0 when exhausted."""
        length = self._share_end - self._share_start
        if length <= 0:
            return 0.0
        return min(max((self._share_end - self.spent()) / length, 0.0), 1.0)
