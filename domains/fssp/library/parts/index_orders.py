"""Orders of jobs by rules, several times over with noise."""

import numpy as np
from parts.taker import job_index


def keep_best_order(env_data, state, calc_makespan_fn, orders):
    """Give `state` the best of `orders`, as many of them as the share of the budget allows, at least one."""
    best, value = None, np.inf
    for order in orders:
        state.sequence = np.repeat(order, env_data["num_machines"])
        rated = calc_makespan_fn(state)
        if rated < value:
            best, value = state.sequence, rated
        if env_data["budget"].exhausted():
            break
    state.sequence = best
    return state


def order_by_index(env_data, state, calc_makespan_fn, restarts, spread):
    """Give `state` the best of at most `restarts` orders by ``job_index``, which the file brings; the first
    one follows the bare index.
    """
    index = job_index(np.array(env_data["processing_times"], dtype=np.float64))

    def orders():
        for restart in range(restarts):
            blur = spread * index.std() * env_data["rng"].standard_normal(index.size) if restart else 0.0
            yield np.argsort(-(index + blur), kind="stable").astype(np.int32)

    return keep_best_order(env_data, state, calc_makespan_fn, orders())
