"""The problem card of the TSP (facts of the DGA2D paper, Appendix C.5)."""

from __future__ import annotations

from typing import Final

from dga2d.domains.core.contract import Card

CARD: Final = Card(
    title="Travelling salesman problem (TSP)",
    objective="Find the shortest closed tour that visits each of n cities once; its length is minimised.",
    encoding=(
        "state.sequence: int32 array of length n, a permutation of the cities 0 … n-1 in the order of their "
        "visit, read as a cycle: rotations and the mirror image are the same tour. state.metadata is unused."
    ),
    decoder=(
        "Adds distance_matrix[a, b] over all cyclically consecutive cities a, b, the edge from the last city "
        "to the first included. Distances are TSPLIB's EUC_2D: floor(sqrt(dx² + dy²) + 0.5). A sequence that "
        "is no permutation scores 999999999."
    ),
    environment={
        "num_nodes": "int: number of cities n",
        "coords": "float64 (n, 2): x and y of each city; cities may coincide",
        "distance_matrix": "int64 (n, n): rounded Euclidean distances, symmetric, zero diagonal",
        "upper_bound": "int: length of the nearest-neighbour tour from city 0 (ties to the lower index)",
    },
    constraints=(
        "The sequence has length num_nodes and contains each index 0 … num_nodes-1 exactly once, after every "
        "operator."
    ),
)
