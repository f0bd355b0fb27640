"""Bi-population genetic algorithm: one population of forward, one of backward lists feed each other.

Method: two forward lists, taken from backward schedules, are crossed by two points, mutated and scheduled
forwards; the schedule, listed by falling finish time, enters the population of backward lists in place of
the longest one, if it is new and not longer. The same is done backwards in time, child by child, so that
every schedule is justified by what becomes of it. Populations that have found nothing better for long are
drawn anew.

Source: D. Debels, M. Vanhoucke, A bi-population based genetic algorithm for the resource-constrained
project scheduling problem, 2005.

Complexity: one schedule per child, O(N (predecessors + periods searched)) for N activities.
"""

import numpy as np
from numba import njit

POPULATION = 60  # tunable: int 4..500
MUTATION = 0.05  # tunable: float 0.0..0.5
TOURNAMENT = 2  # tunable: int 1..10
PATIENCE = 60  # tunable: int 1..1000
CHUNK_ACTIVITIES = 60_000  # children of one kernel call times activities of the instance


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


# exchangeable: crossover
@njit(cache=True)
def cross(mother, father, low, high, child, taken):
    """Child with the mother's list outside places low..high - 1, the father's order within them.

    `taken` is all false before and after; precedence holds in the child because it holds in both parents.
    """
    n = mother.size
    for i in range(low):
        child[i] = mother[i]
        taken[mother[i]] = True
    place = low
    for x in father:
        if place == high:
            break
        if not taken[x]:
            child[place] = x
            taken[x] = True
            place += 1
    for x in mother:
        if not taken[x]:
            child[place] = x
            place += 1
    for x in range(n):
        taken[x] = False


# exchangeable: mutation
@njit(cache=True)
def mutate(order, rate, first, others, rng):
    """Swap neighbours in the list with probability `rate` each, where no precedence forbids it."""
    for i in range(order.size - 1):
        if rng.random() < rate:
            u, v = order[i], order[i + 1]
            is_free = True
            for k in range(first[v], first[v + 1]):
                is_free = is_free and others[k] != u
            if is_free:
                order[i], order[i + 1] = v, u


@njit(cache=True)
def random_list(order, before, after, rng):
    """A random list: the next activity is any one whose predecessors are all listed."""
    first, others = after
    n = order.size
    waits_for = np.empty(n, np.int64)
    count = 0
    for x in range(n):
        waits_for[x] = before[0][x + 1] - before[0][x]
        if waits_for[x] == 0:
            order[count] = x
            count += 1
    for i in range(n):
        j = i + int(rng.random() * (count - i))
        x = order[j]
        order[j] = order[i]
        order[i] = x
        for k in range(first[x], first[x + 1]):
            waits_for[others[k]] -= 1
            if waits_for[others[k]] == 0:
                order[count] = others[k]
                count += 1


# exchangeable: parent-choice
@njit(cache=True)
def choose_parent(values, tournament, rng):
    """Place of the shortest of `tournament` members drawn at random."""
    best = int(rng.random() * values.size)
    for _ in range(tournament - 1):
        other = int(rng.random() * values.size)
        if values[other] < values[best]:
            best = other
    return best


@njit(cache=True)
def fingerprint(finish):
    """A number that differs for almost all different schedules."""
    code = np.int64(0)
    for x in range(finish.size):
        code = (code * 1_000_003 + finish[x]) % 2_147_483_647
    return code


@njit(cache=True)
def enter(side, makespan, population, child, bucket):
    """Give a schedule made in one direction, as a list for the other, to the population of the other `side`
    if it is new and not longer than the longest one there; 1 if that is a gain, else 0.
    """
    lists, values, codes = population
    order, finish, _taken, turned = child
    worst = values[side].argmax()
    if makespan > values[side, worst]:
        return 0
    code = fingerprint(finish)
    for i in range(values.shape[1]):
        if codes[side, i] == code and values[side, i] == makespan:
            return 0
    turn(order, finish, makespan, bucket, turned)
    is_gain = makespan < values[side, worst]
    lists[side, worst] = turned
    values[side, worst], codes[side, worst] = makespan, code
    return 1 if is_gain else 0


