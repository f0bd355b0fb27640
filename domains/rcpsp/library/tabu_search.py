"""Tabu search on the list with sampled insertions.

Method: each iteration tries a number of random insertions and makes the best one that is not tabu, even if
the schedule gets longer; an attempt is given up as soon as it cannot beat the best one so far. The activity
moved stays where it is for a while, unless moving it gives a new best schedule. After many iterations
without gain the search goes on from the justified best schedule.

Source: P. R. Thomas, S. Salhi, A tabu search approach for the resource constrained project scheduling
problem, 1998; K. Nonobe, T. Ibaraki, Formulation and tabu search algorithm for the resource constrained
project scheduling problem, 2002.

Complexity: at most SAMPLE schedules per iteration, O(N (predecessors + periods searched)) each for N
activities.
"""

import numpy as np
from numba import njit

SAMPLE = 20  # tunable: int 1..500
TENURE = 0.15  # tunable: float 0.0..2.0
REACH = 0.2  # tunable: float 0.01..1.0
PATIENCE = 300  # tunable: int 1..100000
CHUNK_ACTIVITIES = 40_000  # attempts of one kernel call times activities of the instance


@njit(cache=True)
def serial(order, project, before, free, finish):
    """Serial schedule generation: finish times of all activities of the list `order`; the makespan.

    `before` are the predecessors; with successors instead and a list from the end of the project it
    schedules backwards in time. `free` (resource words by periods) is what is left of the resources.
    """
    durations, need, capacity, guard = project
    first, others = before
    words = guard.size
    for w in range(words):
        free[w] = capacity[w]
    makespan = np.int64(0)
    for x in order:
        start = np.int64(0)
        for k in range(first[x], first[x + 1]):
            start = max(start, finish[others[k]])
        w = settled = 0
        while settled < words:  # until the start that one word asks for suits all words
            profile, lanes, t = free[w], guard[w], start
            end = start + durations[x]
            while t < end:
                if ((profile[t] | lanes) - need[x, w]) & lanes != lanes:
                    end = t + 1 + durations[x]
                t += 1
            settled = settled + 1 if end - durations[x] == start else 1
            start = end - durations[x]
            w = w + 1 if w + 1 < words else 0
        finish[x] = start + durations[x]
        for w in range(words):
            for t in range(start, finish[x]):
                free[w, t] -= need[x, w]
        makespan = max(makespan, finish[x])
    return makespan


@njit(cache=True)
def turn(order, finish, makespan, bucket, turned):
    """Write the activities by falling finish time into `turned`: the list for the other direction in time.

    Activities that finish together change their order in the list. `bucket` has a place for each period.
    """
    bucket[: makespan + 1] = 0
    for x in order:
        bucket[finish[x]] += 1
    place = 0
    for t in range(makespan, -1, -1):
        place += bucket[t]
        bucket[t] = place - bucket[t]
    for i in range(order.size - 1, -1, -1):
        x = order[i]
        turned[bucket[finish[x]]] = x
        bucket[finish[x]] += 1


@njit(cache=True)
def justify(order, finish, makespan, project, before, after, free, work):
    """Shift all activities of a schedule to the right, then to the left; the new makespan, never longer.

    `order` and `finish` become list and finish times of the new schedule.
    """
    bucket, turned, turned_finish = work
    turn(order, finish, makespan, bucket, turned)
    makespan = serial(turned, project, after, free, turned_finish)
    turn(turned, turned_finish, makespan, bucket, order)
    return serial(order, project, before, free, finish)


@njit(cache=True)
def serial_within(limit, order, project, before, tails, free, finish):
    """As `serial`, but gives up with `limit` + 1 as soon as an activity and its tail end after `limit`."""
    durations, need, capacity, guard = project
    first, others = before
    words = guard.size
    for w in range(words):
        free[w] = capacity[w]
    makespan = np.int64(0)
    for x in order:
        start = np.int64(0)
        for k in range(first[x], first[x + 1]):
            start = max(start, finish[others[k]])
        w = settled = 0
        while settled < words:  # until the start that one word asks for suits all words
            profile, lanes, t = free[w], guard[w], start
            end = start + durations[x]
            while t < end:
                if ((profile[t] | lanes) - need[x, w]) & lanes != lanes:
                    end = t + 1 + durations[x]
                t += 1
            settled = settled + 1 if end - durations[x] == start else 1
            start = end - durations[x]
            w = w + 1 if w + 1 < words else 0
        if start + tails[x] > limit:
            return limit + 1
        finish[x] = start + durations[x]
        for w in range(words):
            for t in range(start, finish[x]):
                free[w, t] -= need[x, w]
        makespan = max(makespan, finish[x])
    return makespan


@njit(cache=True)
def free_range(order, place, reach, before, after):
    """First and last place, at most `reach` away, to which the entry at `place` may move."""
    x = order[place]
    low = high = place
    is_free = True
    while low > 0 and place - low < reach:
        for k in range(before[0][x], before[0][x + 1]):
            is_free = is_free and before[1][k] != order[low - 1]
        if not is_free:
            break
        low -= 1
    is_free = True
    while high + 1 < order.size and high - place < reach:
        for k in range(after[0][x], after[0][x + 1]):
            is_free = is_free and after[1][k] != order[high + 1]
        if not is_free:
            break
        high += 1
    return low, high


@njit(cache=True)
def move_entry(order, source, destination):
    """Move the entry at place `source` to place `destination`; those between close up."""
    x = order[source]
    step = 1 if destination > source else -1
    for i in range(source, destination, step):
        order[i] = order[i + step]
    order[destination] = x


