"""Ruin and recreate (iterated greedy): operations of a time window leave and return at their best places.

Method: a critical operation and operations that start about the same time are taken out; they come back one
by one where the longest path through each is shortest, which heads and tails tell for all places at once.
The new schedule replaces the old one by Metropolis' rule; CYCLES times over the share of the
budget the temperature, in units of the mean processing time, falls geometrically.

Source: R. Ruiz, T. Stützle, A simple and effective iterated greedy algorithm for the permutation flowshop
scheduling problem, 2007 (scheme); H. Bräsel, T. Tautenhahn, F. Werner, Constructive heuristic algorithms for
the open shop problem, 1993 (insertion); G. Schrimpf et al., Record breaking optimization results using the
ruin and recreate principle, 2000 (removal in time).

Complexity: O(N) per operation taken out, for N operations.
"""

import math

import numpy as np
from numba import njit

REMOVED = 6  # tunable: int 1..60
START_TEMPERATURE = 0.25  # tunable: float 0.01..2.0
END_TEMPERATURE = 0.05  # tunable: float 0.001..1.0
CYCLES = 5  # tunable: int 1..100
CHUNK_OPERATIONS = 400_000  # operations reinserted by one kernel call times operations of the instance


# exchangeable: destruction
@njit(cache=True)
def take_out(count, makespan, n_jobs, n_machines, p, c, t, out, mark, rng):
    """Write `count` different operations into `out`: a critical one, then others that start about when it
    does (the nearest of three drawn at random). `mark` is all false before and after.
    """
    n_ops = n_jobs * n_machines
    x = int(rng.random() * n_ops)
    while c[x] + t[x] - p[x] < makespan:
        x = int(rng.random() * n_ops)
    centre = c[x] - p[x]
    for i in range(count):
        if i > 0:
            nearest = 2**40
            for _ in range(3):
                y = int(rng.random() * n_ops)
                if abs(c[y] - p[y] - centre) < nearest:
                    x, nearest = y, abs(c[y] - p[y] - centre)
            while mark[x]:
                x = int(rng.random() * n_ops)
        out[i] = x
        mark[x] = True
    for i in range(count):
        mark[out[i]] = False


@njit(cache=True)
def update_heads(order, start, p, jp, mp, c):
    """Completion times c of the operations at topological places `start` and later."""
    for i in range(start, order.size):
        x = order[i]
        c[x] = max(c[jp[x]], c[mp[x]]) + p[x]


@njit(cache=True)
def update_tails(order, end, p, js, ms, t):
    """Tails t (own time included) of the operations at topological places `end` and earlier."""
    for i in range(end, -1, -1):
        x = order[i]
        t[x] = max(t[js[x]], t[ms[x]]) + p[x]


@njit(cache=True)
def longest_path(t):
    """Makespan: the longest tail of an operation."""
    makespan = t[0]
    for x in range(1, t.size):
        makespan = max(makespan, t[x])
    return makespan


@njit(cache=True)
def lay_out(sequence, problem, topology, links):
    """Set up order, predecessors and successors, heads and tails of a sequence; its makespan."""
    n_jobs, n_machines, job, p = problem
    order, place = topology
    jp, js, mp, ms, c, t = links
    n_ops = n_jobs * n_machines
    last_of_job = np.full(n_jobs, n_ops, np.int32)
    last_on = np.full(n_machines, n_ops, np.int32)
    for i in range(n_ops):
        x = sequence[i]
        order[i] = x
        place[x] = i
        j = job[x]
        k = x - j * n_machines
        jp[x], mp[x] = last_of_job[j], last_on[k]
        js[jp[x]] = ms[mp[x]] = x
        js[x] = ms[x] = n_ops
        last_of_job[j] = last_on[k] = x
    jp[n_ops] = js[n_ops] = mp[n_ops] = ms[n_ops] = n_ops
    update_heads(order, np.int64(0), p, jp, mp, c)
    update_tails(order, n_ops - 1, p, js, ms, t)
    return longest_path(t)


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


def prepare(env_data):
    """Arrays of an instance and of one schedule; the operation of job j on machine k is j * machines + k.

    problem: numbers of jobs and machines; job and time of an operation. topology: a topological order and
    the places in it. links: job predecessors and successors, machine predecessors and successors,
    completion times, tails (own time included). work: critical path, heads in a move, moved operations and
    their marks. The number of operations stands for "none".
    """
    n, m = env_data["num_jobs"], env_data["num_machines"]
    size = n * m
    p = np.zeros(size + 1, np.int32)
    p[:size] = np.asarray(env_data["ossp_times"]).ravel()
    job = (np.arange(size + 1) // m).astype(np.int32)
    blank = [np.zeros(size + 1, np.int32) for _ in range(10)]
    topology, links = (np.zeros(size, np.int32), blank[0]), tuple(blank[1:7])
    return (n, m, job, p), topology, links, (*blank[7:], np.zeros(size + 1, np.bool_))


# exchangeable: acceptance
@njit(cache=True)
def accepts(loss, temperature, draw):
    """Whether a move that lengthens the schedule by `loss` is made; `draw` is uniform on [0, 1)."""
    return loss <= 0 or draw < math.exp(-loss / temperature)


@njit(cache=True)
def search(rounds, removed, temperature, target, problem, order, links, work, status, best, rng):
    """At most `rounds` of ruin and recreate; the number made, fewer when the makespan met `target`.

    `status` holds the best and the present makespan, `best` the best order.
    """
    n_jobs, n_machines, _job, p = problem
    c, t = links[4], links[5]
    out, mark, gaps, saved = work
    for made in range(rounds):
        if status[0] <= target:
            return made
        save(order, links, saved)
        take_out(removed, status[1], n_jobs, n_machines, p, c, t, out, mark, rng)
        makespan = reinsert(out[:removed], order, problem, links, gaps, mark, rng)
        if accepts(makespan - status[1], temperature, rng.random()):
            status[1] = makespan
            if makespan < status[0]:
                status[0] = makespan
                best[:] = order
        else:
            restore(order, links, saved)
    return rounds


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent or the lower bound is met."""
    budget, rng = env_data["budget"], env_data["rng"]
    problem, (order, place), links, (out, _head, _moved, mark) = prepare(env_data)
    makespan = int(lay_out(np.array(state.sequence, dtype=np.int32), problem, (order, place), links))
    gaps = np.zeros((3, problem[0] + problem[1] + 1), np.int32)
    work = (out, mark, gaps, np.zeros((7, order.size + 1), np.int32))
    status = np.array([makespan, makespan], np.int64)
    best = order.copy()
    removed = min(REMOVED, order.size)
    scale = max(float(problem[3].mean()), 1e-9)
    rounds = made = max(5, CHUNK_OPERATIONS // (order.size * removed))
    while made == rounds and not budget.exhausted():
        heat = (START_TEMPERATURE / END_TEMPERATURE) ** (budget.remaining() * CYCLES % 1.0)
        temperature = scale * END_TEMPERATURE * heat
        made = search(
            rounds, removed, temperature, env_data["lower_bound"], problem, order, links, work, status, best,
            rng,
        )  # fmt: skip
        budget.charge(made * removed)
    state.sequence = best
    return state
