"""Gupta's index: a job's place follows from its least sum of times on two adjacent machines.

Method: the index is e / min(time on k + time on k + 1), where e is 1 if the job's last time is the longer
one and -1 otherwise; jobs are sorted by decreasing index, which is Johnson's rule for two
machines. With NOISE above 0 further orders from blurred indices are tried and the best one is kept.

Source: J. N. D. Gupta, A functional heuristic algorithm for the flowshop scheduling problem, 1971.

Complexity: O(n m + n log n) per order for n jobs on m machines.
"""

import numpy as np
from parts.index_orders import order_by_index

RESTARTS = 20  # tunable: int 1..1000
NOISE = 0.1  # tunable: float 0.0..2.0


# exchangeable: job-index
def job_index(times):
    """Index of every job, float (n,), the highest goes first; `times` is (m, n)."""
    pairs = times[:-1] + times[1:] if times.shape[0] > 1 else times
    sign = np.where(times[0] < times[-1], 1.0, -1.0)
    return sign / np.maximum(pairs.min(axis=0), 0.5)


def run(env_data, state, calc_makespan_fn):
    """Give `state` the best of at most RESTARTS orders; the first one follows the bare index."""
    return order_by_index(env_data, state, calc_makespan_fn, RESTARTS, NOISE)
