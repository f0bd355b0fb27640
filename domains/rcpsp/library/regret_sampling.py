"""Regret-biased random sampling with the serial scheme; the best of many schedules.

Method: the next activity of a list is drawn from those whose predecessors are listed, with a chance that
grows with the regret of not taking it under a priority rule; the first list follows the bare rule.

Source: A. Drexl, Scheduling of project networks by job assignment, 1991; R. Kolisch, Serial and parallel
resource-constrained project scheduling methods revisited, 1996.

Complexity: O(N (eligible activities + periods searched)) per schedule for N activities.
"""

import numpy as np
from numba import njit

PASSES = 500  # tunable: int 1..100000
BIAS = 1.0  # tunable: float 0.0..10.0
RULE = "lft"  # tunable: choice lft lst slack mts grpw spt
CHUNK_ACTIVITIES = 40_000  # passes of one kernel call times activities of the instance


# exchangeable: priority-rule
def rule_keys(rule, durations, heads, tails, followers, next_work):
    """Keys of a priority rule, small ones first, float64.

    `heads` and `tails` are the longest paths from the start and to the end, own duration included;
    `followers` counts direct and indirect successors, `next_work` sums the durations of the direct ones.
    """
    if rule == "lft":  # latest finish time
        keys = durations - tails
    elif rule == "lst":  # latest start time
        keys = -tails
    elif rule == "slack":  # least slack of the latest over the earliest start
        keys = durations - tails - heads
    elif rule == "mts":  # most total successors
        keys = -followers
    elif rule == "grpw":  # greatest rank positional weight
        keys = -durations - next_work
    else:  # shortest duration
        keys = durations
    return keys.astype(np.float64)


def count_followers(after):
    """Number of direct and indirect successors of each activity, int64."""
    first, others = after
    n = first.size - 1
    known = [0] * n
    open_ends = [0, n - 1]
    while open_ends:
        x = open_ends[-1]
        behind = others[first[x] : first[x + 1]].tolist()
        missing = [y for y in behind if known[y] == 0]
        open_ends += missing
        if not missing:
            known[x] = 1 << x
            for y in behind:
                known[x] |= known[y]
            open_ends.pop()
    return np.array([reached.bit_count() - 1 for reached in known], np.int64)


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
def sample(passes, keys, bias, project, before, after, free, lists, finish, value, rng):
    """Draw `passes` lists; keeps the best one in the second of `lists` and returns its makespan."""
    order, best = lists
    for _ in range(passes):
        sampled_list(order, keys, bias, before, after, rng)
        makespan = serial(order, project, before, free, finish)
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


def all_keys(rule, durations, before, after):
    """Keys of a priority rule for all activities; exchange `before` and `after` for lists from the end."""
    heads, tails = longest_tails(durations, before), longest_tails(durations, after)
    next_work = [durations[after[1][after[0][x] : after[0][x + 1]]].sum() for x in range(durations.size)]
    return rule_keys(rule, durations, heads, tails, count_followers(after), np.array(next_work))


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
    target = shortest_possible(env_data, longest_tails(durations, after))
    keys = all_keys(RULE, durations, before, after)
    free = np.empty((project[1].shape[1], horizon), np.int64)
    lists, finish = (np.empty(n, np.int32), np.empty(n, np.int32)), np.empty(n, np.int64)
    value = sample(1, keys, -1.0, project, before, after, free, lists, finish, 2**40, rng)
    budget.charge(1)
    passes = max(1, CHUNK_ACTIVITIES // n)
    left = PASSES - 1
    while left > 0 and value > target and not budget.exhausted():
        chunk = min(left, passes)
        value = sample(chunk, keys, BIAS, project, before, after, free, lists, finish, value, rng)
        budget.charge(chunk)
        left -= chunk
    state.sequence = lists[1]
    return state
