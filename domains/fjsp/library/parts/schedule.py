"""The schedule of a plan as a graph: completion times, tails and a topological order, kept up to date while
operations move.

An operation's tail is the longest path from its start to the end of the schedule. :func:`prepare` of the part
``plans`` explains the arrays.
"""

import numpy as np
from numba import njit
from parts.shops.critical_path import follow

CHUNK_OPERATIONS = 1_500_000  # operations visited by one kernel call, about


@njit(cache=True)
def settle(start, end, shop, links):
    """Bring completion times at topological places `start` and later and tails at places `end` and earlier up
    to date; returns the makespan."""
    jp, js, opening = shop[1], shop[2], shop[3]
    mp, ms, p, c, t, order = links[0], links[1], links[3], links[4], links[5], links[6]
    n_ops = c.size - 1
    for i in range(start, n_ops):
        x = order[i]
        c[x] = max(c[jp[x]], c[mp[x]]) + p[x]
    for i in range(end, -1, -1):
        x = order[i]
        t[x] = max(t[js[x]], t[ms[x]]) + p[x]
    makespan = 0
    for j in range(opening[n_ops]):
        makespan = max(makespan, t[opening[j]])
    return makespan


@njit(cache=True)
def lay_out(plan, shop, options, links, first):
    """Set up the schedule of a plan (sequence of jobs; machine per operation); returns its makespan."""
    opening, choice = shop[3], shop[4]
    mp, ms, machine, p, order, place = links[0], links[1], links[2], links[3], links[6], links[7]
    n_ops = mp.size - 1
    done = opening.copy()
    last = np.full(first.size, n_ops, np.int32)
    first[:] = n_ops
    for i in range(n_ops):
        x = done[plan[0, i]]
        done[plan[0, i]] += 1
        order[i] = x
        place[x] = i
        k = plan[1, x]
        machine[x] = k
        for e in range(choice[x], choice[x + 1]):
            if options[0, e] == k:
                p[x] = options[1, e]
        mp[x] = last[k]
        ms[x] = n_ops
        if last[k] == n_ops:
            first[k] = x
        else:
            ms[last[k]] = x
        last[k] = x
    return settle(0, n_ops - 1, shop, links)


@njit(cache=True)
def critical_path(makespan, shop, links, path, rng):
    """One critical path, drawn at random where it forks; returns its length."""
    js, opening = shop[2], shop[3]
    ms, p, t = links[1], links[3], links[5]
    n_ops = t.size - 1
    x = n_ops
    ties = 0
    for j in range(opening[n_ops]):
        if t[opening[j]] == makespan:
            ties += 1
            if rng.random() * ties < 1.0:
                x = opening[j]
    return follow(x, p, js, ms, t, path, rng)


@njit(cache=True)
def link(v, before, k, time, links, first):
    """Put operation v, which no machine has, on machine k behind `before` ("none": to the front)."""
    mp, ms = links[0], links[1]
    n_ops = mp.size - 1
    after = first[k] if before == n_ops else ms[before]
    mp[v], ms[v], links[2, v], links[3, v] = before, after, k, time
    if before == n_ops:
        first[k] = v
    else:
        ms[before] = v
    if after != n_ops:
        mp[after] = v


@njit(cache=True)
def unlink(v, links, first):
    """Take operation v out of its machine's order; its own links still tell where it was."""
    mp, ms = links[0], links[1]
    n_ops = mp.size - 1
    if mp[v] == n_ops:
        first[links[2, v]] = ms[v]
    else:
        ms[mp[v]] = ms[v]
    if ms[v] != n_ops:
        mp[ms[v]] = mp[v]


