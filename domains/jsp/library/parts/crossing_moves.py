"""Moves of operations across their block of a critical path (N7), rated by heads and tails.

Operation k of job j has number j * (m + 1) + k + 1; x - 1 and x + 1 are the neighbours of x in its job, and
numbers between jobs are empty, as 0 is.
"""

import numpy as np
from numba import njit


@njit(cache=True)
def load(order, place, machine, p, mp, ms, e, t):
    """Set machine neighbours, places, ends and tails that belong to a topological order; its makespan."""
    last = np.zeros(machine.max() + 1, np.int32)
    mp[:] = ms[:] = 0
    makespan = 0
    for i in range(order.size):
        x = order[i]
        place[x] = i
        mp[x] = last[machine[x]]
        if mp[x] != 0:
            ms[mp[x]] = x
        last[machine[x]] = x
        e[x] = max(e[x - 1], e[mp[x]]) + p[x]
        makespan = max(makespan, e[x])
    for i in range(order.size - 1, -1, -1):
        x = order[i]
        t[x] = max(t[x + 1], t[ms[x]]) + p[x]
    return makespan


@njit(cache=True)
def rate_behind(u, v, p, mp, ms, e, t, ends):
    """Longest path, by estimate, through what moves when u goes right behind v."""
    end = e[mp[u]]
    x = u
    k = 0
    while x != v:
        x = ms[x]
        end = max(e[x - 1], end) + p[x]
        ends[k] = end
        k += 1
    start = max(t[u + 1], t[ms[v]]) + p[u]
    longest = max(e[u - 1], end) + start
    x = v
    while x != u:
        k -= 1
        tail = max(t[x + 1], start)
        longest = max(longest, ends[k] + tail)
        start = tail + p[x]
        x = mp[x]
    return longest


@njit(cache=True)
def rate_before(u, v, p, mp, ms, e, t, starts):
    """The same when v goes right before u."""
    start = t[ms[v]]
    x = v
    k = 0
    while x != u:
        x = mp[x]
        start = max(t[x + 1], start) + p[x]
        starts[k] = start
        k += 1
    end = max(e[v - 1], e[mp[u]]) + p[v]
    longest = end + max(t[v + 1], start)
    x = u
    while x != v:
        k -= 1
        head = max(e[x - 1], end)
        longest = max(longest, head + starts[k])
        end = head + p[x]
        x = ms[x]
    return longest


@njit(cache=True)
def list_kinds(first, path, machine, rows):
    """Write the moves of the blocks of path[first:] into `rows` (u, v, is forward); their number.

    Each behind the last of its block, the first behind inner ones, each before the first, the last before
    inner ones; none at the open ends of the path.
    """
    total, count, s = path.size, 0, first
    while s < total:
        f = s
        while f + 1 < total and machine[path[f + 1]] == machine[path[s]]:
            f += 1
        low, high = s + (s != first), f - (f != total - 1)
        for i in range(s, f if f != total - 1 else s):
            rows[count, 0], rows[count, 1], rows[count, 2] = path[i], path[f], 1
            count += 1
        for i in range(s + 1, high + 1 if s != first else s):
            rows[count, 0], rows[count, 1], rows[count, 2] = path[s], path[i], 1
            count += 1
        for i in range(s + 2, f + 1 if s != first else s):
            rows[count, 0], rows[count, 1], rows[count, 2] = path[s], path[i], 0
            count += 1
        for i in range(low, f - 1 if f != total - 1 else s):
            rows[count, 0], rows[count, 1], rows[count, 2] = path[i], path[f], 0
            count += 1
        s = f + 1
    return count


