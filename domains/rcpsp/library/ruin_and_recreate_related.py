"""Ruin and recreate: an activity and others related to it are moved at random and the schedule is justified.

Method: an activity is drawn; it and those among a few of its neighbours in the list that are tied to it by
precedence or compete with it most for resources each move to a random place within REACH between their last
predecessor and their first successor. The list is scheduled and justified, and replaces the present one by
Metropolis' rule; over the share of the budget the temperature, relative to the makespan, falls
geometrically, CYCLES times.

Source: G. Schrimpf et al., Record breaking optimization results using the ruin and recreate principle,
2000; P. Shaw, Using constraint programming and local search methods to solve vehicle routing problems, 1998
(relatedness).

Complexity: three schedules per round, each O(N (predecessors + periods searched)) for N activities.
"""

import math

import numpy as np
from numba import njit

MOVED = 3  # tunable: int 1..50
REACH = 0.25  # tunable: float 0.01..1.0
START_TEMPERATURE = 0.01  # tunable: float 0.0001..0.2
END_TEMPERATURE = 0.002  # tunable: float 0.0001..0.1
CYCLES = 3  # tunable: int 1..100
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
def evaluate(order, finish, project, before, after, free, work):
    """Schedule and justify a list; the makespan."""
    makespan = serial(order, project, before, free, finish)
    return justify(order, finish, makespan, project, before, after, free, work)


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
def disturb(order, count, reach, before, after, shares, rng):
    """Move an activity and up to `count` - 1 others near it that are related to it to random places."""
    n = order.size
    centre = int(rng.random() * n)
    x = order[centre]
    for i in range(count):
        place, most = centre, -1.0
        for _ in range(4 if i > 0 else 0):
            other = centre + int((2.0 * rng.random() - 1.0) * reach)
            other = min(max(other, 0), n - 1)
            y = order[other]
            kinship = rng.random()
            for k in range(shares.shape[1]):
                kinship += shares[x, k] * shares[y, k]
            for k in range(before[0][y], before[0][y + 1]):
                kinship += before[1][k] == x
            for k in range(after[0][y], after[0][y + 1]):
                kinship += after[1][k] == x
            if kinship > most:
                place, most = other, kinship
        low, high = free_range(order, place, reach, before, after)
        move_entry(order, place, low + int(rng.random() * (high - low + 1)))


# exchangeable: acceptance
@njit(cache=True)
def accepts(loss, temperature, draw):
    """Whether a schedule longer by `loss` replaces the present one; `draw` is uniform on [0, 1)."""
    return loss <= 0 or draw < math.exp(-loss / temperature)


@njit(cache=True)
def search(
    rounds, count, reach, temperature, target, project, before, after, shares, free, work, lists, status, rng
):
    """At most `rounds` rounds; `status` holds the best and the present makespan. The number of rounds made:
    fewer when `target` is met.
    """
    current, order, best, finish = lists
    for made in range(rounds):
        if status[0] <= target:
            return made
        order[:] = current
        disturb(order, count, reach, before, after, shares, rng)
        makespan = evaluate(order, finish, project, before, after, free, work)
        loss = makespan - status[1]
        if accepts(loss, temperature, rng.random()):
            status[1] = makespan
            current[:] = order
            if makespan < status[0]:
                status[0] = makespan
                best[:] = order
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
    target = shortest_possible(env_data, longest_tails(project[0], after))
    free = np.empty((project[1].shape[1], horizon), np.int64)
    work = (np.empty(horizon, np.int64), np.empty(n, np.int32), np.empty(n, np.int64))
    current = np.array(state.sequence, dtype=np.int32)
    finish = np.empty(n, np.int64)
    makespan = serial(current, project, before, free, finish)
    lists = (current, current.copy(), current.copy(), finish)
    status = np.array([makespan, makespan], np.int64)
    shares = np.asarray(env_data["requests"]) / np.maximum(env_data["capacities"], 1)
    reach = max(2, int(REACH * n))
    rounds = made = max(5, CHUNK_ACTIVITIES // (3 * n))
    while made == rounds and not budget.exhausted():
        heat = (START_TEMPERATURE / END_TEMPERATURE) ** (budget.remaining() * CYCLES % 1.0)
        temperature = makespan * END_TEMPERATURE * heat
        made = search(
            rounds,
            MOVED,
            reach,
            temperature,
            target,
            project,
            before,
            after,
            shares,
            free,
            work,
            lists,
            status,
            rng,
        )
        budget.charge(3 * made)
    state.sequence = lists[2]
    return state
