"""Descent by pairwise interchange: two activities change places as long as the schedule gets shorter.

Method: place by place, the activity there is exchanged with later ones at most REACH places away, where
precedence allows it. The schedule of the earlier places is kept, only the rest of the list is scheduled
again, and an attempt ends as soon as it cannot get shorter. Exchanges that lead to a schedule of the same
length are made now and then, since there are many.

Source: S. E. Sampson, E. N. Weiss, Local search techniques for the generalized resource constrained project
scheduling problem, 1993; R. Kolisch, S. Hartmann, Heuristic algorithms for the resource-constrained project
scheduling problem, 1999.

Complexity: O(N REACH) lists per pass for N activities, on average half of each list is scheduled anew.
"""

import numpy as np
from numba import njit

REACH = 20  # tunable: int 1..500
SIDEWAYS = 0.1  # tunable: float 0.0..1.0
PASSES = 3  # tunable: int 1..100
CHUNK_ACTIVITIES = 30_000  # activities scheduled by one kernel call, roughly


@njit(cache=True)
def extend(order, place, stop, limit, project, before, tails, free, finish):
    """Schedule the activities at places `place`..`stop` - 1 of a list whose earlier ones are in `free`.

    Gives up before the first activity that would end, with its tail, after `limit`. Returns the place
    reached; `finish` of the last activity of a whole list is the makespan.
    """
    durations, need, _capacity, guard = project
    first, others = before
    words = guard.size
    for i in range(place, stop):
        x = order[i]
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
            return i
        finish[x] = start + durations[x]
        for w in range(words):
            for t in range(start, finish[x]):
                free[w, t] -= need[x, w]
    return stop


@njit(cache=True)
def withdraw(order, place, stop, project, free, finish):
    """Give back what the activities at places `place`..`stop` - 1 hold of the resources."""
    durations, need, _capacity, guard = project
    for i in range(place, stop):
        x = order[i]
        for w in range(guard.size):
            for t in range(finish[x] - durations[x], finish[x]):
                free[w, t] += need[x, w]


@njit(cache=True)
def try_tail(order, place, limit, project, before, tails, free, finish):
    """Makespan of `order`, whose places before `place` are scheduled, or `limit` + 1 if it is longer."""
    reached = extend(order, place, order.size, limit, project, before, tails, free, finish)
    withdraw(order, place, reached, project, free, finish)
    return finish[order[order.size - 1]] if reached == order.size else limit + 1


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
def improve_place(place, makespan, setting, order, project, before, after, tails, free, finish, rng):
    """Try all exchanges of `place` with later places; makes those that help. The new makespan and the number
    of lists tried.
    """
    reach, sideways = setting
    tried = 0
    for j in range(place + 1, min(place + reach, order.size - 1) + 1):
        if free_range(order, place, j - place, before, after)[1] < j:
            break
        if free_range(order, j, j - place, before, after)[0] > place:
            continue
        limit = makespan if rng.random() < sideways else makespan - 1
        order[place], order[j] = order[j], order[place]
        value = try_tail(order, place, limit, project, before, tails, free, finish)
        tried += 1
        if value > limit:
            order[place], order[j] = order[j], order[place]
        else:
            makespan = value
    return makespan, tried


@njit(cache=True)
def descend(place, places, makespan, setting, order, project, before, after, tails, free, finish, rng):
    """Improve at `places` places from `place` on, before which all is scheduled; the new makespan and the
    number of lists tried.
    """
    tried = 0
    for i in range(place, min(place + places, order.size - 1)):
        makespan, more = improve_place(
            i, makespan, setting, order, project, before, after, tails, free, finish, rng
        )
        tried += more
        extend(order, i, i + 1, makespan, project, before, tails, free, finish)
    return makespan, tried


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
    """Descend from `state` until PASSES passes over the list in a row bring no gain."""
    budget, rng = env_data["budget"], env_data["rng"]
    project, before, after, horizon = prepare(env_data)
    n = project[0].size
    tails = longest_tails(project[0], after)
    target = shortest_possible(env_data, tails)
    free = np.empty((project[1].shape[1], horizon), np.int64)
    order, finish = np.array(state.sequence, dtype=np.int32), np.empty(n, np.int64)
    makespan = int(calc_makespan_fn(state))
    places = max(1, CHUNK_ACTIVITIES // (REACH * n))
    idle, before_pass, place = 0, makespan, n
    while makespan > target:
        if place >= n - 1:
            idle = 0 if makespan < before_pass else idle + 1
            if idle > PASSES:
                break
            before_pass, place = makespan, 0
            free[:] = project[2][:, None]
        if budget.exhausted():
            break
        makespan, tried = descend(
            place,
            places,
            makespan,
            (REACH, SIDEWAYS),
            order,
            project,
            before,
            after,
            tails,
            free,
            finish,
            rng,
        )
        budget.charge(tried)
        place += places
    state.sequence = order
    return state
