"""Destruction and construction: random jobs leave the order and come back at their best places.

Method: REMOVED random jobs (or a window of neighbours, by the exchangeable block) are taken out and inserted
one by one, in the order of their removal, where the partial makespan is least. One round; may lengthen the
schedule.

Source: R. Ruiz, T. Stützle, A simple and effective iterated greedy algorithm for the permutation flowshop
scheduling problem, 2007.

Complexity: O(n m) per removed job for n jobs on m machines.
"""

import numpy as np
from parts.completion import job_order, job_times, work_arrays
from parts.disturbance import remove_jobs
from parts.insertion import insert_job
from parts.random_ties import choose_place as choose_place

REMOVED = 6  # tunable: int 1..50


def run(env_data, state, calc_makespan_fn):
    """Remove and reinsert at most REMOVED jobs of `state`; the result may be worse."""
    n, m, rng = env_data["num_jobs"], env_data["num_machines"], env_data["rng"]
    times = job_times(env_data)
    order, _ = job_order(state, n, m, calc_makespan_fn)
    count, work = min(REMOVED, n - 1), work_arrays(times)
    removed = np.zeros(max(count, 1), np.int32)
    remove_jobs(order, count, removed, rng)
    for i in range(count):
        insert_job(removed[i], order, n - count + i, times, work, rng)
        env_data["budget"].charge(1)
    state.sequence = np.repeat(order, m)
    return state
