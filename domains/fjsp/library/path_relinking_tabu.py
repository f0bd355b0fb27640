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

from dataclasses import dataclass

import numpy as np
from numba import njit

POOL_SIZE = 12  # tunable: int 4..40
PATIENCE = 4000  # tunable: int 500..30000
TRIAL_PATIENCE = 200  # tunable: int 20..4000
TRIALS = 5  # tunable: int 1..20
FILL_SHARE = 0.4  # tunable: float 0.1..0.9
EXACT = 3  # tunable: int 1..20
DISPATCH_NOISE = 0.3  # tunable: float 0.0..2.0
CHUNK_OPERATIONS = 1_500_000  # operations visited by one kernel call, about


# exchangeable: tabu-tenure
@njit(cache=True)
def tabu_tenure(is_same_machine, path_length, options, n_jobs, n_machines, draw):
    """Iterations for which undoing a move stays forbidden; `draw` is uniform on [0, 1).

    `options` is the number of eligible machines of the moved operation.
    """
    if is_same_machine:
        base = 10 + n_jobs // n_machines
        return int(base + draw * base * 0.5) + 1
    base = 5 + path_length // 4 + options
    return int(base + draw * base * 0.5) + 1


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
def tabu_search(
    allowance, exact, patience, target, shop, options, links, first, work, to_machine, ahead_of, status, best,
    rng,
):  # fmt: skip
    """Tabu search from the present schedule for about `allowance` computations of heads and tails; whether
    it is over.

    It is over when `patience` iterations brought no improvement, the makespan met `target`, or no operation
    of the critical path can move. `status` holds the iteration, the best makespan, the iteration of the last
    improvement, the present makespan and the computations made; `best` receives the best plan.
    """
    mp, ms, machine = links[0], links[1], links[2]
    n_jobs = shop[3, mp.size - 1]
    path, found = work[4], work[6]
    now, best_value, improved, makespan = status[0], status[1], status[2], status[3]
    end = status[4] + allowance
    over = False
    while status[4] < end:
        if makespan < best_value:
            best_value, improved = makespan, now
            keep(best, shop, links)
        over = best_value <= target or now - improved >= patience
        if over:
            break
        now += 1
        length = critical_path(makespan, shop, links, path, rng)
        status[4] += exact + 1
        movable = best_move(
            length, exact, now, best_value, shop, options, links, first, work, to_machine, ahead_of, found,
            rng,
        )  # fmt: skip
        if movable == 0:
            over = True
            break
        for _ in range(length):  # every move is tabu: the best one of a random operation
            if found[3] >= 0:
                break
            i = int(rng.random() * length)
            v = path[i]
            is_in_block = (i > 0 and path[i - 1] == mp[v]) or (i + 1 < length and path[i + 1] == ms[v])
            status[4] += 1
            rate_exactly(
                v, is_in_block, now, np.int64(2**60), shop, options, links, first, work, to_machine, ahead_of,
                found, rng,
            )  # fmt: skip
        if found[3] < 0:
            continue
        v, before, k, time = np.int32(found[3]), np.int32(found[4]), np.int32(found[5]), np.int32(found[6])
        tenure = tabu_tenure(
            k == machine[v], length, shop[4, v + 1] - shop[4, v], n_jobs, first.size - 1, rng.random()
        )  # fmt: skip
        ban_return(v, before, k, now + tenure, shop, links, to_machine, ahead_of)
        reached = relocate(v, before, k, time, shop, links, first, work)
        makespan = reached if reached >= 0 else makespan
    status[0], status[1], status[2], status[3] = now, best_value, improved, makespan
    return over


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


def lower_bound(env_data):
    """Longest job and mean machine load with the shortest times, and per machine the load that only it can
    take with the shortest head and tail: a makespan no schedule beats."""
    shortest = np.min(np.asarray(env_data["processing_matrix"]), axis=2)
    shortest[np.isinf(shortest)] = 0.0
    heads = np.cumsum(shortest, axis=1) - shortest
    tails = shortest.sum(axis=1, keepdims=True) - heads - shortest
    bound = max(shortest.sum(axis=1).max(), np.ceil(shortest.sum() / env_data["num_machines"]))
    bound_to = np.where(
        np.asarray(env_data["eligible_counts"]) == 1, env_data["machines_matrix"][:, :, 0], -1
    )
    for k in range(env_data["num_machines"]):
        on_k = bound_to == k
        if on_k.any():
            bound = max(bound, heads[on_k].min() + shortest[on_k].sum() + tails[on_k].min())
    return int(bound)


@dataclass
class Search:
    """What the calls on one instance share."""

    arrays: tuple
    bans: tuple
    target: int
    chunk: int
    rng: np.random.Generator
    budget: object


