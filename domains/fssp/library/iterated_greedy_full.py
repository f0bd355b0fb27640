"""Iterated greedy: jobs are removed and reinserted, then the whole order is improved.

Method: a few random jobs leave the order and come back one by one at their best places; reinsertions of
single jobs follow until a local optimum; a Metropolis test at constant temperature decides from
which order the search goes on.

Source: R. Ruiz, T. Stützle, A simple and effective iterated greedy algorithm for the permutation flowshop
scheduling problem, 2007 (IG_RS with local search).

Complexity: O(n m) per reinsertion for n jobs on m machines; uses its whole share of the budget.
"""

import numpy as np
from numba import njit
from parts.disturbance import remove_jobs
from parts.insertion import insert_job, rebuild_repeatedly

REMOVED = 4  # tunable: int 1..20
TEMPERATURE = 0.4  # tunable: float 0.0..5.0


# exchangeable: tie-breaking
@njit(cache=True)
def choose_place(job, order, size, times, e, value, rng):
    """The first of the places 0..size with the least `value`."""
    chosen = 0
    for place in range(1, size + 1):
        if value[place] < value[chosen]:
            chosen = place
    return chosen


@njit(cache=True)
def rebuild(order, removed, times, work, rng):
    """Take random jobs, as many as `removed` holds, out of `order` and insert them again; the makespan."""
    remove_jobs(order, removed.size, removed, rng)
    value = 0
    for i in range(removed.size):
        value = insert_job(removed[i], order, order.size - removed.size + i, times, work, rng)
    return value


def run(env_data, state, calc_makespan_fn):
    """Improve `state` until the share of the budget is spent or a lower bound is met."""
    removed = np.zeros(min(REMOVED, env_data["num_jobs"] - 1), np.int32)
    return rebuild_repeatedly(env_data, state, calc_makespan_fn, removed, TEMPERATURE)