@njit(cache=True)
def keep_best(side, makespan, child, bucket, status, best):
    """Remember the forward list of a schedule shorter than all before."""
    order, finish, _taken, turned = child
    if makespan < status[0]:
        status[0] = makespan
        if side == 1:
            turn(order, finish, makespan, bucket, turned)
            best[:] = turned
        else:
            best[:] = order


@njit(cache=True)
def found_both(count, population, project, networks, free, bucket, child, status, best, rng):
    """Draw `count` lists at random; they and their backward schedules enter the populations."""
    order, finish, _taken, turned = child
    for _ in range(count):
        random_list(order, networks[0], networks[1], rng)
        for side in range(2):
            makespan = serial(order, project, networks[side], free, finish)
            keep_best(side, makespan, child, bucket, status, best)
            enter(1 - side, makespan, population, child, bucket)
            turn(order, finish, makespan, bucket, turned)
            order[:] = turned


@njit(cache=True)
def breed(children, setting, target, population, project, networks, free, bucket, child, status, best, rng):
    """Make at most `children` children; the numbers of those made and of members that got better."""
    mutation, tournament = setting
    lists, values, _codes = population
    order, finish, taken, _turned = child
    n = order.size
    entered = 0
    for made in range(children):
        if status[0] <= target:
            return made, entered
        side = made % 2
        before = networks[side]
        mother = choose_parent(values[side], tournament, rng)
        father = choose_parent(values[side], tournament, rng)
        low = int(rng.random() * n)
        high = low + 1 + int(rng.random() * (n - low))
        cross(lists[side, mother], lists[side, father], low, high, order, taken)
        mutate(order, mutation, before[0], before[1], rng)
        makespan = serial(order, project, before, free, finish)
        entered += enter(1 - side, makespan, population, child, bucket)
        keep_best(side, makespan, child, bucket, status, best)
    return children, entered


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


def settle_both(order, turned, makespan, size):
    """Two populations: the first member of each is a given list, the others are places still free."""
    lists = np.empty((2, size, order.size), np.int32)
    lists[0], lists[1] = order, turned
    values = np.full((2, size), 2**40, np.int64)
    values[:, 0] = makespan
    return lists, values, np.zeros((2, size), np.int64)


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent or a lower bound is met."""
    budget, rng = env_data["budget"], env_data["rng"]
    project, before, after, horizon = prepare(env_data)
    n = project[0].size
    target = shortest_possible(env_data, longest_tails(project[0], after))
    free = np.empty((project[1].shape[1], horizon), np.int64)
    bucket, finish, turned = np.empty(horizon, np.int64), np.empty(n, np.int64), np.empty(n, np.int32)
    best = np.array(state.sequence, dtype=np.int32)
    child = (best.copy(), finish, np.zeros(n, np.bool_), turned)
    status = np.array([serial(best, project, before, free, finish)], np.int64)
    children = max(5, CHUNK_ACTIVITIES // n)
    while status[0] > target and not budget.exhausted():
        makespan = serial(best, project, before, free, finish)
        turn(best, finish, makespan, bucket, turned)
        population = settle_both(best, turned, makespan, POPULATION)
        idle = met = 0
        while idle < PATIENCE * POPULATION and status[0] > target and not (met and budget.exhausted()):
            if met < POPULATION:
                more = min(children, POPULATION - met)
                found_both(more, population, project, (before, after), free, bucket, child, status, best, rng)
                budget.charge(2 * more)
                met += more
                continue
            made, entered = breed(
                children,
                (MUTATION, TOURNAMENT),
                target,
                population,
                project,
                (before, after),
                free,
                bucket,
                child,
                status,
                best,
                rng,
            )
            budget.charge(made)
            idle = 0 if entered else idle + made
    state.sequence = best
    return state
