"""The problem card of the CVRP (facts of the DGA2D paper, Appendix C.5)."""

from __future__ import annotations

from typing import Final

from dga2d.domains.core.contract import Card

INVALID_SCORE: Final = 999_999_999

CARD: Final = Card(
    title="Capacitated vehicle routing problem (CVRP)",
    objective=(
        "Serve every customer from one depot with vehicles of equal capacity; the total length of all "
        "routes is minimised. The number of routes is free."
    ),
    encoding=(
        "state.sequence: flat int32 array of customer ids 1 … num_nodes-1 in the order of their visit, "
        "routes separated by the depot marker 0: [1, 2, 0, 3, 4] are the routes (1, 2) and (3, 4). Neither "
        "the first nor the last depot visit is written, so r routes give num_nodes-1 + r-1 entries. "
        "state.metadata is unused."
    ),
    decoder=(
        "Splits the sequence at the zeros. A route costs the edge from depot_idx to its first customer, "
        "those between consecutive customers and the one from its last customer back; route costs are "
        "added. Anything that breaks a constraint scores 999999999."
    ),
    environment={
        "dist_matrix": "int32 (num_nodes, num_nodes): edge lengths, symmetric, zero diagonal",
        "demands": "int64 (num_nodes,): demand of each node, non-negative, 0 at the depot",
        "capacity": "int: what one vehicle can carry; no single demand exceeds it",
        "num_nodes": "int: number of nodes, the depot included",
        "depot_idx": "int: index of the depot in the arrays, always 0",
    },
    constraints=(
        "Each customer 1 … num_nodes-1 occurs exactly once; the demands of a route add up to at most "
        "capacity; no zero stands at either end or next to another (no empty routes); no other ids occur."
    ),
)
