"""NEH: jobs enter the order by decreasing priority, each at the place that makes the partial order shortest.

Method: the priority is the total time of a job ("total"), the total plus the standard deviation of its times
("deviation") or the larger of two position-weighted totals ("weighted"). Ties between places are broken by
the exchangeable rule. The reverse problem (machines in reverse order) is tried too when BOTH_WAYS is 1.

Source: M. Nawaz, E. E. Enscore, I. Ham, A heuristic algorithm for the m-machine, n-job flow-shop sequencing
problem, 1983; E. Taillard, Some efficient heuristic methods for the flow shop sequencing problem, 1990;
P. J. Kalczynski, J. Kamburowski, An improved NEH heuristic to minimize makespan in permutation flow shops,
2008 (weights); X. Dong, H. Huang, P. Chen, 2008 (deviation); tie-breaking of V. Fernandez-Viagas,
J. M. Framinan, 2014.

Complexity: O(n² m) for n jobs on m machines.
"""

import numpy as np
from parts.completion import job_times, work_arrays
from parts.idle_time_ties import choose_place as choose_place
from parts.insertion import insert_job

PRIORITY = "total"  # tunable: choice total deviation weighted
BOTH_WAYS = 1  # tunable: int 0..1


# exchangeable: job-priority
def priorities(times, rule):
    """Priority of every job, float (n,), the highest enters first; `times` is (m, n)."""
    m = times.shape[0]
    if rule == "total":
        return times.sum(axis=0).astype(np.float64)
    if rule == "deviation":
        return times.sum(axis=0) + times.std(axis=0)
    step = np.arange(m, dtype=np.float64)
    half = (m - 1) * (m - 2) / 2.0
    forward, backward = half + (m - 1 - step), half + step
    return np.minimum(forward @ times, backward @ times)


def construct(times, rule, budget, rng):
    """An order of the jobs by insertion, and its makespan."""
    order = np.argsort(-priorities(times, rule), kind="stable").astype(np.int32)
    work, value = work_arrays(times), 0
    for size, job in enumerate(order.copy()):
        value = insert_job(job, order, size, times, work, rng)
        budget.charge(1)
    return order, value


def run(env_data, state, calc_makespan_fn):
    """Give `state` the better of the constructions from the left and, with BOTH_WAYS, from the right."""
    budget, rng = env_data["budget"], env_data["rng"]
    times = job_times(env_data)
    order, value = construct(times, PRIORITY, budget, rng)
    if BOTH_WAYS and not budget.exhausted():
        other, rated = construct(np.asfortranarray(times[::-1]), PRIORITY, budget, rng)
        if rated < value:
            order = other[::-1]
    state.sequence = np.repeat(order, times.shape[0])
    return state
