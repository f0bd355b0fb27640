"""Descent by reinsertion of single jobs, with Taillard's acceleration.

Method: jobs are taken in random order; each leaves the order and comes back at its best place, found for all
places at once from heads and tails. As many failures in a row as there are jobs are a local optimum.

Source: E. Taillard, Some efficient heuristic methods for the flow shop sequencing problem, 1990; R. Ruiz,
T. Stützle, A simple and effective iterated greedy algorithm for the permutation flowshop scheduling problem,
2007 (random order, stopping rule).

Complexity: O(n m) per reinsertion for n jobs on m machines.
"""

import numpy as np
from parts.completion import close_order, open_order, work_arrays
from parts.insertion import CHUNK_OPERATIONS, descend
from parts.random_ties import choose_place as choose_place

DESCENTS = 1  # tunable: int 1..20


def run(env_data, state, calc_makespan_fn):
    """Descend from `state` to a local optimum DESCENTS times (plateaus are crossed at random)."""
    n, budget, rng = env_data["num_jobs"], env_data["budget"], env_data["rng"]
    times, given, order, value = open_order(env_data, state, calc_makespan_fn)
    queue, work = order.copy(), work_arrays(times)
    chunk = max(50, CHUNK_OPERATIONS // times.size)
    for _ in range(DESCENTS):
        status = np.zeros(2, np.int64)
        while status[1] < n and not budget.exhausted():
            made, value = descend(chunk, order, n, value, times, work, queue, status, rng)
            budget.charge(made)
    return close_order(env_data, state, order, value, given)
