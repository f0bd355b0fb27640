"""Orders of jobs by an index.

The file brings ``job_index``.
"""

import numpy as np
from parts.taker import job_index


def order_by_index(env_data, state, calc_makespan_fn, restarts, spread):
    """Give `state` the best of at most `restarts` orders; the first one follows the bare index."""
    budget, rng, m = env_data["budget"], env_data["rng"], env_data["num_machines"]
    index = job_index(np.array(env_data["processing_times"], dtype=np.float64))
    best, value = None, np.inf
    for restart in range(restarts):
        blur = spread * index.std() * rng.standard_normal(index.size) if restart else 0.0
        order = np.argsort(-(index + blur), kind="stable").astype(np.int32)
        state.sequence = np.repeat(order, m)
        rated = calc_makespan_fn(state)
        if rated < value:
            best, value = state.sequence, rated
        if budget.exhausted():
            break
    state.sequence = best
    return state
