"""Large neighbourhood search: operations leave the schedule and are inserted again at their best places.

Method: the operations of a random job, or those that run within a random span of time, lose machine and
place. They come back in random order, each on the machine and at the place where the longest path through it
is shortest. The new schedule is kept when it is not longer than the old one, or than the best one by more
than a fraction that shrinks to nothing over the share of the budget.

Source: G. Schrimpf, J. Schneider, H. Stamm-Wilbrandt, G. Dueck, Record breaking optimization results using
the ruin and recreate principle, 2000; M. Mastrolilli, L. M. Gambardella, 2000 (optimal insertion).

Complexity: O(N) per inserted operation for N operations.
"""

import numpy as np
from numba import njit

LARGEST_SHARE = 0.1  # tunable: float 0.01..0.5
TOLERANCE = 0.01  # tunable: float 0.0..0.1
JOB_ODDS = 0.3  # tunable: float 0.0..1.0
CHUNK_OPERATIONS = 800_000  # operations visited by one kernel call, about


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


# exchangeable: destruction
@njit(cache=True)
def take_out(limit, is_job, draw, job, ends, times, chosen):
    """Write into `chosen` at most `limit` operations: of one job or all that run in one span of time.

    `ends` and `times` are completion and processing times by operation; `draw` holds two numbers uniform on
    [0, 1). Returns how many there are.
    """
    n_ops = job.size - 1
    limit = min(limit, n_ops)
    centre = int(draw[0] * n_ops)
    count = 0
    if is_job:
        for x in range(n_ops):
            if job[x] == job[centre] and count < limit:
                chosen[count] = x
                count += 1
        return count
    middle = int(ends[centre]) - int(times[centre]) // 2
    reach = int(times[centre]) // 2 + 1
    offset = int(draw[1] * n_ops)
    while count < limit and reach < 2**31:
        count = 0
        for i in range(n_ops):
            x = (i + offset) % n_ops
            if count < limit and ends[x] - times[x] <= middle + reach and ends[x] >= middle - reach:
                chosen[count] = x
                count += 1
        reach *= 2
    return count


@njit(cache=True)
def insert_best(v, shop, options, links, first, work, rng):
    """Put v, which no machine has, where the longest path through it is shortest; the makespan."""
    mp, ms, c, t = links[0], links[1], links[4], links[5]
    n_ops = mp.size - 1
    head, tail = c[shop[1, v]], t[shop[2, v]]
    best, ties, k, time, place = np.int64(2**60), 0, np.int32(0), np.int32(0), np.int32(n_ops)
    for e in range(shop[4, v], shop[4, v + 1]):
        before, after = np.int32(n_ops), first[options[0, e]]
        while after != n_ops and t[after] > tail and c[after] <= head:
            before, after = after, ms[after]
        while before == n_ops or c[before] <= head or t[before] > tail:
            through = max(head, c[before]) + options[1, e] + max(tail, t[after])
            ties = ties + 1 if through == best else 1
            if through < best or (through == best and rng.random() * ties < 1.0):
                best, k, time, place = through, options[0, e], options[1, e], before
            if after == n_ops:
                break
            before, after = after, ms[after]
    return put(v, place, k, time, shop, links, first, work)


@njit(cache=True)
def recreate(
    allowance, largest, limit, job_odds, shop, options, links, first, work, status, present, best, rng
):  # fmt: skip
    """Take out and insert again until about `allowance` operations have been inserted.

    `status` holds the best and the present makespan and the operations inserted; a schedule below `limit`
    times the best makespan is accepted. A cycle, which only zero times can bring about, undoes the round.
    """
    n_ops = links.shape[1] - 1
    chosen, draw = np.empty(n_ops, np.int32), np.empty(2)
    end = status[2] + allowance
    while status[2] < end:
        draw[0], draw[1] = rng.random(), rng.random()
        count = take_out(
            1 + int(rng.random() * largest), rng.random() < job_odds, draw, shop[0], links[4], links[3],
            chosen,
        )  # fmt: skip
        for i in range(count):
            v = chosen[i]
            unlink(v, links, first)
            links[0, v] = links[1, v] = n_ops
            links[3, v] = 0
        makespan = settle(0, n_ops - 1, shop, links)
        for i in range(count):
            j = i + int(rng.random() * (count - i))
            chosen[i], chosen[j] = chosen[j], chosen[i]
            if makespan >= 0:
                makespan = insert_best(chosen[i], shop, options, links, first, work, rng)
        status[2] += count + 1
        if makespan >= 0 and (makespan <= status[1] or makespan <= status[0] * limit):
            status[1] = makespan
            keep(present, shop, links)
        else:
            lay_out(present, shop, options, links, first)
        if status[1] < status[0]:
            status[0] = status[1]
            best[:] = present


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
    best = plan_of(env_data, state)
    present = best.copy()
    size = env_data["total_ops"]
    largest, chunk, allowance = max(2, int(LARGEST_SHARE * size)), max(20, CHUNK_OPERATIONS // size), 100
    status = np.array([lay_out(best, *arrays[:4])] * 2 + [0], np.int64)
    while not budget.exhausted():
        before = int(status[2])
        limit = 1.0 + TOLERANCE * budget.remaining()
        recreate(
            min(allowance, chunk), largest, limit, JOB_ODDS, *arrays, status, present, best, rng
        )  # fmt: skip
        budget.charge(int(status[2]) - before)
        allowance *= 2
    put_plan(env_data, state, best)
    return state
