"""Scatter search with path relinking over a set of elite lists.

Method: the elite set is drawn around the given list and justified. Two members are drawn; the first list is
led towards the second by moving, place by place, the activity the second has there to the same place. A few
of the lists met on the way are scheduled and justified; the best of them enters the set in place of the
worst one if it is new. A set that has found nothing new for long is drawn anew around its best member.

Source: Y. Kochetov, A. Stolyar, Evolutionary local search with variable neighborhood for the resource
constrained project scheduling problem, 2003; D. Debels, B. De Reyck, R. Leus, M. Vanhoucke, A hybrid
scatter search/electromagnetism meta-heuristic for project scheduling, 2006.

Complexity: O(N²) per path for N activities, and three schedules at each of STOPS places of it.
"""

import numpy as np
from numba import njit

ELITE = 20  # tunable: int 2..200
STOPS = 3  # tunable: int 1..20
MOVES = 3  # tunable: int 0..50
PATIENCE = 40  # tunable: int 1..1000
CHUNK_ACTIVITIES = 60_000  # activities scheduled by one kernel call


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


@njit(cache=True)
def shake(order, moves, reach, before, after, rng):
    """Make `moves` random insertions in the list."""
    for _ in range(moves):
        place = int(rng.random() * order.size)
        low, high = free_range(order, place, reach, before, after)
        move_entry(order, place, low + int(rng.random() * (high - low + 1)))


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


@njit(cache=True)
def evaluate(order, finish, project, before, after, free, work):
    """Schedule and justify a list; the makespan."""
    makespan = serial(order, project, before, free, finish)
    return justify(order, finish, makespan, project, before, after, free, work)


@njit(cache=True)
def fingerprint(finish):
    """A number that differs for almost all different schedules."""
    code = np.int64(0)
    for x in range(finish.size):
        code = (code * 1_000_003 + finish[x]) % 2_147_483_647
    return code


@njit(cache=True)
def admit(order, makespan, finish, population):
    """Put a list in place of the longest one unless it is longer or its schedule is there; 1 if that is a
    gain, else 0.
    """
    lists, values, codes = population
    worst = values.argmax()
    if makespan > values[worst]:
        return 0
    code = fingerprint(finish)
    for i in range(values.size):
        if codes[i] == code and values[i] == makespan:
            return 0
    is_gain = makespan < values[worst]
    values[worst], codes[worst] = makespan, code
    lists[worst] = order
    return 1 if is_gain else 0


@njit(cache=True)
def found(count, population, project, before, after, free, work, child, rng):
    """Draw `count` lists at random; each takes the place of a copy of the first member (fingerprint 0)."""
    lists, values, codes = population
    order, finish, _taken = child
    for i in range(1, values.size):
        if codes[i] == 0 and count > 0:
            random_list(order, before, after, rng)
            values[i] = evaluate(order, finish, project, before, after, free, work)
            codes[i] = max(fingerprint(finish), 1)
            lists[i] = order
            count -= 1


@njit(cache=True)
def relink(paths, setting, target, population, project, before, after, free, work, child, walk, rng):
    """Walk at most `paths` paths; the numbers of paths made and of members that got better."""
    stops, moves = setting
    lists, values, _codes = population
    order, finish, _taken = child
    walker, best, best_finish = walk
    n = order.size
    entered = 0
    for made in range(paths):
        if values.min() <= target:
            return made, entered
        origin, goal = int(rng.random() * values.size), int(rng.random() * values.size)
        walker[:] = lists[origin]
        value = np.int64(2**40)
        for stop in range(stops):
            low, high = stop * n // (stops + 1), (stop + 1) * n // (stops + 1)
            for place in range(low, high):
                source = place
                while walker[source] != lists[goal, place]:
                    source += 1
                move_entry(walker, source, place)
            order[:] = walker
            shake(order, moves, n, before, after, rng)
            makespan = evaluate(order, finish, project, before, after, free, work)
            if makespan < value:
                value = makespan
                best[:] = order
                best_finish[:] = finish
        entered += admit(best, value, best_finish, population)
    return paths, entered


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


def settle(order, makespan, size):
    """A population of `size` copies of one list: lists, makespans, fingerprints of the schedules."""
    lists = np.empty((size, order.size), np.int32)
    lists[:] = order
    return lists, np.full(size, makespan, np.int64), np.zeros(size, np.int64)


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent or a lower bound is met."""
    budget, rng = env_data["budget"], env_data["rng"]
    project, before, after, horizon = prepare(env_data)
    n = project[0].size
    target = shortest_possible(env_data, longest_tails(project[0], after))
    free = np.empty((project[1].shape[1], horizon), np.int64)
    work = (np.empty(horizon, np.int64), np.empty(n, np.int32), np.empty(n, np.int64))
    child = (np.array(state.sequence, dtype=np.int32), np.empty(n, np.int64), np.zeros(n, np.bool_))
    walk = (np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int64))
    best = child[0].copy()
    best_value = evaluate(best, child[1], project, before, after, free, work)
    paths, newcomers = max(2, CHUNK_ACTIVITIES // (3 * n * STOPS)), max(5, CHUNK_ACTIVITIES // (3 * n))
    while best_value > target and not budget.exhausted():
        population = settle(best, best_value, ELITE)
        lists, values, _codes = population
        idle = met = 0
        while idle < PATIENCE * ELITE and best_value > target and not (met and budget.exhausted()):
            if met < ELITE:
                more = min(newcomers, ELITE - met)
                found(more, population, project, before, after, free, work, child, rng)
                budget.charge(3 * more)
                met += more
            else:
                made, entered = relink(
                    paths,
                    (STOPS, MOVES),
                    target,
                    population,
                    project,
                    before,
                    after,
                    free,
                    work,
                    child,
                    walk,
                    rng,
                )
                budget.charge(3 * STOPS * made)
                idle = 0 if entered else idle + made
            if values.min() < best_value:
                best_value = values.min()
                best = lists[values.argmin()].copy()
    state.sequence = best
    return state
