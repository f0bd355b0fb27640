"""The theory's figures for a run: how large its space of algorithms is, how far its credits may go, how
thinly they are spread. All are functions of the folded state; none is in the log.

References
----------
DGA2D paper, Appendix D.2 (context cells), D.3 (walk counts, spectral radius), D.4 (bounded credits).
P. A. Samuelson, How deviant can you be?, Journal of the American Statistical Association 63 (1968): of N
numbers none is more than √(N−1) population standard deviations from their mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from dga2d.events import ImplementationId
from dga2d.replay.settings import CreditContext
from dga2d.replay.state.credit import CreditTable, context_after
from dga2d.replay.state.graph import END, START, OperatorGraph
from dga2d.replay.state.run_state import RunState

ORDERS: tuple[CreditContext, ...] = get_args(CreditContext)
"""Context orders r from the coarsest partition of the history to the finest."""


@dataclass(frozen=True)
class GenerationTheory:
    """Figures of one closed generation."""

    generation: int
    pipelines: int
    """W_{≤L_max} of the graph that was sampled (Eq. D.3)."""
    growth_rate: float
    """ρ* of that graph: 0 without cycles, else the growth rate of the number of pipelines of a length."""
    largest_credit: float
    """max |Q(e)| after the generation's update."""
    credit_bound: float
    """What |Q(e)| cannot exceed, see :func:`credit_bound`."""
    cells: dict[CreditContext, int]
    """d_r: distinct contexts of order r over all activations up to this generation."""


def generation_theory(state: RunState) -> tuple[GenerationTheory, ...]:
    """Return one row per closed generation of the run."""
    cells = ContextCells()
    rows, most_candidates = [], 1
    for number, closed in sorted(state.history.items()):
        cells.add(closed.walks)
        most_candidates = max(most_candidates, len(closed.walks))
        rows.append(
            GenerationTheory(
                generation=number,
                pipelines=closed.graph.count_pipelines(state.settings.max_length),
                growth_rate=growth_rate(closed.graph),
                largest_credit=largest_credit(closed.credits),
                credit_bound=credit_bound(closed.credits, most_candidates, state.settings.credit_rate),
                cells=cells.counts(),
            )
        )
    return tuple(rows)


def growth_rate(graph: OperatorGraph) -> float:
    """Return ρ*: the largest spectral radius among the strongly connected parts of the graph of all routes
    from ``START`` to ``END`` (Eq. D.3 ff.); exactly 0 when that graph has no cycle."""
    nodes = [START, *sorted(graph.relevant), END]
    index = {node: i for i, node in enumerate(nodes)}
    adjacency = np.zeros((len(nodes), len(nodes)))
    for source, target in graph.edges:
        if source in index and target in index:
            adjacency[index[source], index[target]] = 1.0
    reach = _reachability(adjacency > 0.0)
    mutual = reach & reach.T
    radius = 0.0
    for component in {tuple(np.flatnonzero(row)) for row in mutual if row.any()}:
        block = adjacency[np.ix_(component, component)]
        radius = max(radius, float(np.abs(np.linalg.eigvals(block)).max()))
    return radius


def _reachability(
    adjacent: np.ndarray[tuple[int, int], np.dtype[np.bool_]],
) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """Return whether a walk of at least one edge leads from row to column (Warshall's algorithm)."""
    reach = adjacent.copy()
    for via in range(len(reach)):
        reach |= np.outer(reach[:, via], reach[via])
    return reach


def largest_credit(credits: CreditTable) -> float:
    """Return max |Q(e)|, 0 for an empty table."""
    return max((abs(record.credit) for record in credits.records.values()), default=0.0)


def credit_bound(credits: CreditTable, pipelines: int, rate: float) -> float:
    """Return R_max (1 − (1−α)^n) with n the most activations of a transition: what |Q(e)| cannot exceed.

    Q starts at 0 and is a convex combination of n rewards and that 0 (Eq. D.4), and a standardised reward
    of N candidates is at most R_max = √(N−1) in size (Samuelson).
    """
    most = max((record.activations for record in credits.records.values()), default=0)
    return math.sqrt(pipelines - 1) * (1.0 - (1.0 - rate) ** most)


class ContextCells:
    """The contexts met so far, by order; their numbers d_r grow with r (nested partitions, D.2)."""

    def __init__(self) -> None:
        self._seen: dict[CreditContext, set[tuple[ImplementationId, ImplementationId]]] = {
            order: set() for order in ORDERS
        }

    def add(self, walks: Iterable[Sequence[ImplementationId]]) -> None:
        """Count the activations of candidates, given as implementations in order."""
        for walk in walks:
            for position, target in enumerate(walk):
                for order, seen in self._seen.items():
                    seen.add((context_after(walk[:position], order), target))

    def counts(self) -> dict[CreditContext, int]:
        """Return d_0 ≤ d_1 ≤ d_2 ≤ d_R."""
        return {order: len(seen) for order, seen in self._seen.items()}
