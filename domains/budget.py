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
SMALLEST_SHARE = 0.02
"""Least part of the whole budget that a position is given, whatever its share, where there are at most 50."""


def bounded_shares(shares: Sequence[float]) -> tuple[float, ...]:
    """Return `shares` (each above 0) as fractions of 1 of at least `SMALLEST_SHARE`; what lifts the small
    ones is taken from the others in proportion. Of none, none."""
    if not shares:
        return ()
    least = min(SMALLEST_SHARE, 1.0 / len(shares))
    small: set[int] = set()
    while True:
        rest = math.fsum(share for i, share in enumerate(shares) if i not in small)
        scale = (1.0 - least * len(small)) / rest if rest else 0.0
        found = [least if i in small else share * scale for i, share in enumerate(shares)]
        lower = {i for i, part in enumerate(found) if part < least}
        if not lower:
            return tuple(found)
        small |= lower


class Budget:
    """What an operator sees as ``env_data["budget"]``.

    `amount` is in seconds (`unit` ``"s"``) or work units (`unit` ``"work"``) for the whole pipeline of
    `positions` operators. Each position may use its share of what remains, so an operator that stops early
    leaves the rest to its successors. `shares` are relative to each other and bounded below
    (`bounded_shares`); where they are empty all are equal. A unit charged at position i counts
    as ``scales[i]`` units, 1 where `scales` is empty: implementations count work differently, and their
    scales make it comparable. ``call_costs[i]`` units are what the call of position i takes besides what it
    charges, none where `call_costs` is empty: those of all positions are taken off before the budget is
    shared, so that it lasts, with all of them, as long as another; `SMALLEST_SHARE` of it is left.
    """

    def __init__(
        self,
        amount: float,
        unit: Literal["s", "work"],
        positions: int,
        clock: Clock = time.perf_counter,
        scales: Sequence[float] = (),
        shares: Sequence[float] = (),
        call_costs: Sequence[float] = (),
    ) -> None:
        if not amount > 0:
            raise ValueError(f"expected a budget above 0, got {amount}")
        if positions < 1:
            raise ValueError(f"expected at least one position, got {positions}")
        if scales and (len(scales) != positions or not all(0.0 < scale < math.inf for scale in scales)):
            raise ValueError(f"expected {positions} scales above 0, got {list(scales)}")
        if shares and (len(shares) != positions or not all(0.0 < share < math.inf for share in shares)):
            raise ValueError(f"expected {positions} shares above 0, got {list(shares)}")
        if call_costs and (len(call_costs) != positions or not all(0.0 <= c < math.inf for c in call_costs)):
            raise ValueError(f"expected {positions} costs of calls >= 0, got {list(call_costs)}")
        self._whole = float(amount)
        self._amount = max(amount - math.fsum(call_costs), SMALLEST_SHARE * amount)
        self._is_timed = unit == "s"
        self._clock = clock
        self._work = self._called = 0.0
        self._scales = iter(scales or (1.0,) * positions)
        self._scale = 1.0
        self._call_costs = iter(call_costs)
        self._shares_left = list(bounded_shares(shares) or (1.0,) * positions)
        self._start = clock()
        self._share_start = 0.0
        self._share_end = 0.0
        self.next_position()

    def next_position(self) -> None:
        """Give the next position its share (called by the runner, not by operators)."""
        spent = self.spent()
        self._share_start = spent
        left = self._shares_left
        parts = sum(left) / left[0] if left else 1.0
        self._share_end = spent + max(self._amount - spent, 0.0) / parts
        del left[:1]
        self._scale = next(self._scales, self._scale)
        self._called += next(self._call_costs, 0.0)

    def put_together(self) -> None:
        """Give all positions the whole budget in common, and count their units as they are and no calls
        (called by the runner of a walk that repeats, before its first position).
        """
        self._share_end, self._scale, self._called = self._whole, 1.0, 0.0

    def spent(self) -> float:
        """Return the seconds or units spent by the whole pipeline so far."""
        return self._clock() - self._start if self._is_timed else self._work

    @property
    def work(self) -> int:
        """Work units charged so far, by their scales, and those of the calls made, rounded down, under either
        kind of budget."""
        return int(self._work + self._called)

    def charge(self, units: float = 1) -> None:
        """Account for `units` moves or decodes just made (`units` ≥ 0); parts of a unit count."""
        if not 0 <= units < math.inf:
            raise ValueError(f"work is a number of units, 0 or more, not {units}")
        self._work += float(units) * self._scale

    def exhausted(self) -> bool:
        """Return whether this position's share is used up: the operator should return now."""
        return self.spent() >= self._share_end

    def remaining(self) -> float:
        """Return the fraction of this position's share that is left, 1 at its start, 0 when exhausted."""
        length = self._share_end - self._share_start
        if length <= 0:
            return 0.0
        return min(max((self._share_end - self.spent()) / length, 0.0), 1.0)
