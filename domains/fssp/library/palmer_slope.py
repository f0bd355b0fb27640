"""Palmer's slope index: jobs whose times grow from machine to machine go first.

Method: the index of a job is the sum over machines k = 1..m of (2k - m - 1) times its time on k; the
jobs are sorted by decreasing index. With NOISE above 0 further orders from blurred indices are tried and the
best one is kept.

Source: D. S. Palmer, Sequencing jobs through a multi-stage process in the minimum total time - a quick method
of obtaining a near optimum, 1965.

Complexity: O(n m + n log n) per order for n jobs on m machines.
"""

import numpy as np
from parts.index_orders import order_by_index

RESTARTS = 20  # tunable: int 1..1000
NOISE = 0.1  # tunable: float 0.0..2.0


# exchangeable: job-index
def job_index(times):
    """Index of every job, float (n,), the highest goes first; `times` is (m, n)."""
    m = times.shape[0]
    return (2.0 * np.arange(1, m + 1) - m - 1) @ times


def run(env_data, state, calc_makespan_fn):
    """Give `state` the best of at most RESTARTS orders; the first one follows the bare index."""
    return order_by_index(env_data, state, calc_makespan_fn, RESTARTS, NOISE)
