"""Rounds of large neighbourhood search on a schedule: some operations leave it and are inserted again.

The file brings ``choose_operations``, who leaves, ``insertion_key``, in which order they return, and
``longest_kept``, which schedules stay.

Source: P. Shaw, "Using constraint programming and local search methods to solve vehicle routing problems"
(1998); M. Mastrolilli, L. M. Gambardella, "Effective neighbourhood functions for the flexible job shop
problem" (2000).
"""

import numpy as np
from numba import njit
from parts.best_insertion import insert_best
from parts.plans import plan_of, prepare, put_plan
from parts.schedule import keep, lay_out, settle, unlink
from parts.taker import choose_operations, insertion_key, longest_kept

CHUNK_OPERATIONS = 200_000  # operations visited by one kernel call, about


@njit(cache=True)
def take_out(removed, shop, links, first, rng):
    """Take up to `removed` operations out of the schedule, which is not settled after it; them, in the order
    of their return."""
    n_ops = links.shape[1] - 1
    chosen = np.empty(removed, np.int64)
    chosen = chosen[: choose_operations(chosen, shop[0], links[4], links[3], rng)]
    keys = np.empty(chosen.size)
    for i in range(chosen.size):
        v = chosen[i]
        keys[i] = insertion_key(links[3, v], rng)
        unlink(v, links, first)
        links[0, v] = links[1, v] = n_ops
        links[3, v] = 0
    return chosen[np.argsort(keys)]


@njit(cache=True)
def make_rounds(
    allowance, removed, progress, shop, options, links, first, work, status, present, best, rng
):  # fmt: skip
    """Take operations out and insert them again, until about `allowance` were inserted.

    `status` holds the best and the present makespan and the operations inserted. No insertion makes a
    schedule shorter: one that is too long is given up before all are back. So is a cycle, which only zero
    times can bring about.
    """
    n_ops, end = links.shape[1] - 1, status[2] + allowance
    while status[2] < end:
        limit = longest_kept(status[1], progress, rng)
        chosen = take_out(removed, shop, links, first, rng)
        makespan, count = settle(0, n_ops - 1, shop, links), 0
        while count < chosen.size and 0 <= makespan <= limit:
            makespan = insert_best(chosen[count], shop, options, links, first, work, rng)
            count += 1
        status[2] += count + 1
        if 0 <= makespan <= limit:
            status[1] = makespan
            keep(present, shop, links)
        else:
            lay_out(present, shop, options, links, first)
        if status[1] < status[0]:
            status[0] = status[1]
            best[:] = present


def search_by_operations(env_data, state, removed):
    """Make rounds from `state` until the share is spent; the shortest schedule is the answer."""
    budget, rng, size = env_data["budget"], env_data["rng"], env_data["total_ops"]
    arrays = prepare(env_data)
    best = plan_of(env_data, state)
    present, removed = best.copy(), min(removed, size)
    allowance = max(20, CHUNK_OPERATIONS // size)
    status = np.array([lay_out(best, *arrays[:4])] * 2 + [0], np.int64)
    while not budget.exhausted():
        before, progress = int(status[2]), 1.0 - budget.remaining()
        make_rounds(allowance, removed, progress, *arrays, status, present, best, rng)
        budget.charge(int(status[2]) - before)
    put_plan(env_data, state, best)
    return state
