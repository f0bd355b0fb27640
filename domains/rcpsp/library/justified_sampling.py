"""Regret-biased random sampling, every schedule improved by justification, in both directions of time.

Method: lists are drawn with a chance that grows with the regret under the latest-finish rule, for every
other schedule from the end of the project (under the earliest-start rule), and each schedule is shifted to
the right and to the left once. The best one is returned.

Source: P. Tormos, A. Lova, A competitive heuristic solution technique for resource-constrained project
scheduling, 2001; V. Valls, F. Ballestín, S. Quintanilla, Justification and RCPSP: a technique that pays,
2005.

Complexity: three or four schedules per pass, each O(N (eligible activities + periods searched)).
"""

import numpy as np
from numba import njit

PASSES = 200  # tunable: int 1..100000
BIAS = 2.0  # tunable: float 0.0..10.0
CHUNK_ACTIVITIES = 60_000  # activities scheduled by one kernel call


@njit(cache=True)
def sampled_list(order, keys, bias, before, after, rng):
    """Write a list into `order`: each place goes to one of the activities whose predecessors are listed.

    Small `keys` come first: with a negative `bias` always the smallest one; otherwise the chance grows with
    (1 + regret) to the power of `bias`, the regret being the distance to the worst choice at hand.
    """
    first, others = after
    n = order.size
    waits_for, weights = np.empty(n, np.int64), np.empty(n, np.float64)
    count = 0
    for x in range(n):
        waits_for[x] = before[0][x + 1] - before[0][x]
        if waits_for[x] == 0:
            order[count] = x
            count += 1
    for i in range(n):
        j = i
        if count > i + 1:
            worst = keys[order[i]]
            for k in range(i, count):
                worst = max(worst, keys[order[k]])
                if keys[order[k]] < keys[order[j]]:
                    j = k
            if bias >= 0.0:
                total = 0.0
                for k in range(i, count):
                    total += (1.0 + worst - keys[order[k]]) ** bias
                    weights[k] = total
                draw = rng.random() * total
                j = i
                while j + 1 < count and weights[j] <= draw:
                    j += 1
        x = order[j]
        order[j] = order[i]
        order[i] = x
        for k in range(first[x], first[x + 1]):
            waits_for[others[k]] -= 1
            if waits_for[others[k]] == 0:
                order[count] = others[k]
                count += 1


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
def sample(passes, since, keys, bias, project, before, after, free, work, lists, finish, value, rng):
    """Passes number `since` to `since` + `passes` - 1; the best list is kept in the second of `lists`."""
    order, best = lists
    bucket, turned, turned_finish = work
    for number in range(since, since + passes):
        strength = bias if number >= 2 else -1.0
        if number % 2 == 0:
            sampled_list(order, keys[0], strength, before, after, rng)
        else:
            sampled_list(turned, keys[1], strength, after, before, rng)
            makespan = serial(turned, project, after, free, turned_finish)
            turn(turned, turned_finish, makespan, bucket, order)
        makespan = serial(order, project, before, free, finish)
        makespan = justify(order, finish, makespan, project, before, after, free, work)
        if makespan < value:
            value = makespan
            best[:] = order
    return value


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
    """Give `state` the best of at most PASSES lists; stops early when a lower bound is met."""
    budget, rng = env_data["budget"], env_data["rng"]
    project, before, after, horizon = prepare(env_data)
    durations = project[0]
    n = durations.size
    heads, tails = longest_tails(durations, before), longest_tails(durations, after)
    target = shortest_possible(env_data, tails)
    keys = np.stack((durations - tails, durations - heads)).astype(np.float64)
    free = np.empty((project[1].shape[1], horizon), np.int64)
    work = (np.empty(horizon, np.int64), np.empty(n, np.int32), np.empty(n, np.int64))
    lists, finish = (np.empty(n, np.int32), np.empty(n, np.int32)), np.empty(n, np.int64)
    value, done, passes = 2**40, 0, max(1, CHUNK_ACTIVITIES // (3 * n))
    while done < PASSES and value > target and not (done and budget.exhausted()):
        chunk = min(PASSES - done, passes)
        value = sample(chunk, done, keys, BIAS, project, before, after, free, work, lists, finish, value, rng)
        budget.charge(3 * chunk)
        done += chunk
    state.sequence = lists[1]
    return state
