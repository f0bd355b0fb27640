"""Iterated local search: shaken local optima, improved by steepest descent.

Method: a few random moves of critical operations shake the present local optimum, a descent over insertions
of critical operations (Nopt) follows. The new local optimum replaces the present one when it is not longer,
or than the best one by more than a fraction that shrinks to nothing over the share of the budget.

Source: H. R. Lourenço, O. C. Martin, T. Stützle, Iterated local search, 2003; M. Mastrolilli,
L. M. Gambardella, Effective neighbourhood functions for the flexible job shop problem, 2000 (moves).

Complexity: O(N) per exactly rated operation and move for N operations.
"""

import numpy as np
from numba import njit
from parts.optimal_insertion import descend
from parts.plans import plan_of, prepare, put_plan
from parts.schedule import CHUNK_OPERATIONS, keep, lay_out, shake

STRENGTH = 4  # tunable: int 1..50
EXACT = 3  # tunable: int 1..200
TOLERANCE = 0.01  # tunable: float 0.0..0.1


@njit(cache=True)
def iterate(
    allowance, strength, exact, limit, shop, options, links, first, work, no_bans, status, present, best, rng
):  # fmt: skip
    """Shake and descend for about `allowance` computations of heads and tails.

    `status` holds the best makespan, that of `present`, and the computations made; a local optimum below
    `limit` times the best makespan is accepted.
    """
    end = status[2] + allowance
    makespan = status[1]
    while status[2] < end:
        makespan, passes = descend(
            end - status[2], exact, makespan, shop, options, links, first, work, no_bans, rng
        )  # fmt: skip
        status[2] += passes + strength
        if makespan < status[0]:
            status[0] = makespan
            keep(best, shop, links)
        if makespan <= status[1] or makespan <= status[0] * limit:
            status[1] = makespan
            keep(present, shop, links)
        else:
            makespan = lay_out(present, shop, options, links, first)
        makespan = shake(strength, makespan, shop, options, links, first, work, rng)


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent."""
    budget, rng = env_data["budget"], env_data["rng"]
    arrays = prepare(env_data)
    best, no_bans = plan_of(env_data, state), np.zeros((1, 1), np.int32)
    present = best.copy()
    chunk, allowance = max(20, CHUNK_OPERATIONS // env_data["total_ops"]), 100
    status = np.array([lay_out(best, *arrays[:4])] * 2 + [0], np.int64)
    while not budget.exhausted():
        lay_out(present, *arrays[:4])
        before = int(status[2])
        limit = 1.0 + TOLERANCE * budget.remaining()
        iterate(
            min(allowance, chunk), STRENGTH, EXACT, limit, *arrays, no_bans, status, present, best, rng
        )  # fmt: skip
        budget.charge(int(status[2]) - before)
        allowance *= 2
    put_plan(env_data, state, best)
    return state
