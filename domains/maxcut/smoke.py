"""The instance for trying new implementations: the Petersen graph with two heavy edges and a negative one.

A graph of ten vertices, so that all 512 cuts can be counted (the tests do): the heaviest weighs 13.
"""

from __future__ import annotations

import numpy as np

from dga2d.domains.maxcut.graph import WeightedGraph

OPTIMUM = 13


def petersen() -> WeightedGraph:
    """Outer circle 0-4, inner star 5-9; edges 0-1 and 5-7 weigh 2, edge 3-8 weighs -1, the others 1."""
    outer = [(v, (v + 1) % 5) for v in range(5)]
    spokes = [(v, v + 5) for v in range(5)]
    inner = [(5 + v, 5 + (v + 2) % 5) for v in range(5)]
    edges = np.array([(min(e), max(e)) for e in outer + spokes + inner], dtype=np.int32)
    weights = np.ones(15, dtype=np.int32)
    weights[0] = weights[10] = 2
    weights[8] = -1
    return WeightedGraph(10, edges, weights)
