"""Iterated local search: random critical swaps, then a descent over the insertions inside critical blocks.

Method: a few random adjacent swaps on critical paths perturb the present schedule; a steepest descent
follows. The result takes the place of the present schedule unless it is longer; after PATIENCE kicks without
a new best schedule the search returns to the best one.

Source: H. R. Lourenço, O. C. Martin, T. Stützle, Iterated local search, 2003; C.-F. Liaw, An iterative
improvement approach for the nonpreemptive open shop scheduling problem, 1998.

Complexity: O(N + b²) per move for N operations and blocks of b operations; uses its whole share of the
budget.
"""

import numpy as np
from numba import njit
from parts.critical_moves import descend, shake
from parts.jsp.block_insertions import block_moves as block_moves
from parts.schedule import lay_out, open_schedule

SWAPS = 6  # tunable: int 1..100
PATIENCE = 30  # tunable: int 1..1000
PLATEAU = 10  # tunable: int 0..200
CHUNK_OPERATIONS = 200_000  # moves of one kernel call, about, times operations of the instance


@njit(cache=True)
def iterate(moves_left, swaps, patience, plateau, problem, topology, links, work, moves, found, orders, rng):
    """Kick and descend until `moves_left` moves are made; returns the moves made.

    `found` holds the makespans of the present and of the best schedule and the kicks since the last best one;
    `orders` the present, the tried and the best sequence.
    """
    present, trial, best = orders
    status = np.zeros(4, np.int64)
    made = 0
    while made < moves_left:
        lay_out(present, problem, topology, links)
        makespan = shake(swaps, problem, topology, links, work, moves, rng)
        status[0], status[1], status[2], status[3] = 0, makespan + 1, 0, makespan
        while not descend(100, plateau, problem, topology, links, work, moves, status, trial, rng):
            if status[0] > 100 * present.size:
                break
        made += status[0] + swaps
        found[2] += 1
        if status[1] <= found[0]:
            found[0] = status[1]
            present[:] = trial
        if status[1] < found[1]:
            found[1], found[2] = status[1], 0
            best[:] = trial
        if found[2] >= patience:
            found[0], found[2] = found[1], 0
            present[:] = best
    return made


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the budget's share is used up; the best schedule found."""
    budget, rng = env_data["budget"], env_data["rng"]
    schedule, makespan = open_schedule(env_data, state)
    sequence = np.array(state.sequence, dtype=np.int32)
    found = np.array([makespan, makespan, 0], np.int64)
    orders = (sequence.copy(), sequence.copy(), sequence)
    chunk = max(20, CHUNK_OPERATIONS // sequence.size)
    while not budget.exhausted():
        made = iterate(chunk, SWAPS, PATIENCE, PLATEAU, *schedule, found, orders, rng)
        budget.charge(int(made))
    state.sequence = sequence
    return state
