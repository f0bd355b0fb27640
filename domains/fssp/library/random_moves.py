"""Perturbation of the job order: random jobs move or change places.

Method: each of MOVES times a random job goes to another random place or, with probability SWAP_SHARE, two
random jobs change places. The result is a permutation schedule and may be longer.

Source: T. Stützle, Applying iterated local search to the permutation flow shop problem, 1998.

Complexity: O(n) per move for n jobs.
"""

import numpy as np
from parts.completion import job_order

MOVES = 4  # tunable: int 1..50
SWAP_SHARE = 0.5  # tunable: float 0.0..1.0


# exchangeable: order-change
def changed(order, swap_share, rng):
    """A copy of `order` after one random move."""
    i, k = (int(rng.integers(order.size)) for _ in range(2))
    if rng.random() < swap_share:
        order = order.copy()
        order[i], order[k] = order[k], order[i]
        return order
    return np.insert(np.delete(order, i), k, order[i])


def run(env_data, state, calc_makespan_fn):
    """Make MOVES random moves in the job order of `state`; the result may be worse."""
    n, m = env_data["num_jobs"], env_data["num_machines"]
    order, _ = job_order(state, n, m, calc_makespan_fn)
    for _ in range(MOVES):
        order = changed(order, SWAP_SHARE, env_data["rng"])
    env_data["budget"].charge(MOVES)
    state.sequence = np.repeat(order, m)
    return state
