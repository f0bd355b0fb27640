"""A pool of tabu-search optima, recombined by path relinking between machine orders (TS/PR).

Method: every member of the pool is a local optimum of a tabu search over the critical-block insertions of
the N7 neighbourhood. Two members are joined by a path that changes, step by step, the operation pairs they
order differently; points in its middle are tried with a short tabu search, the best of them gets a long one
and competes for a place in the pool. Moves are rated by heads and tails; a move is tabu when it would bring
back an order of two operations that was reversed recently.

Source: B. Peng, Z. Lü, T. C. E. Cheng, A tabu search/path relinking algorithm to solve the job shop
scheduling problem, 2015. Neighbourhood: C. Zhang, P. Li, Z. Guan, Y. Rao, A tabu search algorithm with a new
neighborhood structure for the job shop scheduling problem, 2007. Move rating: E. Balas, A. Vazacopoulos,
Guided local search with shifting bottleneck for job shop scheduling, 1998.

Complexity: O(N) per tabu iteration for N operations (heads and tails behind the move), O(N) per path point.
"""

import numpy as np
from parts.between_sequences import dispatch, machine_distance, path_point
from parts.block_insertions import block_moves as block_moves
from parts.shops.relinking import relink_pairs
from parts.tabu import improve, open_search

POOL_SIZE = 12  # tunable: int 4..40
PATIENCE = 12000  # tunable: int 1000..30000
TRIAL_PATIENCE = 500  # tunable: int 50..4000
TRIALS = 5  # tunable: int 1..20
FILL_SHARE = 0.4  # tunable: float 0.1..0.9
DISPATCH_NOISE = 0.5  # tunable: float 0.0..2.0


def fresh(search, patience):
    """A new member of the pool: a noisy dispatch, then tabu search."""
    sequence = np.empty(search.topology[0].size, np.int32)
    dispatch(*search.problem[:4], DISPATCH_NOISE, sequence, search.rng)
    return improve(search, sequence, patience)


def relink(search, origin, guide):
    """The best of TRIALS schedules on the path after short searches, then searched at length."""
    child = np.empty(origin.size, np.int32)
    best = None
    for trial in range(TRIALS):
        share = 0.3 + 0.4 * (trial + 0.5) / TRIALS
        path_point(origin, guide, share, *search.problem[:2], child, search.rng)
        found = improve(search, child, TRIAL_PATIENCE)
        best = found if best is None or found[0] < best[0] else best
        if search.budget.exhausted():
            return best
    found = improve(search, best[1], PATIENCE)
    return found if found[0] < best[0] else best


def fill(search, start):
    """The first pool: the given schedule and fresh ones, as many as FILL_SHARE of the budget allows."""
    pool = [improve(search, start, PATIENCE)]
    while len(pool) < POOL_SIZE and not search.budget.exhausted() and pool[0][0] > search.target:
        if len(pool) >= 3 and search.budget.remaining() < 1.0 - FILL_SHARE:
            break
        pool.append(fresh(search, PATIENCE))
        pool.sort(key=lambda entry: entry[0])
    return pool


def warm_up(search, sequence):
    """Call the kernels of later phases once, so that none is compiled in the middle of a timed run."""
    dispatch(*search.problem[:4], DISPATCH_NOISE, sequence.copy(), search.rng)


def run(env_data, state, calc_makespan_fn):
    """Improve `state` by TS/PR until the share of the budget is spent or a lower bound is met."""
    search = open_search(env_data)
    before = calc_makespan_fn(state)
    sequence = np.array(state.sequence, dtype=np.int32)
    warm_up(search, sequence)
    pool = fill(search, sequence)
    best = relink_pairs(search, pool, relink, lambda a, b: machine_distance(a, b, *search.problem[:3]) == 0)
    if best[0] <= before:
        state.sequence = best[1]
    return state
