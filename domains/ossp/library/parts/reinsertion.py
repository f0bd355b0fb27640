"""Reinsertion of operations into the gaps of a schedule."""

import numpy as np
from numba import njit
from parts.jsp.schedule import update_heads, update_tails
from parts.schedule import longest_path

CHUNK_OPERATIONS = 400_000  # operations reinserted by one kernel call times operations of the instance


@njit(cache=True)
def list_gaps(x, order, n_machines, job, p, c, t, gaps):
    """List the places of the absent operation x among the operations in `order` that matter to it.

    Only operations of its job and of its machine do; between two of them all places are alike. Column g of
    `gaps` (int32, at least 3 × (n + m)) holds the place in `order` after which gap g begins, the head x would
    have there and the longest path through x. Returns the number of gaps; after the last one
    `gaps` holds the end of the order.
    """
    j = job[x]
    k = x - j * n_machines
    count = 1
    head = tail = np.int32(0)
    gaps[0, 0], gaps[1, 0] = -1, 0
    for i in range(order.size):
        y = order[i]
        if job[y] == j or y - job[y] * n_machines == k:
            head = max(head, c[y])
            gaps[0, count], gaps[1, count] = i, head
            count += 1
    gaps[0, count] = order.size
    for g in range(count - 1, -1, -1):
        gaps[2, g] = gaps[1, g] + p[x] + tail
        if g > 0:
            tail = max(tail, t[order[gaps[0, g]]])
    return count


@njit(cache=True)
def place_in_gap(g, order, p, c, gaps):
    """Place in `order` for an operation that goes into gap g: before the first one that starts later."""
    place = gaps[0, g] + 1
    while place < gaps[0, g + 1] and c[order[place]] - p[order[place]] < gaps[1, g]:
        place += 1
    return place


# exchangeable: gap-choice
@njit(cache=True)
def choose_gap(paths, rng):
    """Index of the gap to take: one of the shortest `paths`, drawn at random."""
    chosen = ties = 0
    for g in range(paths.size):
        if paths[g] < paths[chosen]:
            chosen, ties = g, 1
        elif paths[g] == paths[chosen]:
            ties += 1
            if rng.random() * ties < 1.0:
                chosen = g
    return chosen


@njit(cache=True)
def link(x, place, order, g, n_gaps, job, links, gaps):
    """Put x at `place` of `order`, whose last entry is free, and between its neighbours around gap g."""
    jp, js, mp, ms, _c, _t = links
    n_ops = jp.size - 1
    a = b = after_a = after_b = n_ops
    for i in range(1, g + 1):
        y = order[gaps[0, i]]
        if job[y] == job[x]:
            a = y
        else:
            b = y
    for i in range(n_gaps - 1, g, -1):
        y = order[gaps[0, i]]
        if job[y] == job[x]:
            after_a = y
        else:
            after_b = y
    for i in range(order.size - 1, place, -1):
        order[i] = order[i - 1]
    order[place] = x
    jp[x], js[x], mp[x], ms[x] = a, after_a, b, after_b
    js[a] = jp[after_a] = ms[b] = mp[after_b] = x
    jp[n_ops] = js[n_ops] = mp[n_ops] = ms[n_ops] = n_ops


@njit(cache=True)
def reinsert(out, order, problem, links, gaps, mark, rng):
    """Take the operations `out` from a complete schedule and put them back one by one, each where the longest
    path through it is shortest; returns the makespan. `mark` (bool, all false) marks operations.
    """
    _n_jobs, n_machines, job, p = problem
    jp, js, mp, ms, c, t = links
    n_ops = order.size
    for x in out:
        mark[x] = True
        js[jp[x]], jp[js[x]] = js[x], jp[x]
        ms[mp[x]], mp[ms[x]] = ms[x], mp[x]
        jp[n_ops] = js[n_ops] = mp[n_ops] = ms[n_ops] = n_ops
    kept = 0
    for x in order:
        if not mark[x]:
            order[kept] = x
            kept += 1
    update_heads(order[:kept], np.int64(0), p, jp, mp, c)
    update_tails(order[:kept], kept - 1, p, js, ms, t)
    for x in out:
        mark[x] = False
        count = list_gaps(x, order[:kept], n_machines, job, p, c, t, gaps)
        g = choose_gap(gaps[2, :count], rng)
        place = place_in_gap(g, order[:kept], p, c, gaps)
        kept += 1
        link(x, place, order[:kept], g, count, job, links, gaps)
        update_heads(order[:kept], place, p, jp, mp, c)
        update_tails(order[:kept], place, p, js, ms, t)
    return longest_path(t)


@njit(cache=True)
def save(order, links, saved):
    """Keep a schedule in the rows of `saved`, int32 (7, operations + 1)."""
    jp, js, mp, ms, c, t = links
    saved[0, : order.size] = order
    saved[1], saved[2], saved[3], saved[4], saved[5], saved[6] = jp, js, mp, ms, c, t


@njit(cache=True)
def restore(order, links, saved):
    """Bring back the schedule kept by `save`."""
    jp, js, mp, ms, c, t = links
    order[:] = saved[0, : order.size]
    jp[:], js[:], mp[:], ms[:], c[:], t[:] = saved[1], saved[2], saved[3], saved[4], saved[5], saved[6]


@njit(cache=True)
def reinsert_each(some, makespan, problem, order, links, work, rng):
    """Reinsert the operations `some`, one at a time; returns the makespan, never above the one given."""
    mark, gaps, saved = work
    for i in range(some.size):
        save(order, links, saved)
        found = reinsert(some[i : i + 1], order, problem, links, gaps, mark, rng)
        if found <= makespan:
            makespan = found
        else:
            restore(order, links, saved)
    return makespan


def reinsert_all(makespan, problem, order, links, work, env_data):
    """Reinsert all operations in random order while the share of the budget lasts; returns the makespan."""
    budget, rng = env_data["budget"], env_data["rng"]
    queue = rng.permutation(order.size).astype(np.int32)
    chunk = max(5, CHUNK_OPERATIONS // order.size)
    for start in range(0, queue.size, chunk):
        some = queue[start : start + chunk]
        makespan = int(reinsert_each(some, makespan, problem, order, links, work, rng))
        budget.charge(some.size)
        if budget.exhausted():
            break
    return makespan
