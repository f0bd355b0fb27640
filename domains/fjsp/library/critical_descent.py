"""Steepest descent over insertions of critical operations (Nopt); stops at a local optimum.

Method: an operation of a critical path leaves its machine and comes back on the same or another one, at a
place where its insertion can be optimal. The operations whose moves are estimated best are rated exactly and
the best move is made, as long as it shortens the schedule.

Source: M. Mastrolilli, L. M. Gambardella, Effective neighbourhood functions for the flexible job shop
problem, 2000.

Complexity: O(N) per exactly rated operation and move for N operations.
"""

import numpy as np
from parts.optimal_insertion import descend
from parts.plans import plan_of, prepare, put_plan
from parts.schedule import CHUNK_OPERATIONS, keep, lay_out

EXACT = 30  # tunable: int 1..200


def run(env_data, state, calc_makespan_fn):
    """Descend from `state` to a local optimum or until the share of the budget is spent."""
    budget, rng = env_data["budget"], env_data["rng"]
    arrays = prepare(env_data)
    plan, no_bans = plan_of(env_data, state), np.zeros((1, 1), np.int32)
    makespan = lay_out(plan, *arrays[:4])
    chunk = max(20, CHUNK_OPERATIONS // env_data["total_ops"])
    passes = chunk
    while passes >= chunk:
        makespan, passes = descend(chunk, EXACT, makespan, *arrays, no_bans, rng)
        budget.charge(passes)
        if budget.exhausted():
            break
    keep(plan, *arrays[:3:2])
    put_plan(env_data, state, plan)
    return state
