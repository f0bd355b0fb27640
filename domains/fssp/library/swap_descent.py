"""Descent by exchanges of two jobs.

Method: pairs of places at most REACH apart are tried in random order of the first place; an exchange that
shortens the schedule is made at once. Heads before and tails behind the two places are known, so only the
places between them are computed. A round without gain is a local optimum.

Source: I. H. Osman, C. N. Potts, Simulated annealing for permutation flow-shop scheduling, 1989
(interchange neighbourhood); E. Nowicki, C. Smutnicki, 1996 (use of heads and tails).

Complexity: O(r m) per pair at distance r on m machines.
"""

import numpy as np
from numba import njit
from parts.completion import close_order, open_order, segment_value, update_paths, work_arrays
from parts.insertion import next_of

REACH = 20  # tunable: int 1..500
CHUNK_OPERATIONS = 2_000_000  # operations computed in one kernel call


@njit(cache=True)
def exchange(limit, reach, makespan, order, times, work, front, queue, status, rng):
    """Exchanges from the places in `queue` until about `limit` operations were computed.

    status: place in the queue, failures in a row. Returns operations computed and the makespan.
    """
    n, m = order.size, front.size
    made = 0
    while made < limit and status[1] < n:
        i = next_of(queue, n, status, rng)
        status[1] += 1
        for k in range(i + 1, min(i + reach + 1, n)):
            order[i], order[k] = order[k], order[i]
            value = segment_value(order, i, k, times, work, front)
            made += (k - i + 1) * m
            if value < makespan:
                makespan = value
                update_paths(order, n, times, work)
                made += 2 * n * m
                status[1] = 0
            else:
                order[i], order[k] = order[k], order[i]
        made += 1
    return made, makespan


def run(env_data, state, calc_makespan_fn):
    """Descend from `state` to a local optimum of the exchanges."""
    n, m, budget, rng = env_data["num_jobs"], env_data["num_machines"], env_data["budget"], env_data["rng"]
    times, given, order, value = open_order(env_data, state, calc_makespan_fn)
    work = work_arrays(times)
    update_paths(order, n, times, work)
    queue, front, status = np.arange(n, dtype=np.int32), np.zeros(m, np.int32), np.zeros(2, np.int64)
    while status[1] < n and not budget.exhausted():
        made, value = exchange(CHUNK_OPERATIONS, REACH, value, order, times, work, front, queue, status, rng)
        budget.charge(1 + made // times.size)
    return close_order(env_data, state, order, value, given)