@njit(cache=True)
def put(v, before, k, time, shop, links, first, work):
    """Give v, which no machine has, to machine k behind `before`; the new makespan, −1 if that would close a
    cycle.

    In the topological order v goes behind its predecessors and ahead of its successors; successors that
    stand before a predecessor move behind v, with all that depends on them.
    """
    jp, js = shop[1], shop[2]
    mp, ms, order, place = links[0], links[1], links[6], links[7]
    mark, moved = work[2], work[3]
    n_ops = mp.size - 1
    old = place[v]
    after = first[k] if before == n_ops else ms[before]
    low, high = n_ops, -1
    for y in (js[v], after):
        if y != n_ops:
            low = min(low, place[y])
    for y in (jp[v], before):
        if y != n_ops:
            high = max(high, place[y])
    start, end = min(low, old), max(high, old)
    count, is_cyclic = 0, False
    if high >= low:
        for i in range(low, end + 1):
            x = order[i]
            if x != v and (x == js[v] or x == after or mark[jp[x]] or mark[mp[x]]):
                mark[x] = 1
                moved[count] = x
                count += 1
                is_cyclic = is_cyclic or x == before or x == jp[v]
    for i in range(count):
        mark[moved[i]] = 0
    if is_cyclic:
        return -1
    if count == 0:
        start, end = (low, old) if old > low else (old, max(old, high))
    write, ahead = start, 0
    if count > 0 or old < high:
        for i in range(start, end + 1):
            x = order[i]
            if ahead < count and x == moved[ahead]:
                ahead += 1
            elif x != v:
                order[write] = x
                place[x] = write
                write += 1
        order[write] = v
        place[v] = write
    elif old > low:
        for i in range(old, low, -1):
            x = order[i - 1]
            order[i] = x
            place[x] = i
        order[low] = v
        place[v] = low
    for i in range(count):
        x = moved[i]
        order[write + 1 + i] = x
        place[x] = write + 1 + i
    link(v, before, k, time, links, first)
    return settle(start, end, shop, links)


@njit(cache=True)
def relocate(v, before, k, time, shop, links, first, work):
    """Move v to machine k behind `before`; the new makespan, −1 if that would close a cycle."""
    old_before, old_k, old_time = links[0, v], links[2, v], links[3, v]
    unlink(v, links, first)
    makespan = put(v, before, k, time, shop, links, first, work)
    if makespan < 0:
        link(v, old_before, old_k, old_time, links, first)
    return makespan


@njit(cache=True)
def keep(plan, shop, links):
    """Write the present schedule into `plan`."""
    for i in range(plan.shape[1]):
        plan[0, i] = shop[0, links[6, i]]
        plan[1, i] = links[2, i]


# exchangeable: random-move
@njit(cache=True)
def draw_target(v, draw, shop, options, links, first, target):
    """Machine, time and predecessor, into `target`, of a random insertion of v that closes no cycle.

    On another machine v goes somewhere behind the operations that end before it can start and ahead of those
    whose tails are shorter than its own; on its own it changes places with a neighbour. `draw` holds three
    numbers uniform on [0, 1). Returns whether there is such a place.
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
    count = 0
    while before == n_ops or c[before] <= head or t[before] > tail:
        count += 1
        if draw[2] * count < 1.0:
            target[2] = before
        if after == n_ops:
            break
        before, after = after, ms[after]
    return True


@njit(cache=True)
def shake(moves, makespan, shop, options, links, first, work, rng):
    """Make `moves` random moves of critical operations; the new makespan. work[6] tells how to undo the last
    one: operation, old predecessor, machine and time, −1 if there was no move."""
    draw, target = np.empty(3), np.empty(3, np.int64)
    for _ in range(moves):
        length = critical_path(makespan, shop, links, work[4], rng)
        v = np.int32(work[4, int(rng.random() * length)])
        for i in range(3):
            draw[i] = rng.random()
        work[6, 0] = -1
        if draw_target(v, draw, shop, options, links, first, target):
            work[6, 1], work[6, 2], work[6, 3] = links[0, v], links[2, v], links[3, v]
            k, time, before = np.int32(target[0]), np.int32(target[1]), np.int32(target[2])
            reached = relocate(v, before, k, time, shop, links, first, work)
            if reached >= 0:
                work[6, 0] = v
                makespan = reached
    return makespan
