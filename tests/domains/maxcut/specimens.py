"""Random graphs and sides, and the card's decoder in plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import Instance
from dga2d.domains.maxcut import DOMAIN


def graph_instance(n_vertices: int, edges: list[tuple[int, int]], weights: list[int], name: str) -> Instance:
    """An instance of given edges, vertices from 0."""
    fields = {
        "n_vertices": n_vertices,
        "edges": np.array(edges, dtype=np.int32).reshape(len(edges), 2),
        "weights": np.array(weights, dtype=np.int32),
    }
    return Instance("maxcut", "random", name, fields)


def random_instance(n_vertices: int, n_edges: int, seed: int) -> Instance:
    """A graph with up to `n_edges` edges; weights 1, ±1 or -9 … 9, by the seed."""
    rng = np.random.default_rng(seed)
    pairs = [(a, b) for b in range(n_vertices) for a in range(b)]
    if len(pairs) > 100_000:
        ends = rng.integers(0, n_vertices, (n_edges, 2))
        chosen = sorted({(min(a, b), max(a, b)) for a, b in ends.tolist() if a != b})
    else:
        chosen = [pairs[k] for k in rng.permutation(len(pairs))[:n_edges].tolist()]
    weights: NDArray[np.int64] = (
        np.ones(len(chosen), np.int64),
        2 * rng.integers(0, 2, len(chosen)) - 1,
        rng.integers(-9, 10, len(chosen)),
    )[seed % 3]
    return graph_instance(n_vertices, chosen, weights.tolist(), f"{n_vertices}-{n_edges}-{seed}")


def random_sides(instance: Instance, seed: int) -> NDArray[np.int32]:
    """A random valid encoding."""
    n_vertices: int = instance.data["n_vertices"]
    return np.random.default_rng(seed).integers(0, 2, n_vertices, dtype=np.int32)


def plain_score(instance: Instance, sequence: Any) -> float:
    """The card's decoder in plain Python, on the CSR arrays."""
    environment = DOMAIN.environment(instance)
    sides = [int(side) for side in sequence]
    if len(sides) != environment["num_nodes"] or any(side not in (0, 1) for side in sides):
        return 999_999_999.0
    offsets, neighbours = environment["offsets"].tolist(), environment["neighbors"].tolist()
    weights = environment["edge_weights"].tolist()
    total = 0
    for v in range(environment["num_nodes"]):
        for place in range(offsets[v], offsets[v + 1]):
            if v < neighbours[place] and sides[v] != sides[neighbours[place]]:
                total += weights[place]
    return float(-total)
