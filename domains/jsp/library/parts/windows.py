"""Tabu search in one window of time after another, whose moves cost a part of those on the whole schedule.

Operations in order[a:b] change their order on the machines, all others stay where they are. Every critical
path passes the window, so a schedule is shorter as soon as the longest path through the window is; ends and
tails are computed anew within it alone.
"""

import numpy as np
from numba import njit
from parts.crossing_moves import ban_return, choose, list_kinds, renew, shift, trace_back

WINDOW = 1500  # tunable: int 50..5000
WINDOW_MOVES = 2500  # tunable: int 100..50000
WORTHWHILE = 0.003  # tunable: float 0.0..0.05
WINDOW_CHUNK = 700_000  # moves of one kernel call times operations of the window


@njit(cache=True)
def find_exits(a, b, m, order, place, machine, p, out):
    """Write the last operation of each job in the window order[a:b], and behind it on each machine the first
    one after the window; 0 for none."""
    out[:] = 0
    for i in range(a, b):
        x = order[i]
        if p[x + 1] < 0 or place[x + 1] >= b:
            out[0, (x - 1) // (m + 1)] = x
    for i in range(order.size - 1, b - 1, -1):
        out[1, machine[order[i]]] = order[i]


@njit(cache=True)
def window_length(a, exits, place, mp, e, t):
    """Longest path through the window."""
    longest = 0
    for x in exits[0]:
        if x != 0:
            longest = max(longest, e[x] + t[x + 1])
    for y in exits[1]:
        if y != 0 and mp[y] != 0 and place[mp[y]] >= a:
            longest = max(longest, e[mp[y]] + t[y])
    return longest


@njit(cache=True)
def trace_window(a, longest, m, exits, place, p, mp, e, t, path, rng):
    """Write the part in the window of a random critical path to the end of `path`; the place where it
    starts."""
    x = ties = 0
    for y in exits[0]:
        if y != 0 and e[y] + t[y + 1] == longest:
            ties += 1
            if rng.random() * ties < 1.0:
                x = y
    for y in exits[1]:
        if y != 0 and mp[y] != 0 and place[mp[y]] >= a and e[mp[y]] + t[y] == longest:
            ties += 1
            if rng.random() * ties < 1.0:
                x = mp[y]
    return trace_back(x, a, m, place, p, mp, e, path, rng)


@njit(cache=True)
def window_moves(a, b, moves, tenure, problem, topology, links, work, exits, until, status, best, rng):
    """Make `moves` moves of operations in the window order[a:b]; whether there were any to make.

    status: moves made, longest path of the best order, present longest path. `best` receives the best order,
    of equals the last, at the places of the window.
    """
    _, m, machine, job, p = problem
    order, place = topology
    mp, ms, e, t = links
    path, row, mark, moved, rows = work
    for _ in range(moves):
        status[0] += 1
        begin = trace_window(a, status[2], m, exits, place, p, mp, e, t, path, rng)
        count = list_kinds(begin, path, machine, rows)
        chosen = choose(count, status[1], status[0], job, until, p, mp, ms, e, t, row, rows, rng)
        if chosen < 0:
            return False
        u, v, is_forward = rows[chosen, 0], rows[chosen, 1], rows[chosen, 2] == 1
        expiry = status[0] + tenure[0] + int(rng.random() * (tenure[1] - tenure[0] + 1))
        ban_return(u, v, is_forward, mp, ms, job, until, expiry)
        lo, hi = shift(u, v, is_forward, order, place, mp, ms, mark, moved)
        renew(lo, hi, a, b, order, p, mp, ms, e, t)
        status[2] = window_length(a, exits, place, mp, e, t)
        if status[2] <= status[1]:
            status[1] = status[2]
            best[a:b] = order[a:b]
    return True


def compile_kernels(shop):
    """Compile what a search needs, not in the middle of a timed run: no move is made."""
    _, place = shop.topology
    exits = np.zeros((2, max(shop.problem[:2])), np.int32)
    find_exits(0, 0, shop.problem[1], shop.topology[0][:0], place, *shop.problem[2::2], exits)
    window_moves(
        0, 0, 0, shop.tenure, shop.problem, shop.topology, shop.links, shop.space, exits, shop.until,
        np.zeros(3, np.int64), shop.topology[0].copy(), shop.rng,
    )  # fmt: skip


def search_window(shop, a, b, left, makespan, now):
    """At most `left` moves of a tabu search in the window from `a` to `b` of the present schedule; its
    makespan, the number of the last move."""
    order, place = shop.topology
    n, m, machine, _, p = shop.problem
    exits = np.zeros((2, max(n, m)), np.int32)
    find_exits(a, b, m, order, place, machine, p, exits)
    best = order.copy()
    status = np.array([now + 1000, makespan, makespan])  # what was tabu is so no more
    chunk, goes_on = max(20, WINDOW_CHUNK // (b - a)), True
    while goes_on and left > 0 and status[1] > shop.target and not shop.budget.exhausted():
        before = int(status[0])
        goes_on = window_moves(
            a, b, min(chunk, left), shop.tenure, shop.problem, shop.topology, shop.links, shop.space, exits,
            shop.until, status, best, shop.rng,
        )  # fmt: skip
        left -= chunk
        shop.budget.charge(int(status[0]) - before)
    return shop.load(best), int(status[0])


def in_time(shop):
    """The operations of the present schedule by the sum of their earliest and latest starts: such an order is
    topological."""
    order, (_, _, e, t) = shop.topology[0], shop.links
    return order[np.argsort(e[order] - shop.problem[4][order] - t[order], kind="stable")]


def search_windows(shop, makespan, goes_on_without_gain):
    """Search windows that overlap by a half, pass after pass, until the share is spent, the makespan met the
    bound or, unless it goes on, a pass brought no gain; the makespan of the schedule that is left.

    Behind a pass that gained less than the share WORTHWHILE, windows are searched for twice as long.
    """
    size, now, a = shop.ids.size, 0, 0
    width, moves, at_first = min(WINDOW, size // 2 + 1), WINDOW_MOVES, makespan
    while makespan > shop.target and not shop.budget.exhausted():
        shop.load(in_time(shop))
        makespan, now = search_window(shop, max(0, a), min(size, a + width), moves, makespan, now)
        a += max(1, width // 2)
        if a >= size - width // 4:
            if makespan == at_first and not goes_on_without_gain:
                break
            if at_first - makespan < WORTHWHILE * makespan:
                moves *= 2
            a, at_first = -int(shop.rng.integers(0, width // 2 + 1)), makespan
    shop.until[:] = 0
    return makespan
