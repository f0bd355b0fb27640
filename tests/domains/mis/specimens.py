"""Random graphs and sets, and the card's decoder in plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import Instance


def graph_instance(adjacency: NDArray[np.uint8], name: str) -> Instance:
    return Instance("mis", "random", name, {"adjacency": adjacency})


def random_graph(n: int, percent: int, seed: int) -> Instance:
    """Each pair of `n` vertices is an edge with a probability of `percent` percent."""
    draws = np.triu(np.random.default_rng(seed).integers(0, 100, (n, n)) < percent, 1)
    return graph_instance((draws | draws.T).astype(np.uint8), f"{n}-{percent}-{seed}")


def random_set(instance: Instance, seed: int) -> NDArray[np.int32]:
    """The vector of a random independent set, maximal where the seed is odd."""
    rng = np.random.default_rng(seed)
    adjacency = instance.data["adjacency"]
    sequence = np.zeros(len(adjacency), np.int32)
    for vertex in rng.permutation(len(adjacency)):
        if not (adjacency[vertex] & sequence).any() and (seed % 2 or rng.random() < 0.5):
            sequence[vertex] = 1
    return sequence


def plain_score(instance: Instance, sequence: Any) -> float:
    """The card's decoder in plain Python."""
    adjacency = instance.data["adjacency"].tolist()
    values = [int(value) for value in sequence]
    chosen = [vertex for vertex, value in enumerate(values) if value == 1]
    if len(values) != len(adjacency) or set(values) - {0, 1}:
        return 999_999_999.0
    for u in chosen:
        for v in chosen:
            if adjacency[u][v]:
                return 999_999_999.0
    return -float(len(chosen))
