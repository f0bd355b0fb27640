"""Branching on pairs of operations: restarts, weights of what failed, the best schedule as a guide.

Method: a schedule shorter than the best one is looked for. Each operation has an earliest and a latest start;
of two operations of a job or a machine one must come first, and where only one of the two can, it does, which
moves starts. A pair that is still open is decided as in the best schedule, then the other way round: the one
whose operations have the least room between their starts, divided by the number of times that the pair was
what failed. After so many failures, ever more, the search begins again; the weights stay. Where nothing is
left to try, the best schedule is optimal, and the operator stops.

Source: D. Grimes, E. Hebrard, A. Malapert, Closing the open shop: contradicting conventional wisdom, 2009
(light propagation, weighted degree, restarts); F. Boussemart, F. Hemery, C. Lecoutre, L. Saïs, Boosting
systematic search by weighting constraints, 2004; J. C. Beck, Solution-guided multi-point constructive search
for job shop scheduling, 2007.

Complexity: O(E) per decision and O(n + m) per start that moves, for E = N (n + m - 2) / 2 pairs, n jobs, m
machines and N operations.
"""

import numpy as np
from numba import njit

FIRST_FAILURES = 200  # tunable: int 1..1000000
GROWTH = 1.3  # tunable: float 1.001..10.0
NOISE = 0.3  # tunable: float 0.0..10.0
CHUNK_PAIRS = 4_000_000  # decisions of one kernel call times pairs of the instance
MOST_CHANGES = 4_000_000  # changes that one descent may remember
RUNNING, FOUND, EXHAUSTED, GIVEN_UP = 0, 1, 2, 3
LOW, HIGH, SIDE = 0, 1, 2


# exchangeable: pair-key
@njit(cache=True)
def pair_key(room, weight, noise):
    """Rank of an open pair, the lowest is decided next: `room` is what its two operations can still move,
    `weight` 1 and the times the pair failed, `noise` at least 1, drawn anew at each restart.
    """
    return (room + 2.0) * noise / weight


@njit(cache=True)
def remember(kind, index, before, changes, top):
    """Put a value that changes on the stack; returns its new height."""
    changes[top, 0], changes[top, 1], changes[top, 2] = kind, index, before
    return top + 1


@njit(cache=True)
def undo(height, low, high, side, changes, top):
    """Take back what changed since the stack was `height` high; returns `height`."""
    for i in range(top - 1, height - 1, -1):
        kind, index = changes[i, 0], changes[i, 1]
        if kind == LOW:
            low[index] = changes[i, 2]
        elif kind == HIGH:
            high[index] = changes[i, 2]
        else:
            side[index] = changes[i, 2]
    return height


@njit(cache=True)
def put_before(a, b, p, low, high, changes, top):
    """Let `b` start no earlier and `a` no later than "a before b" asks; returns the height of the stack."""
    if low[a] + p[a] > low[b]:
        top = remember(LOW, b, low[b], changes, top)
        low[b] = low[a] + p[a]
    if high[b] - p[a] < high[a]:
        top = remember(HIGH, a, high[a], changes, top)
        high[a] = high[b] - p[a]
    return top


@njit(cache=True)
def propagate(waiting, count, is_waiting, problem, bounds, weight, changes, top):
    """Draw all conclusions from the first `count` operations `waiting`; returns the height of the stack, and
    the pair that cannot be satisfied, or -1. `is_waiting` is all false afterwards.
    """
    p, pairs, pairs_of = problem
    low, high, side = bounds
    first, failed = 0, -1
    while count > 0:
        x = waiting[first]
        first, count = (first + 1) % waiting.size, count - 1
        is_waiting[x] = False
        if failed >= 0:
            continue
        for e in pairs_of[x]:
            a, b = pairs[e, 0], pairs[e, 1]
            if side[e] == 0:
                a_can, b_can = low[a] + p[a] <= high[b], low[b] + p[b] <= high[a]
                if a_can and b_can:
                    continue
                if not a_can and not b_can:
                    failed = e
                    break
                top = remember(SIDE, e, 0, changes, top)
                side[e] = 1 if a_can else 2
            if side[e] == 2:
                a, b = b, a
            before_low, before_high = low[b], high[a]
            top = put_before(a, b, p, low, high, changes, top)
            if low[b] > high[b] or low[a] > high[a]:
                failed = e
                break
            for y, has_moved in ((a, high[a] < before_high), (b, low[b] > before_low)):
                if has_moved and not is_waiting[y]:
                    is_waiting[y] = True
                    waiting[(first + count) % waiting.size] = y
                    count += 1
    if failed >= 0:
        weight[failed] += 1.0
    return top, failed


@njit(cache=True)
def choose_pair(problem, bounds, weight, noise):
    """The open pair to decide next; -1 where the earliest starts are a schedule already."""
    p, pairs, _pairs_of = problem
    low, high, side = bounds
    chosen, least, is_schedule = -1, np.inf, True
    for e in range(side.size):
        if side[e] == 0:
            a, b = pairs[e, 0], pairs[e, 1]
            is_schedule = is_schedule and (low[a] + p[a] <= low[b] or low[b] + p[b] <= low[a])
            key = pair_key(high[a] - low[a] + high[b] - low[b], weight[e], noise[e])
            if key < least:
                chosen, least = e, key
    return -1 if is_schedule else chosen


