"""Iterated greedy with local search on the partial order.

Method: a few random jobs leave the order; single jobs of the rest are reinserted until that helps no more;
the removed jobs come back one by one at their best places; reinsertions follow until a local optimum; a
Metropolis test at constant temperature decides from which order the search goes on.

Source: R. Ruiz, T. Stützle, A simple and effective iterated greedy algorithm for the permutation flowshop
scheduling problem, 2007; J. Dubois-Lacoste, F. Pagnozzi, T. Stützle, An iterated greedy algorithm with
optimization of partial solutions for the makespan permutation flowshop problem, 2017; V. Fernandez-Viagas,
J. M. Framinan, On insertion tie-breaking rules in heuristics for the permutation flowshop scheduling
problem, 2014.

Complexity: O(n m) per reinsertion for n jobs on m machines; uses its whole share of the budget.
"""

import numpy as np
from numba import njit
from parts.completion import close_order, lower_bound, open_order, work_arrays
from parts.disturbance import remove_jobs
from parts.idle_time_ties import choose_place as choose_place
from parts.insertion import CHUNK_OPERATIONS, descend, insert_job

REMOVED = 2  # tunable: int 1..20
TEMPERATURE = 0.4  # tunable: float 0.0..5.0


@njit(cache=True)
def iterate(steps, target, count, temperature, times, orders, memory, work, status, rng):
    """At least `steps` reinsertions of iterated greedy, or until the best makespan meets `target`.

    orders: the order at work, the current and the best one. memory: queue of the descent, removed jobs.
    status: two entries of the descent, phase (0 destroy, 1 improve the rest, 2 improve the whole), makespans
    of the three orders. Returns the steps made.
    """
    order, current, best = orders
    queue, removed = memory
    n = order.size
    made = 0
    while made < steps and status[5] > target:
        size = n if status[2] == 2 else n - count
        if status[2] == 0:
            order[:] = current
            remove_jobs(order, count, removed, rng)
            queue[:size] = order[:size]
            status[0], status[1], status[2], status[3] = 0, 0, 1, 2**30
            made += 1
            continue
        moves, status[3] = descend(steps - made, order, size, status[3], times, work, queue, status, rng)
        made += moves
        if status[1] < size:
            break
        if status[2] == 1:
            for i in range(count):
                status[3] = insert_job(removed[i], order, size + i, times, work, rng)
            queue[:] = order
            status[0], status[1], status[2] = 0, 0, 2
            made += count
            continue
        status[2] = 0
        if status[3] < status[5]:
            best[:] = order
            status[5] = status[3]
        loss = status[3] - status[4]
        if loss <= 0 or rng.random() < np.exp(-loss / temperature):
            current[:] = order
            status[4] = status[3]
    return made


def run(env_data, state, calc_makespan_fn):
    """Improve `state` until the share of the budget is spent or a lower bound is met."""
    n, budget, rng = env_data["num_jobs"], env_data["budget"], env_data["rng"]
    times, given, order, value = open_order(env_data, state, calc_makespan_fn)
    orders = (order, order.copy(), order.copy())
    memory = (order.copy(), np.zeros(n, np.int32))
    status = np.array([0, 0, 2, value, value, value], np.int64)
    count, target, work = min(REMOVED, n - 1), lower_bound(times), work_arrays(times)
    temperature = max(TEMPERATURE * times.mean() / 10.0, 1e-9)
    chunk = max(50, CHUNK_OPERATIONS // times.size)
    while status[5] > target and count > 0 and not budget.exhausted():
        budget.charge(iterate(chunk, target, count, temperature, times, orders, memory, work, status, rng))
    return close_order(env_data, state, orders[2], status[5], given)
