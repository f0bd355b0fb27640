"""Perturbation by random swaps on critical paths.

Method: a given number of times, one random adjacent pair of operations of a critical block (on one machine
or of one job) is swapped. Such a swap never closes a cycle, and it changes the makespan where it matters.

Source: H. R. Lourenço, Job-shop scheduling: computational study of local search and large-step optimization
methods, 1995; C.-F. Liaw, A hybrid genetic algorithm for the open shop scheduling problem, 2000.

Complexity: O(N) per swap for N operations.
"""

from parts.critical_moves import shake
from parts.jsp.adjacent_swaps import block_moves as block_moves
from parts.schedule import open_schedule

SWAPS = 12  # tunable: int 1..200


def run(env_data, state, calc_makespan_fn):
    """Swap SWAPS random critical pairs of `state`; the result may be worse."""
    schedule, _makespan = open_schedule(env_data, state)
    shake(SWAPS, *schedule, env_data["rng"])
    env_data["budget"].charge(SWAPS)
    state.sequence = schedule[1][0]
    return state
