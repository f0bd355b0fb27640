"""The problem card of maximum cut (facts: DGA2D paper, Appendix C.5)."""

from __future__ import annotations

from dga2d.domains.core.contract import Card

INVALID_SCORE = 999_999_999
"""Score of a state that is no partition; every cut weighs less, in both directions."""

CARD = Card(
    title="Maximum Cut (Max-Cut)",
    objective=(
        "Divide the vertices of an undirected graph with integer edge weights, which may be negative, into "
        "two sets so that the edges between the sets weigh as much as possible. Scores are minimised: the "
        "score is minus the weight of the cut, so a heavier cut has a lower score."
    ),
    encoding=(
        "state.sequence: int32 array of length num_nodes, sequence[i] = 0 or 1 names the side of vertex i. "
        "Turning over all entries gives the same cut. state.metadata is unused."
    ),
    decoder=(
        "Goes through the graph in CSR form (offsets, neighbors, edge_weights), adds the weight of each edge "
        "whose end points lie on different sides, once, and returns minus the sum. A sequence of another "
        f"length or with another entry than 0 and 1 scores {INVALID_SCORE}."
    ),
    environment={
        "num_nodes": "int: number of vertices n",
        "num_edges": "int: number of undirected edges m",
        "neighbors": (
            "int32 (2 m,): neighbors[offsets[v]:offsets[v + 1]] are the neighbours of vertex v, ascending; "
            "each edge stands there twice, once from either end"
        ),
        "edge_weights": "int32 (2 m,): weight of the edge to the neighbour at the same place",
        "offsets": "int32 (n + 1,): where the neighbours of each vertex begin, from 0 to 2 m",
    },
    constraints=(
        "Exactly num_nodes entries, each 0 or 1. All indices into the CSR arrays must stay within them: "
        "vertices in 0..num_nodes-1, places in 0..2*num_edges-1."
    ),
)
