"""Moves of critical operations to places where their insertion can be optimal (Nopt), and their rating.

Source: M. Mastrolilli, L. M. Gambardella, Effective neighbourhood functions for the flexible job shop
problem, 2000.
"""

import numpy as np
from numba import njit
from parts.schedule import critical_path, link, relocate, unlink


@njit(cache=True)
def without(v, shop, links, work):
    """Completion times and tails of the schedule without v, which has been unlinked; its makespan."""
    jp, js, opening = shop[1], shop[2], shop[3]
    mp, ms, p, c, t, order, place = links[0], links[1], links[3], links[4], links[5], links[6], links[7]
    heads, tails = work[0], work[1]
    n_ops = c.size - 1
    heads[: c.size] = c
    tails[: t.size] = t
    heads[v] = c[jp[v]]
    for i in range(place[v] + 1, n_ops):
        x = order[i]
        heads[x] = max(heads[jp[x]], heads[mp[x]]) + p[x]
    tails[v] = t[js[v]]
    for i in range(place[v] - 1, -1, -1):
        x = order[i]
        tails[x] = max(tails[js[x]], tails[ms[x]]) + p[x]
    makespan = 0
    for j in range(opening[n_ops]):
        makespan = max(makespan, tails[opening[j]])
    return makespan


@njit(cache=True)
def is_banned(v, before, k, now, shop, links, to_machine, ahead_of):
    """Whether moving v behind `before` on machine k restores what was undone recently.

    to_machine[v, k]: last iteration in which v may not come to machine k. ahead_of[x, j]: the same for
    putting x ahead of an operation of job j on the machine both are on.
    """
    job, mp, ms, place = shop[0], links[0], links[1], links[7]
    if k != links[2, v]:
        return to_machine[v, k] >= now
    if before != mp.size - 1 and place[before] > place[v]:
        x = v
        while x != before:
            x = ms[x]
            if ahead_of[x, job[v]] >= now:
                return True
        return False
    x = mp[v]
    while x != before:
        if ahead_of[v, job[x]] >= now:
            return True
        x = mp[x]
    return False


@njit(cache=True)
def ban_return(v, before, k, expiry, shop, links, to_machine, ahead_of):
    """Ban, up to iteration `expiry`, what moving v (not yet moved) behind `before` on machine k undoes."""
    job, mp, ms, place = shop[0], links[0], links[1], links[7]
    if k != links[2, v]:
        to_machine[v, links[2, v]] = expiry
    elif before != mp.size - 1 and place[before] > place[v]:
        x = v
        while x != before:
            x = ms[x]
            ahead_of[v, job[x]] = expiry
    else:
        x = mp[v]
        while x != before:
            ahead_of[x, job[v]] = expiry
            x = mp[x]


@njit(cache=True)
def rate_exactly(
    v, is_in_block, now, limit, shop, options, links, first, work, to_machine, ahead_of, found, rng
):  # fmt: skip
    """Rate the insertions of v where one of them is optimal on its machine (Nopt), keep the best in `found`.

    An operation y of a machine is in L if it ends after v could start at the earliest, in R if its tail is
    longer than what must follow v: v goes behind R \\ L and ahead of L \\ R. The makespan is then exactly the
    longer of the one without v and the longest path through v. `found` holds makespan, path through v,
    number of ties, v, predecessor, machine and time; moves that reach `limit` must not be banned.
    """
    mp, ms = links[0], links[1]
    heads, tails = work[0], work[1]
    n_ops = mp.size - 1
    own, own_time, old = links[2, v], links[3, v], mp[v]
    unlink(v, links, first)
    base = without(v, shop, links, work)
    head, tail = heads[shop[1, v]], tails[shop[2, v]]
    for e in range(shop[4, v], shop[4, v + 1]):
        k, time = options[0, e], options[1, e]
        if k == own and not is_in_block:
            continue
        before, after = n_ops, first[k]
        while after != n_ops and tails[after] > tail and heads[after] <= head:
            before, after = after, ms[after]
        while before == n_ops or heads[before] <= head or tails[before] > tail:
            through = max(head, heads[before]) + time + max(tail, tails[after])
            value = max(base, through)
            is_tie = value == found[0] and through == found[1]
            is_kept = value < found[0] or (value == found[0] and through <= found[1])
            is_kept = is_kept and (k != own or before != old)
            if is_kept and value >= limit:
                is_kept = not is_banned(v, before, k, now, shop, links, to_machine, ahead_of)
            if is_kept:
                found[2] = found[2] + 1 if is_tie else 1
                if found[2] == 1 or rng.random() * found[2] < 1.0:
                    found[0], found[1] = value, through
                    found[3], found[4], found[5], found[6] = v, before, k, time
            if after == n_ops:
                break
            before, after = after, ms[after]
    link(v, old, own, own_time, links, first)


