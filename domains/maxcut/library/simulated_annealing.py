"""Simulated annealing over single flips.

Method: sweeps over all vertices in index order; a flip that loses is made with probability exp(gain /
temperature), which is looked up in a table. The temperature falls with the share of the budget left, from HOT
to COLD times the root of the mean sum of squared weights at a vertex; a descent ends it.
Source: T. Myklebust, "Solving maximum cut problems by simulated annealing" (2015); S. Kirkpatrick, C. Gelatt,
M. Vecchi, "Optimization by simulated annealing" (1983).
Complexity: O(n) per sweep and O(degree) per flip. Work units: one per sweep.
"""

import numpy as np
from parts.annealing import anneal, cooling, heat_unit, odds_table
from parts.gains import descend, open_cut

HOT = 0.35  # tunable: float 0.1..1.5
COLD = 0.05  # tunable: float 0.01..0.2

CHUNK_ARCS = 400_000


def run(env_data, state, calc_makespan_fn):
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_nodes"]
    graph, x, gains, cut = open_cut(env_data, state)
    offsets, neighbors, weights = graph
    best, best_cut = x.copy(), cut
    table, unit = odds_table(1024), heat_unit(weights, n)
    random_state = rng.integers(1, 2**63, 1).astype(np.uint64)
    sweeps = max(1, min(CHUNK_ARCS // (n + neighbors.size // 4), 20))
    while not budget.exhausted():
        heat = unit * cooling(HOT, COLD, 1.0 - budget.remaining())
        cut += anneal(x, gains, offsets, neighbors, weights, table, heat, sweeps, random_state)
        budget.charge(sweeps)
    cut += descend(x, gains, offsets, neighbors, weights)
    if cut > best_cut:
        best = x
    state.sequence = ((best + 1) // 2).astype(np.int32)
    return state
