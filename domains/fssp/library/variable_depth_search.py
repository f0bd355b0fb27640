"""Variable-depth search: chains of reinsertions, of which the best beginning is kept.

Method: a chain takes the jobs in random order, at most DEPTH of them, and puts each at its best place other
than its own, even if the schedule gets longer; a job moves once in a chain. The chain is cut behind its
shortest schedule if that is shorter than the first one, and undone otherwise. ROUNDS chains per job without
gain end the search.

Source: S. Lin, B. W. Kernighan, An effective heuristic algorithm for the traveling-salesman problem, 1973
(variable depth); E. Taillard, Some efficient heuristic methods for the flow shop sequencing problem, 1990.

Complexity: O(n m) per reinsertion for n jobs on m machines, at most DEPTH per chain.
"""

import numpy as np
from numba import njit
from parts.completion import close_order, open_order, rate_places, work_arrays
from parts.insertion import CHUNK_OPERATIONS, remove_job, shuffle

DEPTH = 6  # tunable: int 1..50
ROUNDS = 3.0  # tunable: float 0.1..100.0


@njit(cache=True)
def move_away(job, order, times, work, rng):
    """Put `job` at its best place other than its own, ties broken at random; the makespan then."""
    size = order.size - 1
    own = 0
    while order[own] != job:
        own += 1
    remove_job(job, order, size + 1)
    value = rate_places(job, order, size, times, work)
    chosen, ties = -1, 0
    for place in range(size + 1):
        if place == own or (chosen >= 0 and value[place] > value[chosen]):
            continue
        ties = ties + 1 if chosen >= 0 and value[place] == value[chosen] else 1
        if rng.random() * ties < 1.0:
            chosen = place
    for i in range(size, chosen, -1):
        order[i] = order[i - 1]
    order[chosen] = job
    return value[chosen]


@njit(cache=True)
def chains(steps, depth, patience, order, times, work, memory, status, rng):
    """Chains until about `steps` jobs moved or `patience` of them in a row failed.

    memory: queue of the jobs, the order at work, its best one in the chain. status: makespan, failures.
    Returns the jobs moved.
    """
    queue, trial, kept = memory
    made = 0
    while made < steps and status[1] < patience:
        trial[:] = order
        shuffle(queue, queue.size, rng)
        least = 2**30
        for job in queue[:depth]:
            value = move_away(job, trial, times, work, rng)
            made += 1
            if value < least:
                least = value
                kept[:] = trial
                if value < status[0]:
                    break
        status[1] = 0 if least < status[0] else status[1] + 1
        if least <= status[0]:
            status[0] = least
            order[:] = kept
    return made


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the chains bring nothing more or the share is spent."""
    n, budget, rng = env_data["num_jobs"], env_data["budget"], env_data["rng"]
    times, given, order, value = open_order(env_data, state, calc_makespan_fn)
    memory, status = (order.copy(), order.copy(), order.copy()), np.array([value, 0], np.int64)
    patience, work = int(ROUNDS * n) + 1, work_arrays(times)
    chunk = max(50, CHUNK_OPERATIONS // times.size)
    while n > 1 and status[1] < patience and not budget.exhausted():
        budget.charge(chains(chunk, DEPTH, patience, order, times, work, memory, status, rng))
    return close_order(env_data, state, order, status[0], given)
