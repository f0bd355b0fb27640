"""Random cities and tours, and the card's decoder in plain Python."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from tests.domains.library_claims import Size

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.tsp import DOMAIN


def instance_of(coords: object, name: str = "points") -> Instance:
    """The cities at `coords`, `(n, 2)`."""
    return Instance("tsp", "test", name, {"coords": np.array(coords, dtype=np.float64).reshape(-1, 2)})


def random_cities(size: Size, seed: int) -> Instance:
    """Some cities: spread, many in one place, on a line, or with fractions of a unit, by the seed."""
    rng = np.random.default_rng(seed)
    spread = rng.integers(0, 1000, size=(size[0], 2)).astype(np.float64)
    kinds = (
        spread,
        spread[rng.integers(0, max(size[0] // 3, 1), size=size[0])],
        spread * [1.0, 0.0],
        spread + rng.random(spread.shape),
    )
    return instance_of(kinds[seed % 4], f"{size[0]}-{seed}")


def random_tour(instance: Instance, seed: int) -> NDArray[np.int32]:
    """A random valid encoding."""
    return np.random.default_rng(seed).permutation(len(instance.data["coords"])).astype(np.int32)


def plain_length(instance: Instance, state: State) -> float:
    """The card's decoder in plain Python; only int32 arrays are tours."""
    tour = state.sequence
    points = instance.data["coords"].tolist()
    if tour.dtype != np.int32 or sorted(tour.tolist()) != list(range(len(points))):
        return DOMAIN.invalid_score
    total = 0
    cities = tour.tolist()
    for here, there in zip(cities, cities[1:] + cities[:1], strict=True):
        dx, dy = points[here][0] - points[there][0], points[here][1] - points[there][1]
        total += int(math.sqrt(dx * dx + dy * dy) + 0.5)
    return float(total)
