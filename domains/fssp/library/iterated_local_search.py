"""Iterated local search: random moves of the current order, then a descent by reinsertions.

Method: jobs at random places change places with a neighbour, one job is moved far; reinsertions of single
jobs follow until a local optimum; a Metropolis test at constant temperature decides from
which order the search goes on.

Source: T. Stützle, Applying iterated local search to the permutation flow shop problem, 1998.

Complexity: O(n m) per reinsertion for n jobs on m machines; uses its whole share of the budget.
"""

import numpy as np
from numba import njit
from parts.completion import update_paths
from parts.disturbance import kick
from parts.insertion import rebuild_repeatedly
from parts.random_ties import choose_place as choose_place

SWAPS = 2  # tunable: int 0..20
MOVES = 1  # tunable: int 0..20
TEMPERATURE = 0.4  # tunable: float 0.0..5.0


@njit(cache=True)
def rebuild(order, changes, times, work, rng):
    """Kick `order` by changes[0] exchanges and changes[1] moves; its makespan."""
    kick(order, changes[0], changes[1], rng)
    update_paths(order, order.size, times, work)
    return work[0][-1, order.size]


def run(env_data, state, calc_makespan_fn):
    """Improve `state` until the share of the budget is spent or a lower bound is met."""
    changes = np.array([SWAPS, MOVES], np.int32)
    return rebuild_repeatedly(env_data, state, calc_makespan_fn, changes, TEMPERATURE)