@njit(cache=True)
def choose(count, known, now, job, until, p, mp, ms, e, t, ends, rows, rng):
    """Row of the best rated of `count` moves, a random one if all are tabu; -1 if none is feasible."""
    value, chosen, spare = 2**40, -1, -1
    ties = feasible = 0
    for row in range(count):
        u, v = rows[row, 0], rows[row, 1]
        if rows[row, 2] == 1:
            if ms[u] != v and t[u + 1] >= t[v] and (t[u + 1] > t[v] or p[u + 1] == 0):
                continue
            least = max(e[ms[u] - 1], e[mp[u]]) + e[v] - e[u] + p[u] + max(t[u + 1], t[ms[v]])
        else:
            if ms[u] != v and e[v - 1] >= e[u] and (e[v - 1] > e[u] or p[v - 1] == 0):
                continue
            least = max(t[mp[v] + 1], t[ms[v]]) + t[u] - t[v] + p[v] + max(e[v - 1], e[mp[u]])
        feasible += 1
        if chosen < 0 and rng.random() * feasible < 1.0:
            spare = row
        if least > value:  # what it passes in a row is too long by itself
            continue
        if rows[row, 2] == 1:
            rated = rate_behind(u, v, p, mp, ms, e, t, ends)
        else:
            rated = rate_before(u, v, p, mp, ms, e, t, ends)
        if rated > value or (rated >= known and is_tabu(u, v, rows[row, 2] == 1, now, mp, ms, job, until)):
            continue
        ties = ties + 1 if rated == value else 1
        value = rated
        if ties == 1 or rng.random() * ties < 1.0:
            chosen = row
    return chosen if chosen >= 0 else spare


@njit(cache=True)
def is_tabu(u, v, is_forward, now, mp, ms, job, until):
    """Whether a move restores an order of two operations that is still banned."""
    x = u if is_forward else v
    while x != (v if is_forward else u):
        x = ms[x] if is_forward else mp[x]
        if (until[x, job[u]] if is_forward else until[v, job[x]]) > now:
            return True
    return False


@njit(cache=True)
def shift(u, v, is_forward, order, place, mp, ms, mark, moved):
    """Put u right behind v, or v right before u, on their machine; places between which the order changed.

    What must follow u (precede v) is shifted behind v (before u) in the topological order.
    """
    lo, hi = np.int64(place[u]), np.int64(place[v])
    before, after, second, last = mp[u], ms[v], ms[u], mp[v]
    if is_forward:
        ms[before], mp[second], ms[v], mp[u], ms[u], mp[after] = second, before, u, v, after, u
    else:
        ms[last], mp[after], ms[before], mp[v], ms[v], mp[u] = after, last, v, before, u, v
    ms[0] = mp[0] = 0
    step = 1 if is_forward else -1
    write = lo if is_forward else hi
    mark[u if is_forward else v] = True
    count = 0
    for passed in range(hi - lo + 1):
        x = order[lo + passed if is_forward else hi - passed]
        if mark[x] or mark[x - step] or mark[mp[x] if is_forward else ms[x]]:
            mark[x] = True
            moved[count] = x
            count += 1
        else:
            order[write] = x
            place[x] = write
            write += step
    for i in range(count):
        x = moved[i]
        mark[x] = False
        order[write] = x
        place[x] = write
        write += step
    return lo, hi


@njit(cache=True)
def ban_return(u, v, is_forward, mp, ms, job, until, expiry):
    """Ban, up to move `expiry`, the orders of two operations that the move is about to undo."""
    x = u if is_forward else v
    while x != (v if is_forward else u):
        x = ms[x] if is_forward else mp[x]
        if is_forward:
            until[u, job[x]] = expiry
        else:
            until[x, job[v]] = expiry


@njit(cache=True)
def trace_back(x, a, m, place, p, mp, e, path, rng):
    """Write a random critical path that ends with x to the end of `path`, from place `a` of the topological
    order on; the place in `path` where it starts."""
    first = path.size
    while x != 0 and place[x] >= a:
        first -= 1
        path[first] = x
        start = e[x] - p[x]
        by_job = (x - 1) % (m + 1) != 0 and e[x - 1] == start
        by_machine = mp[x] != 0 and e[mp[x]] == start
        if by_job and not (by_machine and rng.random() < 0.5):
            x -= 1
        else:
            x = mp[x] if by_machine else 0
    return first


@njit(cache=True)
def renew(lo, hi, a, b, order, p, mp, ms, e, t):
    """Compute ends of order[lo:b], and tails from place `hi` down to place `a`."""
    for i in range(lo, b):
        x = order[i]
        e[x] = max(e[x - 1], e[mp[x]]) + p[x]
    for i in range(hi, a - 1, -1):
        x = order[i]
        t[x] = max(t[x + 1], t[ms[x]]) + p[x]
