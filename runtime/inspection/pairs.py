"""Two algorithms on the same instances, pair by pair, and one over several runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any, NamedTuple

from dga2d.events import InstanceKey

LEVEL = 0.95
Gaps = Mapping[InstanceKey, float | None]
"""Gap in percent by instance, ``None`` where the algorithm failed."""


class Interval(NamedTuple):
    """A mean with the bounds of its 95 % interval; no bounds for fewer than two values."""

    mean: float
    low: float | None
    high: float | None

    @property
    def is_noise(self) -> bool:
        """Whether the interval does not exclude 0."""
        return self.low is None or self.high is None or self.low <= 0.0 <= self.high

    @property
    def bounds(self) -> list[float] | None:
        """The bounds as JSON has them."""
        return None if self.low is None or self.high is None else [round(self.low, 4), round(self.high, 4)]


class Spread(NamedTuple):
    """Runs that differ in their seeds alone, by one figure."""

    mean: float
    sd: float
    """Sample standard deviation; 0 for one run."""
    low: float
    high: float
    runs: int

    @property
    def interval(self) -> Interval:
        """The mean over runs with its Student interval."""
        return _student(self.mean, self.sd, self.runs)


@dataclass(frozen=True)
class PairedGaps:
    """What the instances on which both algorithms were evaluated say of the difference."""

    points: Interval | None
    """Gap of the other algorithm minus that of this one in percentage points, where both solved an instance:
    above 0 this one is ahead; ``None`` where there is no such instance."""
    instances: int
    won: int
    lost: int
    failures: int
    """Instances on which this algorithm failed."""
    their_failures: int
    """Instances on which the other one did."""

    def view(self) -> dict[str, Any]:
        """Return plain values for the JSON of commands."""
        return {
            "points": None if self.points is None else round(self.points.mean, 4),
            "interval_points": None if self.points is None else self.points.bounds,
            "instances": self.instances,
            "won": self.won,
            "lost": self.lost,
            "failures": self.failures,
            "their_failures": self.their_failures,
        }


def pair_gaps(ours: Gaps, theirs: Gaps) -> PairedGaps:
    """Return how two algorithms differ on the instances on which both were evaluated."""
    pairs = [(ours[key], theirs[key]) for key in ours if key in theirs]
    both = [(a, b) for a, b in pairs if a is not None and b is not None]
    only_ours = sum(a is not None and b is None for a, b in pairs)
    only_theirs = sum(a is None and b is not None for a, b in pairs)
    return PairedGaps(
        points=interval([b - a for a, b in both]) if both else None,
        instances=len(pairs),
        won=sum(a < b for a, b in both) + only_ours,
        lost=sum(a > b for a, b in both) + only_theirs,
        failures=sum(a is None for a, _ in pairs),
        their_failures=sum(b is None for _, b in pairs),
    )


def spread(values: Sequence[float]) -> Spread:
    """Return mean, deviation and reach of `values`, one at least, one from each run."""
    sd = stdev(values) if len(values) > 1 else 0.0
    return Spread(fmean(values), sd, min(values), max(values), len(values))


def interval(values: Sequence[float]) -> Interval:
    """Return the mean of `values`, one at least, with the bounds of its Student interval.

    References
    ----------
    Student, "The probable error of a mean", Biometrika 6, 1908.
    """
    n = len(values)
    mean = math.fsum(values) / n
    squares = math.fsum((value - mean) ** 2 for value in values)
    return _student(mean, math.sqrt(squares / (n - 1)) if n > 1 else 0.0, n)


def _student(mean: float, deviation: float, n: int) -> Interval:
    """Return the interval of the mean of `n` values with that sample standard deviation."""
    if n < 2:
        return Interval(mean, None, None)
    from scipy.special import stdtrit  # half a second, and only where there is something to say

    reach = float(stdtrit(n - 1, 0.5 + LEVEL / 2)) * deviation / math.sqrt(n)
    return Interval(mean, mean - reach, mean + reach)
