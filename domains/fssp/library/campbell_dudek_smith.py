"""CDS: Johnson's rule on m - 1 aggregated two-machine problems; the best order is kept.

Method: the c-th problem adds up a job's first c times for one machine and its last c times for the other.
Johnson's rule solves it: jobs that are shorter on the first machine go first, by increasing first time, the
others follow by decreasing second time.

Source: H. G. Campbell, R. A. Dudek, M. L. Smith, A heuristic algorithm for the n job, m machine sequencing
problem, 1970; S. M. Johnson, Optimal two- and three-stage production schedules, 1954.

Complexity: O(n m + n log n) per order for n jobs, m - 1 orders for m machines.
"""

import numpy as np
from parts.index_orders import keep_best_order

NOISE = 0.0  # tunable: float 0.0..1.0


# exchangeable: two-machine-rule
def johnson(first, second):
    """Johnson's order, int32 (n,), of the jobs with times `first` and `second` on two machines."""
    early = np.flatnonzero(first < second)
    late = np.flatnonzero(first >= second)
    early = early[np.argsort(first[early], kind="stable")]
    late = late[np.argsort(-second[late], kind="stable")]
    return np.concatenate((early, late)).astype(np.int32)


def run(env_data, state, calc_makespan_fn):
    """Give `state` the best order of the two-machine problems, whose times are blurred by NOISE."""
    rng, m = env_data["rng"], env_data["num_machines"]
    times = np.array(env_data["processing_times"], dtype=np.float64)

    def orders():
        for count in range(1, max(m, 2)):
            blur = 1.0 + NOISE * rng.random((2, times.shape[1]))
            yield johnson(times[:count].sum(axis=0) * blur[0], times[-count:].sum(axis=0) * blur[1])

    return keep_best_order(env_data, state, calc_makespan_fn, orders())
