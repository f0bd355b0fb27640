"""A pool of tabu-search optima, recombined by path relinking between schedules (TS/PR).

Method: every member of the pool is a local optimum of an integrated tabu search: an operation of a critical
path leaves its machine and comes back on the same or another machine at a place where its insertion can be
optimal (the neighbourhood Nopt), rated exactly. Two members are joined by a path that takes the order of
operations and their machines more and more from the second; points in its middle are tried with a short tabu
search, the best of them gets a long one and competes for a place in the pool.

Source: M. Mastrolilli, L. M. Gambardella, Effective neighbourhood functions for the flexible job shop
problem, 2000. M. A. González, C. R. Vela, R. Varela, Scatter search with path relinking for the flexible job
shop scheduling problem, 2015. B. Peng, Z. Lü, T. C. E. Cheng, A tabu search/path relinking algorithm to solve
the job shop scheduling problem, 2015.

Complexity: O(N) per operation of the critical path and tabu iteration for N operations, O(N) per path point.
"""

import numpy as np
from parts.plans import dispatch, distance, path_point, plan_of, put_plan
from parts.shops.relinking import relink_pairs
from parts.tabu import improve, open_search

POOL_SIZE = 12  # tunable: int 4..40
PATIENCE = 4000  # tunable: int 500..30000
TRIAL_PATIENCE = 200  # tunable: int 20..4000
TRIALS = 5  # tunable: int 1..20
FILL_SHARE = 0.4  # tunable: float 0.1..0.9
EXACT = 3  # tunable: int 1..20
DISPATCH_NOISE = 0.3  # tunable: float 0.0..2.0


def fresh(search, until):
    """A new member of the pool: a noisy dispatch, then tabu search."""
    plan = np.empty((2, search.arrays[0].shape[1] - 1), np.int32)
    dispatch(*search.arrays[:2], search.arrays[3].size - 1, DISPATCH_NOISE, plan, search.rng)
    return improve(search, plan, PATIENCE, until)


def relink(search, origin, guide):
    """The best of TRIALS schedules on the path after short searches, then searched at length."""
    child = np.empty_like(origin)
    best = None
    for trial in range(TRIALS):
        share = 0.3 + 0.4 * (trial + 0.5) / TRIALS
        path_point(origin, guide, share, search.arrays[0][3], child, search.rng)
        found = improve(search, child, TRIAL_PATIENCE, 0.0)
        best = found if best is None or found[0] < best[0] else best
        if search.budget.exhausted():
            return best
    found = improve(search, best[1], PATIENCE, 0.0)
    return found if found[0] < best[0] else best


def fill(search, start):
    """The first pool: the given schedule and fresh ones, each within its part of FILL_SHARE of the budget."""
    step = FILL_SHARE / POOL_SIZE
    pool = [improve(search, start, PATIENCE, 1.0 - step)]
    while len(pool) < POOL_SIZE and not search.budget.exhausted() and pool[0][0] > search.target:
        pool.append(fresh(search, search.budget.remaining() - step))
        pool.sort(key=lambda entry: entry[0])
    return pool


def run(env_data, state, calc_makespan_fn):
    """Improve `state` by TS/PR until the share of the budget is spent or a lower bound is met."""
    search = open_search(env_data)
    before = calc_makespan_fn(state)
    pool = fill(search, plan_of(env_data, state))
    best = relink_pairs(search, pool, relink, lambda a, b: distance(a, b, search.arrays[0][3]) == 0)
    if best[0] <= before:
        put_plan(env_data, state, best[1])
    return state
