"""What a work unit is worth: measured rates of implementations, and the scale of their charges.

Work units are counted by the code that does the work, so a unit of one implementation need not cost what a
unit of another does. The rate of an implementation is measured once, when a run first needs it: the units it
charges per second of processor time, on training instances of different sizes. The rate of the last position
of the domain's safe baseline is the *reference*: a unit counts as `reference rate / own rate` units from then
on. What a call takes besides, where that was measured, counts as the reference's units of that time.
Measurements are observations; all that follows from them is computed here, and again by a replay.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from immutables import Map

from dga2d.events import ImplementationId
from dga2d.events.payloads import WorkRatePoint

BASELINE = "baseline"
"""Subject of the reference measurement."""
RESOLUTION_S = 0.002
"""Processor time below which no rate is taken from a measurement: its units are left as they are."""


class ScalePoint(NamedTuple):
    """The scale of an implementation's charges at one size of instance."""

    size: int
    scale: float


class CallPoint(NamedTuple):
    """What a call of an implementation costs at one size of instance."""

    size: int
    units: float


class RatePoint(NamedTuple):
    """Units per second of processor time at one size of instance."""

    size: int
    rate: float


@dataclass(frozen=True)
class WorkRates:
    """Everything that has been measured in a run."""

    reference: tuple[RatePoint, ...] = ()
    """Rate of the safe baseline on the machine of the present process, by ascending size; empty where its
    runs were too short to measure."""
    reference_seq: int = 0
    """Event that brought it; 0 before."""
    scales: Map[ImplementationId, tuple[ScalePoint, ...]] = Map()
    """By implementation and ascending size."""
    calls: Map[ImplementationId, tuple[CallPoint, ...]] = Map()
    """By implementation and ascending size; of those whose calls cost nothing besides, none."""
    measured: Map[str, tuple[WorkRatePoint, ...]] = Map()
    """The figures themselves, by subject; of the baseline those of the first process."""

    @property
    def first_reference(self) -> tuple[RatePoint, ...]:
        """The reference as the run's first process measured it."""
        return _rates(self.measured.get(BASELINE, ()))

    @property
    def middle(self) -> RatePoint | None:
        """The reference on an instance of middle size, which stands for all where one figure is told, or
        ``None`` while no reference is known."""
        return self.reference[len(self.reference) // 2] if self.reference else None

    def scale(self, implementation: ImplementationId, size: int) -> float:
        """Return what one unit charged by `implementation` counts on an instance of `size` numbers.

        Between measured sizes its logarithm is interpolated over that of the size; beyond them the nearest
        one holds. 1 where nothing could be measured. Rounded to three digits: measurements have no more, and
        machines whose logarithms differ in the last place agree.
        """
        points = self.scales.get(implementation, ())
        return float(f"{_interpolate([(p.size, p.scale) for p in points], size):.3g}") if points else 1.0

    def call_cost(self, implementation: ImplementationId, size: int) -> float:
        """Return the units that a call of `implementation` counts besides what it charges on an instance of
        `size` numbers.

        It is linear between measured sizes and proportional to the size beyond them, as reading the numbers
        of an instance is. Rounded to three digits.
        """
        points = self.calls.get(implementation, ())
        return float(f"{_linear(points, size):.3g}") if points else 0.0

    def seconds(self, work: float, size: int) -> float | None:
        """Return the processor time that `work` units stand for, ``None`` while no reference is known."""
        if not self.reference:
            return None
        return work / _interpolate([(p.size, p.rate) for p in self.reference], size)

    def alike(self, work: float, size: int) -> float:
        """Return the units that take the safe baseline as long on an instance of `size` numbers as `work`
        units take it on one of middle size.

        They go by the first process's rates: a run that is resumed elsewhere keeps its budgets.
        """
        rates = self.first_reference
        if not rates:
            return work
        return work * _interpolate([(p.size, p.rate) for p in rates], size) / rates[len(rates) // 2].rate

    def with_reference(self, points: Sequence[WorkRatePoint], seq: int) -> WorkRates:
        """Return a copy in which the safe baseline was measured by the event `seq`."""
        measured = self.measured if BASELINE in self.measured else self.measured.set(BASELINE, tuple(points))
        return replace(self, reference=_rates(points), reference_seq=seq, measured=measured)

    def with_implementation(self, name: ImplementationId, points: Sequence[WorkRatePoint]) -> WorkRates:
        """Return a copy in which `name` was measured; its scales and the costs of its calls refer to the
        present reference."""
        reference = [(p.size, p.rate) for p in self.reference]
        told = [p for p in points if reference and is_measurable(p)]
        scales = [ScalePoint(p.size, _interpolate(reference, p.size) * p.cpu_s / p.work) for p in told]
        calls = [CallPoint(p.size, _interpolate(reference, p.size) * p.call_s) for p in told]
        has_costs = any(point.units > 0.0 for point in calls)
        return replace(
            self,
            scales=self.scales.set(name, tuple(sorted(scales))),
            calls=self.calls.set(name, tuple(sorted(calls))) if has_costs else self.calls,
            measured=self.measured.set(name, tuple(points)),
        )

    def configured_alike(self, child: ImplementationId, parent: ImplementationId) -> WorkRates:
        """Return a copy in which `child` counts as `parent` does, if that was measured."""
        rates = self
        if (scales := rates.scales.get(parent)) is not None:
            rates = replace(rates, scales=rates.scales.set(child, scales))
        if (calls := rates.calls.get(parent)) is not None:
            rates = replace(rates, calls=rates.calls.set(child, calls))
        return rates


def is_measurable(point: WorkRatePoint) -> bool:
    """Return whether a rate can be taken from a measurement."""
    return point.work > 0 and point.cpu_s >= RESOLUTION_S


def _rates(points: Sequence[WorkRatePoint]) -> tuple[RatePoint, ...]:
    return tuple(sorted(RatePoint(p.size, p.work / p.cpu_s) for p in points if is_measurable(p)))


def _linear(points: Sequence[CallPoint], size: int) -> float:
    """Return the units at `size`; `points` are of ascending size, at least one."""
    for low, high in pairwise(points):
        if low.size <= size <= high.size and low.size < high.size:
            return low.units + (high.units - low.units) * (size - low.size) / (high.size - low.size)
    nearest = points[0] if size <= points[0].size else points[-1]
    return nearest.units * size / nearest.size


def _interpolate(points: Sequence[tuple[int, float]], size: int) -> float:
    """Return the value at `size`; `points` are of ascending size, at least one, all above 0."""
    for (x0, y0), (x1, y1) in pairwise(points):
        if x0 <= size <= x1 and x0 < x1:
            share = math.log(size / x0) / math.log(x1 / x0)
            return math.exp((1.0 - share) * math.log(y0) + share * math.log(y1))
    return points[0][1] if size <= points[0][0] else points[-1][1]
