"""The problem card of the maximum independent set (facts: DGA2D paper, Appendix C.5)."""

from __future__ import annotations

from dga2d.domains.core.contract import Card

INVALID_SCORE = 999_999_999
"""Score of a vector that is malformed or selects two adjacent vertices."""

CARD = Card(
    title="Maximum Independent Set (MIS)",
    objective=(
        "Find a set S of vertices of an undirected graph, no two of them adjacent, with as many vertices as "
        "possible. |S| is maximised; the score, which is minimised, is -|S|."
    ),
    encoding=(
        "state.sequence: int32 array of length num_vertices; entry i is 1 when vertex i is in the set and 0 "
        "when it is not. state.metadata is unused."
    ),
    decoder=(
        "Collects the vertices whose entry is 1 and checks that no two of them are adjacent in adj. The "
        "score is minus their number; an infeasible or malformed vector scores 999999999. The empty set is "
        "feasible and scores 0."
    ),
    environment={
        "num_vertices": "int: number of vertices n",
        "total_vertices": "int: the same number under its second name",
        "adj": "uint8 (n, n): 1 where two vertices are adjacent, else 0; symmetric, zero diagonal",
    },
    constraints=(
        "The vector has length num_vertices and holds only 0 and 1; of two vertices u, v with adj[u, v] = 1 "
        "at most one may be selected, after every operator."
    ),
)
