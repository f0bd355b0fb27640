"""Random descent: critical operations go where the longest path through them would be short.

Method: a random operation of a critical path is rated on a random eligible machine at all places that close
no cycle, by the longest path through it there, estimated with heads and tails as they are. It goes to the
best one unless that path is longer than the schedule, and back if the schedule has become longer. The search
stops after PATIENCE moves without a shorter one.

Source: S. Dauzère-Pérès, J. Paulli, An integrated approach for modeling and solving the general
multiprocessor job-shop scheduling problem using tabu search, 1997 (moves and their rating); M. Mastrolilli,
L. M. Gambardella, Effective neighbourhood functions for the flexible job shop problem, 2000 (the best place).

Complexity: O(operations of a machine) per move that is not made, O(N) per one made, for N operations.
"""

import numpy as np
from numba import njit
from parts.plans import plan_of, prepare, put_plan
from parts.sampled_moves import try_moves
from parts.schedule import lay_out

PATIENCE = 3000  # tunable: int 100..100000
CHUNK_OPERATIONS = 400_000  # operations visited by one kernel call, about


# exchangeable: random-move
@njit(cache=True)
def draw_target(v, draw, shop, options, links, first, target):
    """Machine, time and predecessor, into `target`, of an insertion of v that closes no cycle.

    On another machine v goes where the longest path through it is shortest, of the places behind the
    operations that end before it can start and ahead of those whose tails are shorter than its own; on its
    own it changes places with a neighbour. `draw` holds three numbers uniform on [0, 1). Returns whether
    there is such a place.
    """
    n_ops = links.shape[1] - 1
    mp, ms, c, t = links[0], links[1], links[4], links[5]
    head, tail = c[shop[1, v]], t[shop[2, v]]
    e = shop[4, v] + int(draw[0] * (shop[4, v + 1] - shop[4, v]))
    k = options[0, e]
    target[0], target[1] = k, options[1, e]
    if k == links[2, v]:
        if ms[v] != n_ops and (mp[v] == n_ops or draw[1] < 0.5):
            target[2] = ms[v]
            y = shop[2, v]
            return y == n_ops or t[ms[v]] > t[y] - links[3, y]
        if mp[v] == n_ops:
            return False
        target[2] = mp[mp[v]]
        y = shop[1, v]
        return y == n_ops or c[mp[v]] > c[y] - links[3, y]
    before, after = n_ops, first[k]
    while after != n_ops and t[after] > tail and c[after] <= head:
        before, after = after, ms[after]
    shortest = -1
    while before == n_ops or c[before] <= head or t[before] > tail:
        path = max(head, c[before]) + max(tail, t[after])
        if shortest < 0 or path < shortest:
            shortest = path
            target[2] = before
        if after == n_ops:
            break
        before, after = after, ms[after]
    return True


# exchangeable: move-screening
@njit(cache=True)
def is_worth_making(v, target, limit, shop, links, first):
    """Whether the longest path through v at place `target` of another machine is estimated to be no longer
    than `limit`; places on its own machine are always tried."""
    n_ops = links.shape[1] - 1
    ms, c, t = links[1], links[4], links[5]
    k, before = target[0], target[2]
    if k == links[2, v]:
        return True
    after = first[k] if before == n_ops else ms[before]
    path = max(c[shop[1, v]], c[before]) + target[1] + max(t[shop[2, v]], t[after])
    return path <= limit


def run(env_data, state, calc_makespan_fn):
    """Descend from `state` until PATIENCE moves brought nothing or the share of the budget is spent."""
    budget, rng = env_data["budget"], env_data["rng"]
    arrays = prepare(env_data)
    best = plan_of(env_data, state)
    makespan = lay_out(best, *arrays[:4])
    status = np.array([makespan, makespan, 0], np.int64)
    chunk, moves = max(20, CHUNK_OPERATIONS // env_data["total_ops"]), 100
    while status[2] < PATIENCE and not budget.exhausted():
        try_moves(min(moves, chunk), 0.0, *arrays, status, best, rng)
        budget.charge(min(moves, chunk))
        moves *= 2
    put_plan(env_data, state, best)
    return state
