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

STRENGTH = 4  # tunable: int 1..50
EXACT = 3  # tunable: int 1..200
TOLERANCE = 0.01  # tunable: float 0.0..0.1
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
    length = 0
    while x != n_ops:
        path[length] = x
        length += 1
        rest = t[x] - p[x]
        a, b = js[x], ms[x]
        if rest == 0:
            x = n_ops
        elif t[a] != rest:
            x = b
        elif t[b] != rest or rng.random() < 0.5:
            x = a
        else:
            x = b
    return length


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


def prepare(env_data):
    """Arrays of an instance and of one schedule; operations are numbered job by job, and the number of all
    operations stands for "none".

    shop, int32 (5, N + 1), by operation: job, job predecessor, job successor; first operation of each job, at
    its end the number of jobs; first of its entries in options, int32 (2, E): eligible machine and time.
    links, int32 (8, N + 1), by operation: machine predecessor, machine successor, machine, time, completion,
    tail (own time included), topological order and places in it. first, int32 (m + 1,): first operation of
    each machine. work, int64 (7, N + 7): heads and tails without one operation, marks and list of shifted
    operations, critical path, ratings along it, the move found.
    """
    counts = np.asarray(env_data["op_counts"], dtype=np.int64)
    n, size = counts.size, int(counts.sum())
    is_operation = np.arange(env_data["max_ops"]) < counts[:, None]
    table = np.asarray(env_data["machines_matrix"])[is_operation]
    times = np.asarray(env_data["times_matrix"])[is_operation]
    opening, x = np.cumsum(counts) - counts, np.arange(size)
    shop = np.full((5, size + 1), size, np.int32)
    shop[0] = np.append(np.repeat(np.arange(n), counts), n)
    shop[1, 1:size], shop[2, : size - 1] = x[:-1], x[1:]
    shop[1, opening] = shop[2, opening + counts - 1] = size
    shop[3, :n], shop[3, size] = opening, n
    shop[4] = np.concatenate(([0], np.cumsum((table >= 0).sum(axis=1))))
    options = np.array([table[table >= 0], times[table >= 0]], dtype=np.int32)
    links = np.zeros((8, size + 1), np.int32)
    links[:2] = size
    first = np.full(env_data["num_machines"] + 1, size, np.int32)
    return shop, options, links, first, np.zeros((7, size + 7), np.int64)


def plan_of(env_data, state):
    """Sequence of jobs and, operation by operation, the machines of a state: int32 (2, total_ops)."""
    counts = np.asarray(env_data["op_counts"])
    is_operation = np.arange(env_data["max_ops"]) < counts[:, None]
    plan = np.empty((2, env_data["total_ops"]), np.int32)
    plan[0] = state.sequence
    plan[1] = np.asarray(state.metadata["machine_alloc"])[is_operation]
    return plan


def put_plan(env_data, state, plan):
    """Make `plan` the solution that `state` holds."""
    counts = np.asarray(env_data["op_counts"])
    is_operation = np.arange(env_data["max_ops"]) < counts[:, None]
    allocation = np.full(is_operation.shape, -1, np.int32)
    allocation[is_operation] = plan[1]
    state.sequence = plan[0].copy()
    state.metadata = {**state.metadata, "machine_alloc": allocation}


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
