"""Time or work an algorithm may spend, shared over its positions.

A budget is wall-clock seconds (the paper: 90 s per instance) or *work units* (moves or decodes). Under a
work budget nothing an operator sees depends on the clock, so its run is reproducible bit for bit.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Literal

Clock = Callable[[], float]


class Budget:
    """What an operator sees as ``env_data["budget"]``.

    `amount` is in seconds (`unit` ``"s"``) or work units (`unit` ``"work"``) for the whole pipeline of
    `positions` operators. Each position may use an equal share of what remains, so an operator that stops
    early leaves the rest to its successors. A unit charged at position i counts as ``scales[i]`` units, 1
    where `scales` is empty: implementations count work differently, and their scales make it comparable.
    """

    def __init__(
        self,
        amount: float,
        unit: Literal["s", "work"],
        positions: int,
        clock: Clock = time.perf_counter,
        scales: Sequence[float] = (),
    ) -> None:
        if not amount > 0:
            raise ValueError(f"expected a budget above 0, got {amount}")
        if positions < 1:
            raise ValueError(f"expected at least one position, got {positions}")
        if scales and (len(scales) != positions or not all(0.0 < scale < math.inf for scale in scales)):
            raise ValueError(f"expected {positions} scales above 0, got {list(scales)}")
        self._amount = float(amount)
        self._is_timed = unit == "s"
        self._clock = clock
        self._work = 0.0
        self._scales = iter(scales or (1.0,) * positions)
        self._scale = 1.0
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
        self._scale = next(self._scales, self._scale)

    def spent(self) -> float:
        """Return the seconds or units spent by the whole pipeline so far."""
        return self._clock() - self._start if self._is_timed else self._work

    @property
    def work(self) -> int:
        """Work units charged so far, by their scales and rounded down, under either kind of budget."""
        return int(self._work)

    def charge(self, units: int = 1) -> None:
        """Account for `units` moves or decodes just made (`units` ≥ 0)."""
        if units < 0:
            raise ValueError("work cannot be negative")
        self._work += int(units) * self._scale

    def exhausted(self) -> bool:
        """Return whether this position's share is used up: the operator should return now."""
        return self.spent() >= self._share_end

    def remaining(self) -> float:
        """Return the fraction of this position's share that is left, 1 at its start, 0 when exhausted."""
        length = self._share_end - self._share_start
        if length <= 0:
            return 0.0
        return min(max((self._share_end - self.spent()) / length, 0.0), 1.0)