@njit(cache=True)
def estimate(v, is_in_block, now, limit, shop, options, links, first, to_machine, ahead_of):
    """Estimated length of the longest path through v after its best insertion that is not banned, from
    completion times and tails as they are; 2**60 if there is none. Places as in `rate_exactly`."""
    jp, js = shop[1], shop[2]
    mp, ms, p, c, t = links[0], links[1], links[3], links[4], links[5]
    n_ops = mp.size - 1
    head, tail, own = c[jp[v]], t[js[v]], links[2, v]
    best = np.int64(2**60)
    for e in range(shop[4, v], shop[4, v + 1]):
        k, time = options[0, e], options[1, e]
        if k != own:
            before, after = n_ops, first[k]
            while after != n_ops and t[after] > tail and c[after] <= head:
                before, after = after, ms[after]
            value = best
            while before == n_ops or c[before] <= head or t[before] > tail:
                value = min(value, max(head, c[before]) + time + max(tail, t[after]))
                if after == n_ops:
                    break
                before, after = after, ms[after]
            if value < best and (value < limit or to_machine[v, k] < now):
                best = value
    if not is_in_block:
        return best
    time = p[v]
    done, before = c[mp[v]], ms[v]
    while before != n_ops:  # v moves behind its successors, which end earlier then
        done = max(c[jp[before]], done) + p[before]
        if done > head and t[before] <= tail:
            break
        after = ms[before]
        value = max(head, done) + time + max(tail, t[after])
        is_allowed = t[after] <= tail or max(c[jp[after]], done) + p[after] > head
        if is_allowed and value < best and value >= limit:
            is_allowed = not is_banned(v, before, own, now, shop, links, to_machine, ahead_of)
        if is_allowed and value < best:
            best = value
        before = after
    rest, after = t[ms[v]], mp[v]
    while after != n_ops:  # v moves ahead of its predecessors, whose tails become shorter
        rest = max(t[js[after]], rest) + p[after]
        if rest > tail and c[after] <= head:
            break
        before = mp[after]
        value = max(head, c[before]) + time + max(tail, rest)
        is_allowed = c[before] <= head or max(t[js[before]], rest) + p[before] > tail
        if is_allowed and value < best and value >= limit:
            is_allowed = not is_banned(v, before, own, now, shop, links, to_machine, ahead_of)
        if is_allowed and value < best:
            best = value
        after = before
    return best


@njit(cache=True)
def best_move(
    length, exact, now, limit, shop, options, links, first, work, to_machine, ahead_of, found, rng
):  # fmt: skip
    """Best move of the critical path that is not tabu, into `found`: the operations whose best move is
    estimated best are rated exactly, at most `exact` of them. Returns how many operations can move."""
    mp, ms = links[0], links[1]
    path, rating = work[4], work[5]
    movable = 0
    for i in range(length):
        v = path[i]
        is_in_block = (i > 0 and path[i - 1] == mp[v]) or (i + 1 < length and path[i + 1] == ms[v])
        rating[i] = 2**60
        if is_in_block or shop[4, v + 1] - shop[4, v] > 1:
            movable += 1
            rating[i] = estimate(
                v, is_in_block, now, limit, shop, options, links, first, to_machine, ahead_of
            )  # fmt: skip
    found[0] = found[1] = 2**60
    found[2], found[3] = 0, -1
    for _ in range(exact):
        i, value, ties = -1, np.int64(2**60), 0
        for j in range(length):
            if rating[j] < value:
                i, value, ties = j, rating[j], 1
            elif rating[j] == value and i >= 0:
                ties += 1
                if rng.random() * ties < 1.0:
                    i = j
        if i < 0:
            break
        v = path[i]
        rating[i] = 2**60
        is_in_block = (i > 0 and path[i - 1] == mp[v]) or (i + 1 < length and path[i + 1] == ms[v])
        rate_exactly(
            v, is_in_block, now, limit, shop, options, links, first, work, to_machine, ahead_of, found, rng
        )  # fmt: skip
    return movable


@njit(cache=True)
def descend(allowance, exact, makespan, shop, options, links, first, work, no_bans, rng):
    """Steepest descent from the present schedule for about `allowance` computations of heads and tails;
    makespan and computations made. A local optimum was reached if fewer were made than allowed."""
    passes = 0
    while passes < allowance:
        passes += exact + 1
        length = critical_path(makespan, shop, links, work[4], rng)
        best_move(
            length, exact, 1, 2**60, shop, options, links, first, work, no_bans, no_bans, work[6], rng
        )  # fmt: skip
        if work[6, 0] >= makespan:
            return makespan, min(passes, allowance - 1)
        v, before, k, time = work[6, 3], work[6, 4], work[6, 5], work[6, 6]
        reached = relocate(
            np.int32(v), np.int32(before), np.int32(k), np.int32(time), shop, links, first, work
        )  # fmt: skip
        if reached < 0:
            return makespan, min(passes, allowance - 1)
        makespan = reached
    return makespan, passes
