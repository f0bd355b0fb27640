"""The generator of the X instances, in own code.

References
----------
E. Uchoa, D. Pecin, A. Pessoa, M. Poggi, T. Vidal, A. Subramanian, New benchmark instances for the capacitated
vehicle routing problem, European Journal of Operational Research 257(3), 2017: Section 4.
"""

from __future__ import annotations

import math
from typing import Final, Literal, NamedTuple

import numpy as np

from dga2d.domains.cvrp.reader import RoutingData

DepotPositioning = Literal["centre", "eccentric", "random"]
CustomerPositioning = Literal["random", "clustered", "half"]
DemandPattern = Literal["unitary", "1-10", "5-10", "1-100", "50-100", "quadrant", "many-small"]

SIDE: Final = 1000
"""Nodes are distinct points of the grid [0, SIDE]²."""
DECAY: Final = 40.0
"""Distance over which a cluster's attraction falls to 1/e."""
_SMALL_SHARE: Final = (0.70, 0.95)
"""``many-small``: the share of small demands is uniform between these."""
_RANGES: Final[dict[str, tuple[int, int]]] = {
    "unitary": (1, 1),
    "1-10": (1, 10),
    "5-10": (5, 10),
    "1-100": (1, 100),
    "50-100": (50, 100),
}

Point = tuple[int, int]


class Recipe(NamedTuple):
    """The parameters of one instance."""

    n_customers: int
    depot: DepotPositioning
    customers: CustomerPositioning
    demands: DemandPattern
    route_length: float
    """r: about as many customers fit into a route; the paper draws it from a triangular T(3, 6, 25)."""
    seed: int


class _Stream:
    """Random numbers of one instance; uniform floats alone, which no version of numpy draws differently."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.Generator(np.random.Philox(seed))

    def unit(self) -> float:
        return float(self._rng.random())

    def integer(self, low: int, high: int) -> int:
        """Uniform on low … high."""
        return low + math.floor(self.unit() * (high - low + 1))

    def point(self) -> Point:
        return self.integer(0, SIDE), self.integer(0, SIDE)


def generate(recipe: Recipe) -> RoutingData:
    """Return the instance of a recipe: capacity ⌈r · total demand / customers⌉, no less than any demand."""
    stream = _Stream(recipe.seed)
    depot = _depot(stream, recipe.depot)
    customers = _customers(stream, recipe, depot)
    demands = _demands(stream, recipe.demands, customers)
    capacity = max(math.ceil(recipe.route_length * sum(demands) / len(demands)), max(demands))
    coords = np.array([depot, *customers], dtype=np.float64)
    return RoutingData(coords, "EUC_2D", None, np.array([0, *demands], dtype=np.int64), capacity)


def _depot(stream: _Stream, positioning: DepotPositioning) -> Point:
    if positioning == "centre":
        return SIDE // 2, SIDE // 2
    if positioning == "eccentric":
        return 0, 0
    return stream.point()


def _customers(stream: _Stream, recipe: Recipe, depot: Point) -> list[Point]:
    """Uniform customers first, then the seeds of the clusters, then what the seeds attract."""
    n = recipe.n_customers
    n_uniform = {"random": n, "clustered": 0, "half": n // 2}[recipe.customers]
    customers: list[Point] = []
    used = {depot}
    while len(customers) < n_uniform:
        _add_free_point(stream, customers, used)
    if n_uniform == n:
        return customers
    n_seeds = min(stream.integer(3, 8), n - n_uniform)
    while len(customers) < n_uniform + n_seeds:
        _add_free_point(stream, customers, used)
    seeds = customers[n_uniform:]
    strongest = max(_attraction(seed, seeds) for seed in seeds)
    while len(customers) < n:
        point = stream.point()
        if point not in used and stream.unit() * strongest <= _attraction(point, seeds):
            used.add(point)
            customers.append(point)
    return customers


def _add_free_point(stream: _Stream, customers: list[Point], used: set[Point]) -> None:
    point = stream.point()
    if point not in used:
        used.add(point)
        customers.append(point)


def _attraction(point: Point, seeds: list[Point]) -> float:
    """Proportional to the probability that a clustered customer lies at `point`."""
    return sum(math.exp(-math.dist(point, seed) / DECAY) for seed in seeds)


def _demands(stream: _Stream, pattern: DemandPattern, customers: list[Point]) -> list[int]:
    if pattern == "quadrant":  # small demands in the even quadrants round the centre, large ones in the odd
        return [
            stream.integer(1, 50) if (x < SIDE / 2) != (y < SIDE / 2) else stream.integer(51, 100)
            for x, y in customers
        ]
    if pattern == "many-small":
        low, high = _SMALL_SHARE
        share = low + stream.unit() * (high - low)
        return [
            stream.integer(1, 10) if stream.unit() < share else stream.integer(50, 100) for _ in customers
        ]
    low_demand, high_demand = _RANGES[pattern]
    return [stream.integer(low_demand, high_demand) for _ in customers]
