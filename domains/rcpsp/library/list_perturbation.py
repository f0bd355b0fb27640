"""Perturbation of the list: a few activities move to random places.

Method: an activity drawn at random moves to a random place between its last predecessor and its first
successor in the list, at most REACH of the list away. The result is always a list with predecessors first.

Source: H. R. Lourenço, O. C. Martin, T. Stützle, Iterated local search, 2003; F. F. Boctor,
Resource-constrained project scheduling by simulated annealing, 1996 (the move).

Complexity: O(N (predecessors + successors)) per move for N activities.
"""

import numpy as np
from parts.lists import shake
from parts.project import prepare

MOVES = 5  # tunable: int 1..200
REACH = 0.3  # tunable: float 0.01..1.0


def run(env_data, state, calc_makespan_fn):
    """Disturb the list of `state`; the schedule may get longer."""
    _project, before, after, _horizon = prepare(env_data)
    order = np.array(state.sequence, dtype=np.int32)
    shake(order, MOVES, max(1, int(REACH * order.size)), before, after, env_data["rng"])
    env_data["budget"].charge(MOVES)
    state.sequence = order
    return state
