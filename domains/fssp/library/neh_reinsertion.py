"""NEH with reinsertions: after each insertion the neighbours of the new job are reinserted too (FRB4).

Method: as NEH, jobs enter by decreasing total time at their best places; then the jobs at most REACH places
away from the new one are taken out and put at their best places. The problem with time reversed is tried too,
and while the share lasts up to RESTARTS constructions from blurred priorities; the best order is kept.

Source: S. F. Rad, R. Ruiz, N. Boroojerdian, New high performing heuristics for minimizing makespan in
permutation flowshops, 2009; tie-breaking of V. Fernandez-Viagas, J. M. Framinan, 2014.

Complexity: O(n² r m) for n jobs on m machines and reach r.
"""

import numpy as np
from numba import njit
from parts.completion import job_times, work_arrays
from parts.idle_time_ties import choose_place as choose_place
from parts.insertion import insert_job, remove_job

REACH = 4  # tunable: int 0..50
RESTARTS = 2  # tunable: int 1..200
NOISE = 0.1  # tunable: float 0.0..1.0


@njit(cache=True)
def grow(job, size, reach, order, times, work, near, rng):
    """Insert `job` among the first `size` jobs of `order`, then reinsert it and the jobs around it."""
    value = insert_job(job, order, size, times, work, rng)
    place = 0
    while order[place] != job:
        place += 1
    first, count = max(0, place - reach), 0
    for i in range(first, min(size, place + reach) + 1):
        near[count] = order[i]
        count += 1
    for i in range(count):
        remove_job(near[i], order, size + 1)
        value = insert_job(near[i], order, size, times, work, rng)
    return value


def construct(times, reach, noise, budget, rng):
    """An order of the jobs and its makespan; no job is reinserted once the share is spent."""
    priority = times.sum(axis=0) * (1.0 + noise * rng.random(times.shape[1]))
    order = np.argsort(-priority, kind="stable").astype(np.int32)
    near, work, value = order.copy(), work_arrays(times), 0
    for size, job in enumerate(order.copy()):
        if reach > 0 and budget.exhausted():
            reach = 0
        value = grow(job, size, reach, order, times, work, near, rng)
        budget.charge(2 * reach + 1)
    return order, value


def run(env_data, state, calc_makespan_fn):
    """Give `state` the best of RESTARTS constructions, in turn forwards and backwards in time."""
    budget, rng = env_data["budget"], env_data["rng"]
    times = job_times(env_data)
    turned = np.asfortranarray(times[::-1])
    best, value = None, np.inf
    for restart in range(RESTARTS):
        noise = NOISE if restart > 1 else 0.0
        order, rated = construct(turned if restart % 2 else times, REACH, noise, budget, rng)
        if rated < value:
            best, value = order[::-1] if restart % 2 else order, rated
        if budget.exhausted():
            break
    state.sequence = np.repeat(best, times.shape[0])
    return state
