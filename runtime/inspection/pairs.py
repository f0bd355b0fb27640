"""Two algorithms on the same instances, pair by pair, one over several runs, and the last sentence of a held-
out test: how far the algorithm is from the start and from hand-tuned code.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any, NamedTuple

from dga2d.events import ImplementationId, InstanceKey
from dga2d.events.payloads import RunStarted, Step
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.inspection.measures import Measure, measure_of
from dga2d.runtime.inspection.views import count_instances

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


class TestedPairs(NamedTuple):
    """What a held-out test compared under one budget."""

    start: PairedGaps | None
    """The algorithm beside the safe baseline; ``None`` where it is that baseline."""
    hand_tuned: PairedGaps | None
    """Beside the safe baseline of the whole library; ``None`` where that was not tested, or not fairly."""
    is_unmeasured: bool = False
    """Whether the hand-tuned code was tested under work units that nobody could make comparable."""


def conclusion(
    state: RunState, steps: Sequence[Step], own: TestedPairs, timed: TestedPairs | None = None
) -> str:
    """Return what a held-out test found of the algorithm `steps`, as one would tell it.

    `own` is what was found under the run's own budget, `timed` what in equal seconds under calibrated work.
    """
    measure = measure_of(state.header)
    if own.start is None:
        kept = "Nothing evolved was better than the start beyond doubt, so the start was kept"
        return f"{kept}{_beside_hand_tuned(own, measure)}."
    place = f"on {count_instances(own.start.instances, 'held-out')} (95 % interval)"
    text = f"Evolved {_beside_start(own.start, measure)} {place}"
    if _is_ahead(own.start):
        text += f", {_changes(state, steps)}"
    text += _beside_hand_tuned(own, measure)
    if timed is not None and timed.start is not None:
        text += f". In equal seconds it {_beside_start(timed.start, measure)}"
        text += _beside_hand_tuned(timed, measure)
    return f"{text}."


def _is_ahead(found: PairedGaps) -> bool:
    return found.points is not None and found.points.mean > 0.0 and not found.points.is_noise


def _beside_start(found: PairedGaps, measure: Measure) -> str:
    if found.points is None:
        return f"solves no instance that the start solves{_failures(found)}"
    if not found.points.mean and found.points.high in (None, 0.0):
        return f"does as the start does{_failures(found)}"
    if found.points.is_noise:
        side = "ahead of" if found.points.mean > 0.0 else "behind"
        return f"is {_size(found, measure)} {side} the start, within the noise{_failures(found)}"
    verb = "beats" if found.points.mean > 0.0 else "loses to"
    return f"{verb} the start by {_size(found, measure)}{_failures(found)}"


def _beside_hand_tuned(pairs: TestedPairs, measure: Measure) -> str:
    found = pairs.hand_tuned
    if pairs.is_unmeasured:
        return "; the work of the hand-tuned baseline could not be measured, so it is not compared"
    if found is None:
        return ""
    if found.points is None:
        return f", and solves no instance that the hand-tuned baseline solves{_failures(found)}"
    if not found.points.mean and found.points.high in (None, 0.0):
        return f", and does as the hand-tuned baseline does{_failures(found)}"
    side = "ahead of" if found.points.mean > 0.0 else "behind"
    noise = ", within the noise" if found.points.is_noise else ""
    return f", and stands {_size(found, measure)} {side} the hand-tuned baseline{noise}{_failures(found)}"


def _size(found: PairedGaps, measure: Measure) -> str:
    points = found.points
    assert points is not None
    reach = "" if points.high is None else f" ± {measure.gain(points.high - points.mean)}"
    return f"{measure.gain(abs(points.mean))}{reach}{measure.gain_unit}"


def _failures(found: PairedGaps) -> str:
    if not (found.failures or found.their_failures):
        return ""
    return f" (it failed on {found.failures}, the other on {found.their_failures})"


def _changes(state: RunState, steps: Sequence[Step]) -> str:
    """Return what of an algorithm evolved: its code, by position, or else its constants or its walk."""
    given = _given(state.header)
    code = [i for i, step in enumerate(steps) if state.unconfigured(step.implementation) not in given]
    if code:
        *others, last = [str(i + 1) for i in code]
        places = f"positions {', '.join(others)} and {last}" if others else f"position {last}"
        names = ", ".join(dict.fromkeys(steps[i].operator for i in code))
        return f"by evolved code in {places} of {len(steps)} ({names})"
    if any(step.implementation not in given for step in steps):
        return "by other constants of the library's code"
    return "by another pipeline of the library's code"


def _given(header: RunStarted) -> frozenset[ImplementationId]:
    """Return the implementations that the run began with."""
    match header:
        case RunStarted(library=operators):
            return frozenset(c.id for operator in operators for c in operator.implementations)
