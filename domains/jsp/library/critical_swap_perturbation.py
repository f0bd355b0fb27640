"""Perturbation by random swaps on critical paths.

Method: a given number of times, one random adjacent pair of operations of a critical block is swapped. Such
a swap never closes a cycle, and it changes the makespan where it matters.

Source: H. R. Lourenço, Job-shop scheduling: computational study of local search and large-step optimization
methods, 1995.

Complexity: O(N) per swap for N operations.
"""

import numpy as np
from parts.adjacent_swaps import block_moves as block_moves
from parts.critical_moves import shake
from parts.schedule import open_schedule

SWAPS = 12  # tunable: int 1..200


def run(env_data, state, calc_makespan_fn):
    """Swap SWAPS random critical pairs of `state`; the result may be worse."""
    schedule, _makespan = open_schedule(env_data, state)
    shake(SWAPS, *schedule, env_data["rng"])
    env_data["budget"].charge(SWAPS)
    state.sequence = schedule[1][0] // np.int32(schedule[0][1])
    return state