def open_search(env_data):
    """A :class:`Search` for an instance; a kernel call takes some milliseconds."""
    size, n, m = env_data["total_ops"], env_data["num_jobs"], env_data["num_machines"]
    bans = (np.zeros((size, m), np.int32), np.zeros((size, n), np.int32))
    chunk = max(20, CHUNK_OPERATIONS // size)
    return Search(prepare(env_data), bans, lower_bound(env_data), chunk, env_data["rng"], env_data["budget"])


def improve(search, plan, patience, until):
    """Tabu search from `plan` until `patience` iterations bring nothing or only the fraction `until` of the
    budget remains; (makespan, plan). Kernel calls start short, so that little is done after a short share."""
    makespan = lay_out(plan, *search.arrays[:4])
    status = np.array([0, makespan + 1, 0, makespan, 0], np.int64)
    best = plan.copy()
    for table in search.bans:
        table[:] = 0
    over = False
    while not over:
        before = int(status[4])
        allowance = min(search.chunk, 100 + before)
        over = tabu_search(
            allowance, EXACT, patience, search.target, *search.arrays, *search.bans, status, best, search.rng
        )
        search.budget.charge(int(status[4]) - before)
        over = over or search.budget.remaining() <= until
    return int(status[1]), best


@njit(cache=True)
def dispatch(shop, options, n_machines, noise, plan, rng):
    """A schedule, into `plan`: the job with the most work left goes next, both blurred by noise, and its
    operation goes to the machine that completes it first. Returns the makespan.
    """
    job, opening, choice = shop[0], shop[3], shop[4]
    n_ops = job.size - 1
    n_jobs = opening[n_ops]
    left = np.zeros(n_jobs, np.float64)
    shortest = np.empty(n_ops, np.float64)
    for x in range(n_ops):
        shortest[x] = options[1, choice[x] : choice[x + 1]].min()
        left[job[x]] += shortest[x]
    nxt = opening.copy()
    job_free, machine_free = np.zeros(n_jobs, np.int64), np.zeros(n_machines, np.int64)
    makespan = 0
    for i in range(n_ops):
        chosen, chosen_k, end, value = -1, -1, np.int64(0), -np.inf
        for j in range(n_jobs):
            x = nxt[j]
            if x == n_ops or job[x] != j:
                continue
            done, where = np.int64(2**60), -1
            for e in range(choice[x], choice[x + 1]):
                ready = max(job_free[j], machine_free[options[0, e]]) + options[1, e]
                if ready < done:
                    done, where = ready, options[0, e]
            rated = left[j] * (1.0 + noise * rng.random()) - done * (1.0 + noise * rng.random())
            if rated > value:
                chosen, chosen_k, end, value = x, where, done, rated
        j = job[chosen]
        plan[0, i] = j
        plan[1, chosen] = chosen_k
        job_free[j] = machine_free[chosen_k] = end
        left[j] -= shortest[chosen]
        nxt[j] += 1
        makespan = max(makespan, end)
    return makespan


@njit(cache=True)
def distance(first, second, opening):
    """Number of operations two plans put on different machines plus pairs of neighbours on a machine of the
    first plan that the second does not have in this order on one machine."""
    n_ops = first.shape[1]
    place = np.empty(n_ops, np.int32)
    done = opening.copy()
    for i in range(n_ops):
        place[done[second[0, i]]] = i
        done[second[0, i]] += 1
    last = np.full(first[1].max() + 1, -1, np.int32)
    done[:] = opening
    count = 0
    for i in range(n_ops):
        x = done[first[0, i]]
        done[first[0, i]] += 1
        k = first[1, x]
        if second[1, x] != k:
            count += 1
        y = last[k]
        if y >= 0 and (second[1, y] != second[1, x] or place[y] > place[x]):
            count += 1
        last[k] = x
    return count


# exchangeable: path-point
@njit(cache=True)
def path_point(origin, guide, share, opening, child, rng):
    """A plan between two: repeatedly the first operation missing from the sequence of `origin` or, with
    probability `share`, of `guide`; each operation's machine from one of them with the same odds. A pair both
    serve in the same order keeps that order, and any machines go with any sequence: the result is feasible.
    """
    n_ops = origin.shape[1]
    taken = np.zeros(n_ops, np.bool_)
    a, b, owner = np.empty(n_ops, np.int32), np.empty(n_ops, np.int32), np.empty(n_ops, np.int32)
    done = opening.copy()
    for i in range(n_ops):
        a[i] = done[origin[0, i]]
        done[origin[0, i]] += 1
    done[:] = opening
    for i in range(n_ops):
        b[i] = done[guide[0, i]]
        done[guide[0, i]] += 1
        owner[b[i]] = guide[0, i]
    i = j = 0
    for k in range(n_ops):
        while i < n_ops and taken[a[i]]:
            i += 1
        while taken[b[j]]:
            j += 1
        x = b[j] if rng.random() < share else a[i]
        taken[x] = True
        child[0, k] = owner[x]
        child[1, k] = guide[1, k] if rng.random() < share else origin[1, k]


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


def insert(search, pool, entry):
    """Put `entry` into the pool in place of its worst member, unless it is worse or already there."""
    makespan, plan = entry
    for value, member in pool:
        if value == makespan and distance(plan, member, search.arrays[0][3]) == 0:
            return
    worst = max(range(len(pool)), key=lambda i: pool[i][0])
    if makespan <= pool[worst][0]:
        pool[worst] = entry


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
    best = min(pool, key=lambda entry: entry[0])
    while len(pool) > 1 and best[0] > search.target and not search.budget.exhausted():
        i, j = search.rng.choice(len(pool), 2, replace=False)
        first, second = pool[i][1], pool[j][1]
        for origin, guide in ((first, second), (second, first)):
            if not search.budget.exhausted():
                insert(search, pool, relink(search, origin, guide))
        best = min(best, *pool, key=lambda entry: entry[0])
    if best[0] <= before:
        put_plan(env_data, state, best[1])
    return state