# exchangeable: tabu-tenure
@njit(cache=True)
def tabu_tenure(base, draw):
    """Iterations an activity stays where it is; `draw` is uniform on [0, 1)."""
    return int(base * (0.5 + draw)) + 1


@njit(cache=True)
def search(
    iterations, setting, target, project, before, after, tails, free, work, lists, finish, tabu, status, rng
):
    """At most `iterations` iterations; `status` holds the best and the present makespan, the number of the
    iteration and of the last one with a gain. Returns the number of iterations made.
    """
    sample, tenure, reach, patience, horizon = setting
    order, best = lists
    for made in range(iterations):
        if status[0] <= target:
            return made
        status[2] += 1
        source = goal = -1
        value = horizon
        for _ in range(sample):
            place = int(rng.random() * order.size)
            low, high = free_range(order, place, reach, before, after)
            to = low + int(rng.random() * (high - low + 1))
            if to == place:
                continue
            limit = value - 1
            if tabu[order[place]] >= status[2]:
                limit = min(limit, status[0] - 1)
            move_entry(order, place, to)
            makespan = serial_within(limit, order, project, before, tails, free, finish)
            move_entry(order, to, place)
            if makespan <= limit:
                value, source, goal = makespan, place, to
        if source >= 0:
            tabu[order[source]] = status[2] + tabu_tenure(tenure, rng.random())
            move_entry(order, source, goal)
            status[1] = value
            if value < status[0]:
                status[0], status[3] = value, status[2]
                best[:] = order
        if status[2] - status[3] >= patience:
            order[:] = best
            makespan = serial(order, project, before, free, finish)
            status[1] = justify(order, finish, makespan, project, before, after, free, work)
            if status[1] <= status[0]:
                status[0] = status[1]
                best[:] = order
            status[3] = status[2]
    return iterations


def prepare(env_data):
    """Arrays of a project.

    project: durations; requests, capacities and guard bits in the lanes of int64 words, where one
    subtraction compares all resources of a word (a lane that has too little left borrows its guard bit).
    before, after: where the predecessors (successors) of each activity begin, and they themselves.
    horizon: number of periods that every schedule and search for a start fits into.
    """
    durations = np.asarray(env_data["durations"]).astype(np.int64)
    n = durations.size
    lanes = []
    words, used = 0, 63
    for capacity in np.asarray(env_data["capacities"]).tolist():
        width = capacity.bit_length() + 1
        if used + width > 63:
            words, used = words + 1, 0
        lanes.append((words - 1, used, width, capacity))
        used += width
    need = np.zeros((n, words), np.int64)
    capacity, guard = np.zeros(words, np.int64), np.zeros(words, np.int64)
    for (word, shift, width, units), requests in zip(lanes, np.asarray(env_data["requests"]).T, strict=True):
        need[:, word] += requests.astype(np.int64) << shift
        capacity[word] += units << shift
        guard[word] += 1 << (shift + width - 1)
    networks = []
    for this, other in ((1, 0), (0, 1)):
        edges = np.asarray(env_data["edges"])
        edges = edges[np.argsort(edges[:, this], kind="stable")]
        first = np.searchsorted(edges[:, this], np.arange(n + 1)).astype(np.int32)
        networks.append((first, np.ascontiguousarray(edges[:, other]).astype(np.int32)))
    horizon = int(durations.sum() + durations.max() + 1)
    return (durations, need, capacity, guard), networks[0], networks[1], horizon


def longest_tails(durations, after):
    """Longest path from the start of each activity to the end of the project, int64."""
    first, others = after[0].tolist(), after[1].tolist()
    tails = [-1] * durations.size
    open_ends = [0, durations.size - 1]
    while open_ends:
        x = open_ends[-1]
        behind = others[first[x] : first[x + 1]]
        missing = [y for y in behind if tails[y] < 0]
        open_ends += missing
        if not missing:
            tails[x] = int(durations[x]) + max([tails[y] for y in behind], default=0)
            open_ends.pop()
    return np.array(tails, np.int64)


def shortest_possible(env_data, tails):
    """A lower bound of the makespan: the longest path, or the work on a resource over its capacity."""
    work = np.asarray(env_data["durations"]).astype(np.int64) @ np.asarray(env_data["requests"])
    loads = -(-work // np.maximum(np.asarray(env_data["capacities"]), 1))
    return int(max(tails[0], loads.max()))


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent or a lower bound is met."""
    budget, rng = env_data["budget"], env_data["rng"]
    project, before, after, horizon = prepare(env_data)
    n = project[0].size
    tails = longest_tails(project[0], after)
    target = shortest_possible(env_data, tails)
    free = np.empty((project[1].shape[1], horizon), np.int64)
    work = (np.empty(horizon, np.int64), np.empty(n, np.int32), np.empty(n, np.int64))
    order, finish = np.array(state.sequence, dtype=np.int32), np.empty(n, np.int64)
    lists = (order, order.copy())
    makespan = serial(order, project, before, free, finish)
    status = np.array([makespan, makespan, 0, 0], np.int64)
    setting = (SAMPLE, TENURE * n, max(1, int(REACH * n)), PATIENCE, horizon)
    tabu = np.zeros(n, np.int64)
    iterations = made = max(2, CHUNK_ACTIVITIES // (n * SAMPLE))
    while made == iterations and not budget.exhausted():
        made = search(
            iterations,
            setting,
            target,
            project,
            before,
            after,
            tails,
            free,
            work,
            lists,
            finish,
            tabu,
            status,
            rng,
        )
        budget.charge(made * SAMPLE)
    state.sequence = lists[1]
    return state
