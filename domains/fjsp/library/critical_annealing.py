"""Simulated annealing with random moves of critical operations.

Method: a random operation of a critical path moves to a random eligible machine, at a random place that
closes no cycle, or changes places with its neighbour on its machine. A longer schedule is accepted with
Metropolis' probability; the temperature falls geometrically over the whole share of the budget.

Source: P. J. M. van Laarhoven, E. H. L. Aarts, J. K. Lenstra, Job shop scheduling by simulated annealing,
1992; N. M. Najid, S. Dauzère-Pérès, A. Zaidat, A modified simulated annealing method for flexible job shop
scheduling problem, 2002.

Complexity: O(N) per move for N operations.
"""

import numpy as np
from numba import njit
from parts.plans import plan_of, prepare, put_plan
from parts.sampled_moves import try_moves
from parts.schedule import draw_target as draw_target
from parts.schedule import lay_out

START_TEMPERATURE = 0.02  # tunable: float 0.001..0.5
END_TEMPERATURE = 0.0005  # tunable: float 0.00001..0.01
CHUNK_OPERATIONS = 400_000  # operations visited by one kernel call, about


# exchangeable: move-screening
@njit(cache=True)
def is_worth_making(v, target, limit, shop, links, first):
    """Whether operation v goes to place `target` to see what that makes of the makespan: always."""
    return True


def run(env_data, state, calc_makespan_fn):
    """Anneal from `state` until the share of the budget is spent."""
    budget, rng = env_data["budget"], env_data["rng"]
    arrays = prepare(env_data)
    best = plan_of(env_data, state)
    makespan = lay_out(best, *arrays[:4])
    status = np.array([makespan, makespan, 0], np.int64)
    chunk, moves = max(20, CHUNK_OPERATIONS // env_data["total_ops"]), 100
    start, end = START_TEMPERATURE * (makespan + 1), END_TEMPERATURE * (makespan + 1)
    while not budget.exhausted():
        temperature = start * (end / start) ** (1.0 - budget.remaining())
        try_moves(min(moves, chunk), temperature, *arrays, status, best, rng)
        budget.charge(min(moves, chunk))
        moves *= 2
    put_plan(env_data, state, best)
    return state
