"""What a graph may look like: the structures of the paper's ablation, from one chain to any directed graph.

References
----------
DGA2D paper, Section 4.3.1 (Fixed, Linear, DAG, DG: each relaxes the constraints of the one before). What
each of them allows is this program's reading (`docs/decisions.md`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from dga2d.events import OperatorId
from dga2d.events.payloads import Edge
from dga2d.replay.settings import Structure
from dga2d.replay.state.graph import END, START, OperatorGraph


def violation(edges: Iterable[Edge], structure: Structure) -> str | None:
    """Why `edges` are not of the structure, ``None`` if they are.

    - ``dg``: anything goes.
    - ``dag``: no directed cycle among the operators.
    - ``linear``: chains. No cycle, and no operator has two successors or two predecessors; ``START`` may
      lead to several chains, and a pipeline may leave its chain wherever there is an edge to ``END``.
    - ``fixed``: one chain from ``START`` to ``END``.
    """
    if structure == "dg":
        return None
    inner = [e for e in edges if structure == "fixed" or (e[0] != START and e[1] != END)]
    if structure in ("linear", "fixed"):
        for end, role in ((0, "successors"), (1, "predecessors")):
            node, count = max(
                Counter(e[end] for e in inner).items(), key=lambda n: (n[1], n[0]), default=("", 0)
            )
            if count > 1:
                return f"{node} has {count} {role}, the structure is {structure}"
    on_cycle = _node_on_cycle(inner)
    return None if on_cycle is None else f"{on_cycle} lies on a cycle, the structure is {structure}"


def restricted(graph: OperatorGraph, structure: Structure, baseline: Sequence[OperatorId]) -> OperatorGraph:
    """The part of `graph` that is of the structure.

    Edges are kept greedily as long as the structure holds: those of the baseline's chain first, then the
    others in sorted order. ``fixed`` keeps the baseline's chain alone, each operator once, whether or not
    its edges were in the graph.
    """
    if structure == "dg":
        return graph
    chain = tuple(pairwise((START, *dict.fromkeys(baseline), END)))
    if structure == "fixed":
        on_chain = tuple(sorted(set(baseline)))
        return OperatorGraph(on_chain, graph.initialisers & set(on_chain), frozenset(chain))
    kept: list[Edge] = []
    first = [edge for edge in chain if edge in graph.edges]
    for edge in (*first, *sorted(graph.edges - set(first))):
        if violation([*kept, edge], structure) is None:
            kept.append(edge)
    return OperatorGraph(graph.operators, graph.initialisers, frozenset(kept))


def _node_on_cycle(edges: Sequence[Edge]) -> OperatorId | None:
    """The smallest node that remains when nodes without successors are taken away again and again."""
    left = set(edges)
    while left:
        sources = {source for source, _ in left}
        following = {edge for edge in left if edge[1] in sources}
        if following == left:
            return min(target for _, target in left)
        left = following
    return None