@njit(cache=True)
def begin(horizon, problem, bounds, work, weight, place):
    """Open all pairs and let no operation end after `horizon`; returns `RUNNING`, or `EXHAUSTED`."""
    low, high, side = bounds
    waiting, is_waiting, changes, _path = work
    low[:] = 0
    high[:] = horizon - problem[0]
    side[:] = 0
    waiting[:] = np.arange(waiting.size)
    is_waiting[:] = True
    top, failed = propagate(waiting, waiting.size, is_waiting, problem, bounds, weight, changes, 0)
    place[0], place[1], place[2] = 0, top, 0
    return RUNNING if failed < 0 else EXHAUSTED


@njit(cache=True)
def branch(decisions, failures, problem, bounds, work, weight, noise, guide, place):
    """Make at most `decisions` of a descent, `failures` in all; returns the outcome and the decisions made.

    `place` holds the depth, the height of the stack of changes and the failures so far; a row of the path
    holds a pair, how it was decided, the height of the stack before and whether the other way was tried.
    """
    pairs, side = problem[1], bounds[2]
    waiting, is_waiting, changes, path = work
    depth, top = place[0], place[1]
    for made in range(decisions):
        e = choose_pair(problem, bounds, weight, noise)
        if e < 0:
            return FOUND, made
        way = 1 if guide[pairs[e, 0]] <= guide[pairs[e, 1]] else 2
        is_second = 0
        while True:
            if top + 4 * waiting.size + side.size > changes.shape[0]:
                return GIVEN_UP, made
            path[depth, 0], path[depth, 1], path[depth, 2], path[depth, 3] = e, way, top, is_second
            depth += 1
            top = remember(SIDE, e, 0, changes, top)
            side[e] = way
            waiting[0] = pairs[e, 0]
            is_waiting[waiting[0]] = True
            top, failed = propagate(waiting, 1, is_waiting, problem, bounds, weight, changes, top)
            if failed < 0:
                break
            place[2] += 1
            if place[2] >= failures:
                return GIVEN_UP, made
            while depth > 0 and path[depth - 1, 3] == 1:
                depth -= 1
            if depth == 0:
                return EXHAUSTED, made
            depth -= 1
            e, way, is_second = path[depth, 0], 3 - path[depth, 1], 1
            top = undo(path[depth, 2], bounds[0], bounds[1], side, changes, top)
    place[0], place[1] = depth, top
    return RUNNING, decisions


def pairs_of_shop(n, m):
    """Pairs of operations that share a job or a machine, int32 (E, 2), and the pairs of each operation."""
    x = np.arange(n * m).reshape(n, m)
    left, right = np.triu_indices(m, 1)
    of_jobs = np.stack((x[:, left].ravel(), x[:, right].ravel()), axis=1)
    upper, lower = np.triu_indices(n, 1)
    of_machines = np.stack((x[upper].ravel(), x[lower].ravel()), axis=1)
    pairs = np.concatenate((of_jobs, of_machines)).astype(np.int32)
    by_operation = np.argsort(pairs.T.ravel(), kind="stable") % len(pairs)
    return pairs, by_operation.reshape(n * m, n + m - 2).astype(np.int32)


def starts_of(sequence, p, m):
    """Earliest starts of all operations if they are appended in this order: int32 (N,)."""
    starts = np.zeros(p.size, np.int32)
    jobs, machines = np.zeros(p.size // m, np.int64), np.zeros(m, np.int64)
    for x in sequence:
        starts[x] = max(jobs[x // m], machines[x % m])
        jobs[x // m] = machines[x % m] = starts[x] + p[x]
    return starts


def open_pairs(p, n, m):
    """Problem (times, pairs, pairs of each operation), bounds (earliest and latest starts, how each pair is
    decided) and work arrays (operations that wait, whether they do, changes, path) of a search.
    """
    pairs, pairs_of = pairs_of_shop(n, m)
    low, high = np.zeros((2, p.size), np.int32)
    one_step = 4 * p.size + len(pairs)
    changes = np.zeros((max(min(400 * one_step, MOST_CHANGES), 4 * one_step), 3), np.int32)
    path = np.zeros((len(pairs) + 1, 4), np.int32)
    work = (np.zeros(p.size, np.int32), np.zeros(p.size, np.bool_), changes, path)
    return (p, pairs, pairs_of), (low, high, np.zeros(len(pairs), np.int8)), work


def run(env_data, state, calc_makespan_fn):
    """Improve `state` until it is optimal, or the share of the budget is spent; never makes it worse."""
    budget, rng = env_data["budget"], env_data["rng"]
    n, m = env_data["num_jobs"], env_data["num_machines"]
    p = np.array(env_data["ossp_times"], dtype=np.int32).ravel()
    problem, bounds, work = open_pairs(p, n, m)
    size = len(problem[1])
    weight, noise, place = np.ones(size), np.ones(size), np.zeros(3, np.int64)
    best = starts_of(state.sequence, p, m)
    makespan, outcome, failures = int((best + p).max()), GIVEN_UP, float(FIRST_FAILURES)
    chunk = max(5, CHUNK_PAIRS // max(size, 1))
    while makespan > env_data["lower_bound"] and outcome != EXHAUSTED and not budget.exhausted():
        made = 0
        if outcome != RUNNING:
            noise = 1.0 + NOISE * rng.random(size)
            outcome = begin(makespan - 1, problem, bounds, work, weight, place)
        if outcome == RUNNING:
            limit = int(failures)
            outcome, made = branch(chunk, limit, problem, bounds, work, weight, noise, best, place)
        budget.charge(int(made) + 1)
        if outcome == FOUND:
            best = bounds[0].copy()
            makespan, failures = int((best + p).max()), float(FIRST_FAILURES)
            state.sequence = np.lexsort((best + p, best)).astype(np.int32)
        elif outcome == GIVEN_UP:
            failures = min(failures * GROWTH, 1e9)
    return state
