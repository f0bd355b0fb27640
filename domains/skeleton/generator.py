"""Instances the domain makes itself, with their optimal values."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from dga2d.domains.core.contract import InstanceRef, Reference
from dga2d.domains.skeleton.card import NAME
from dga2d.domains.skeleton.reader import Items

N_ITEMS: Final = {"correlated": 50, "independent": 80}
"""Benchmark group → number of items; each group is split into training, validation and test by itself."""
N_INSTANCES: Final = 10
"""Instances per group."""
MAX_WEIGHT: Final = 1000
SOURCE: Final = "computed by dynamic programming over the capacity"


def generate(group: str, index: int) -> Items:
    """Return the instance with number `index` of a group; the same on every machine.

    Values are independent of the weights, or exceed them by a constant (strongly correlated: D. Pisinger,
    Where are the hard knapsack problems?, 2005). The capacity is a third of all weights.
    """
    n = N_ITEMS[group]
    rng = np.random.Generator(np.random.Philox([n, index]))
    weights = rng.integers(1, MAX_WEIGHT + 1, n).astype(np.int32)
    if group == "correlated":
        values = (weights + MAX_WEIGHT // 10).astype(np.int32)
    else:
        values = rng.integers(1, MAX_WEIGHT + 1, n).astype(np.int32)
    return Items(int(weights.sum()) // 3, values, weights)


def optimal_value(items: Items) -> int:
    """Best value of any packing, by Bellman's recursion: O(n capacity)."""
    best = np.zeros(items.capacity + 1, np.int64)
    for value, weight in zip(items.values.tolist(), items.weights.tolist(), strict=True):
        if weight <= items.capacity:
            best[weight:] = np.maximum(best[weight:], best[: best.size - weight] + value)
    return int(best[-1])


@cache
def generated_refs() -> tuple[InstanceRef, ...]:
    """Return all generated instances with references, sorted by key."""
    return tuple(
        InstanceRef(
            NAME, group, f"{group}{index:02d}", None, Reference(_optimum(group, index), "optimal", SOURCE)
        )
        for group in sorted(N_ITEMS)
        for index in range(N_INSTANCES)
    )


def _optimum(group: str, index: int) -> float:
    return float(optimal_value(generate(group, index)))


def generated_items(ref: InstanceRef) -> Items | None:
    """Return the items of a generated instance; ``None`` if it is none."""
    known = {other.key: other for other in generated_refs()}
    return generate(ref.group, int(ref.name[-2:])) if ref.key in known else None
