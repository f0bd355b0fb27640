"""The best of several textbook priority rules, each applied forwards and backwards in time.

Method: a rule lists the activities, predecessors first, and serial generation schedules the list; from the
end of the project the same is done with successors first, and the backward schedule is turned into a
forward one. Rules: latest finish and latest start time, least slack, most total successors, greatest rank
positional weight, shortest duration.

Source: R. Kolisch, Efficient priority rules for the resource-constrained project scheduling problem, 1996;
R. Alvarez-Valdes, J. M. Tamarit, Heuristic algorithms for resource-constrained project scheduling, 1989.

Complexity: O(N (N + periods searched)) per schedule for N activities.
"""

import numpy as np
from numba import njit

FIRST_RULE = "lft"  # tunable: choice lft lst slack mts grpw spt
BACKWARDS = 1  # tunable: int 0..1

RULES = ("lft", "lst", "slack", "mts", "grpw", "spt")


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


def run(env_data, state, calc_makespan_fn):
    """Give `state` the list of the shortest schedule; FIRST_RULE comes first and always."""
    budget, rng = env_data["budget"], env_data["rng"]
    project, before, after, horizon = prepare(env_data)
    durations = project[0]
    n = durations.size
    free = np.empty((project[1].shape[1], horizon), np.int64)
    bucket, finish = np.empty(horizon, np.int64), np.empty(n, np.int64)
    order, turned = np.empty(n, np.int32), np.empty(n, np.int32)
    rules = (FIRST_RULE, *(rule for rule in RULES if rule != FIRST_RULE))
    best = None
    for rule, is_backward in [(rule, k > 0) for rule in rules for k in range(1 + BACKWARDS)]:
        if is_backward:
            sampled_list(order, all_keys(rule, durations, after, before), -1.0, after, before, rng)
            makespan = serial(order, project, after, free, finish)
            turn(order, finish, makespan, bucket, turned)
            order[:] = turned
        else:
            sampled_list(order, all_keys(rule, durations, before, after), -1.0, before, after, rng)
        makespan = serial(order, project, before, free, finish)
        budget.charge(1 + is_backward)
        if best is None or makespan < best:
            best = makespan
            state.sequence = order.copy()
        if budget.exhausted():
            break
    return state
