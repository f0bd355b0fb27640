"""Resampling of time windows: stretches of the list are drawn anew, the rest of the list stays.

Method: a window of the list is drawn; what comes before it keeps its schedule, and the activities of the
window are listed many times in a random order biased towards long tails. Each new list is scheduled from
the window on and given up as soon as it gets longer than the present schedule; the last one that does not
becomes the present one. After many windows without gain the schedule is justified.

Source: M. Palpant, C. Artigues, P. Michelon, LSSPER: solving the resource-constrained project scheduling
problem with large neighbourhood search, 2004; A. Sprecher, Network decomposition techniques for
resource-constrained project scheduling, 2002.

Complexity: O(W² predecessors + N periods searched) per list for windows of W and N activities.
"""

import numpy as np
from numba import njit

WINDOW = 10  # tunable: int 2..100
SAMPLES = 15  # tunable: int 1..1000
BIAS = 0.5  # tunable: float 0.0..10.0
PATIENCE = 50  # tunable: int 1..10000
CHUNK_ACTIVITIES = 30_000  # lists of one kernel call times activities of the instance


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


# exchangeable: regret-weight
@njit(cache=True)
def regret_weight(regret, bias):
    """Weight of a choice whose key is `regret` better than the worst one at hand."""
    return (1.0 + regret) ** bias


@njit(cache=True)
def relist(order, low, high, tails, bias, first, others, marks, weights, rng):
    """Draw a new order for places `low`..`high` - 1, predecessors first; `marks` is all false before and
    after.
    """
    for i in range(low, high):
        marks[order[i]] = True
    for i in range(low, high):
        least = 2**40
        for j in range(i, high):
            weights[j] = 1.0
            for k in range(first[order[j]], first[order[j] + 1]):
                if marks[others[k]]:
                    weights[j] = 0.0
            if weights[j] > 0.0:
                least = min(least, tails[order[j]])
        chosen, total = i, 0.0
        for j in range(i, high):
            if weights[j] > 0.0:
                weight = regret_weight(float(tails[order[j]] - least), bias)
                total += weight
                if rng.random() * total < weight:
                    chosen = j
        x = order[chosen]
        order[chosen] = order[i]
        order[i] = x
        marks[x] = False


@njit(cache=True)
def search(
    rounds, setting, target, project, before, after, tails, free, work, lists, finish, scratch, status, rng
):
    """Resample at most `rounds` windows; `status` holds the makespan and the windows since the last gain.
    Returns the number of windows made.
    """
    window, samples, bias, patience = setting
    current, order = lists
    marks, weights = scratch
    n = current.size
    for made in range(rounds):
        if status[0] <= target:
            return made
        low = int(rng.random() * max(1, n - window + 1))
        high = min(n, low + window)
        for w in range(free.shape[0]):
            free[w] = project[2][w]
        extend(current, 0, low, status[0], project, before, tails, free, finish)
        order[:] = current
        value = status[0]
        for _ in range(samples):
            relist(order, low, high, tails, bias, before[0], before[1], marks, weights, rng)
            makespan = try_tail(order, low, value, project, before, tails, free, finish)
            if makespan <= value:
                value = makespan
                current[:] = order
        status[1] = 0 if value < status[0] else status[1] + 1
        status[0] = value
        if status[1] >= patience:
            makespan = serial(current, project, before, free, finish)
            status[0] = justify(current, finish, makespan, project, before, after, free, work)
            status[1] = 0
    return rounds


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
    current, finish = np.array(state.sequence, dtype=np.int32), np.empty(n, np.int64)
    makespan = serial(current, project, before, free, finish)
    lists, scratch = (current, current.copy()), (np.zeros(n, np.bool_), np.zeros(n, np.float64))
    status = np.array([makespan, 0], np.int64)
    setting = (WINDOW, SAMPLES, BIAS, PATIENCE)
    rounds = made = max(2, CHUNK_ACTIVITIES // (n * SAMPLES))
    while made == rounds and not budget.exhausted():
        made = search(
            rounds,
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
            scratch,
            status,
            rng,
        )
        budget.charge(made * SAMPLES)
    state.sequence = current
    return state
