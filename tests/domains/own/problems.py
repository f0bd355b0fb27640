"""Small problems, one for each encoding."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import dga2d
from dga2d.domains.own.encodings import Encoding
from dga2d.domains.own.problem import Fields

Arrays = dict[str, Any]
WORKS = """\
import numpy as np
import dga2d


class Tiny(dga2d.Problem):
    '''A tiny problem.'''

    def instances(self):
        return [{"weights": [3, 1, 2]}] * 5

    def encoding(self, instance):
        return dga2d.Permutation(len(instance.weights))

    def score(self, instance, order):
        return (instance.weights[order] * np.arange(3)).sum()
"""
"""Twelve lines of a problem; `score` is on line 14."""


class Ordering(dga2d.Problem):
    """Orders whose neighbours differ little, and in which heavy entries come early."""

    def instances(self) -> list[Arrays]:
        rng = np.random.default_rng(1)
        return [{"places": rng.random(7), "weights": rng.integers(1, 9, 7)} for _ in range(5)]

    def encoding(self, instance: Fields) -> Encoding:
        return dga2d.Permutation(len(instance.places))

    def score(self, instance: Fields, order: NDArray[Any]) -> float:
        path = np.abs(np.diff(instance.places[order])).sum()
        return float(path + 0.1 * (instance.weights[order] * np.arange(order.size)).sum())


class Shifts(dga2d.Problem):
    """A sequence of shifts in which equal ones lie apart."""

    def instances(self) -> list[Arrays]:
        return [{"counts": [3, 2, 1 + k]} for k in range(5)]

    def encoding(self, instance: Fields) -> Encoding:
        return dga2d.Sequence(instance.counts)

    def score(self, instance: Fields, shifts: NDArray[Any]) -> float:
        return float((shifts[1:] == shifts[:-1]).sum())


class Loading(dga2d.Problem):
    """Items in vehicles of limited capacity, few vehicles used."""

    def instances(self) -> list[Arrays]:
        rng = np.random.default_rng(2)
        return [
            {"sizes": rng.integers(1, 6, 8), "capacity": 12, "costs": rng.integers(1, 9, (8, 4))}
            for _ in range(5)
        ]

    def encoding(self, instance: Fields) -> Encoding:
        return dga2d.Assignment(len(instance.sizes), 4)

    def score(self, instance: Fields, vehicle: NDArray[Any]) -> float:
        return float(instance.costs[np.arange(vehicle.size), vehicle].sum() + 5 * np.unique(vehicle).size)

    def check(self, instance: Fields, vehicle: NDArray[Any]) -> float:
        loads = np.bincount(vehicle, weights=instance.sizes, minlength=4)
        return float(np.maximum(loads - instance.capacity, 0).sum())


class Knapsack(dga2d.Problem):
    """Items of great value that together are not too heavy."""

    sense = "max"

    def instances(self) -> list[Arrays]:
        rng = np.random.default_rng(3)
        return [
            {"values": rng.integers(1, 20, 9), "weights": rng.integers(1, 9, 9), "capacity": 15}
            for _ in range(5)
        ]

    def encoding(self, instance: Fields) -> Encoding:
        return dga2d.Subset(len(instance.values))

    def score(self, instance: Fields, chosen: NDArray[Any]) -> float:
        return float((instance.values * chosen).sum())

    def check(self, instance: Fields, chosen: NDArray[Any]) -> float:
        return float(max(0, (instance.weights * chosen).sum() - instance.capacity))


class Team(Knapsack):
    """A team of three with great values."""

    def encoding(self, instance: Fields) -> Encoding:
        return dga2d.Subset(len(instance.values), size=3)

    def check(self, instance: Fields, chosen: NDArray[Any]) -> float:
        return 0.0


class Sphere(dga2d.Problem):
    """A point near a target that lies partly out of reach."""

    def instances(self) -> list[Arrays]:
        return [{"target": np.linspace(-0.2 * k, 1.0, 4)} for k in range(5)]

    def encoding(self, instance: Fields) -> Encoding:
        return dga2d.RealVector(4, 0.0, [1.0, 2.0, 1.0, 1.0])

    def score(self, instance: Fields, x: NDArray[Any]) -> float:
        return float(((x - instance.target) ** 2).sum())


class Roster(dga2d.Problem):
    """Workers on shifts, an order in which they choose, and who is on call."""

    def instances(self) -> list[Arrays]:
        rng = np.random.default_rng(6)
        return [{"wanted": rng.integers(0, 3, (4, 3)), "pay": rng.random(4)} for _ in range(5)]

    def encoding(self, instance: Fields) -> Encoding:
        return dga2d.Arrays(
            shifts=dga2d.Array(instance.wanted.shape, 0, 2),
            rates=dga2d.Array(4, 0.5, 2.0, float),
            order=dga2d.Permutation(4),
            oncall=dga2d.Subset(4, size=2),
        )

    def score(self, instance: Fields, solution: Any) -> float:
        late = (solution.order * instance.pay * solution.rates).sum()
        return float(np.abs(solution.shifts - instance.wanted).sum() + late + solution.oncall[0])

    def check(self, instance: Fields, solution: Any) -> float:
        return float(max(0, 3 - solution.shifts.sum()))


EVERY: tuple[type[dga2d.Problem], ...] = (Ordering, Shifts, Loading, Knapsack, Team, Sphere, Roster)
