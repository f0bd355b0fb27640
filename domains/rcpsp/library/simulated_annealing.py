"""Simulated annealing on the list with random insertions.

Method: a random activity moves to a random place between its last predecessor and its first successor in
the list. The length that Metropolis' rule would still accept is drawn beforehand, so that a schedule is
given up as soon as it gets longer. The temperature, relative to the makespan, falls geometrically over the
share of the budget, CYCLES times.

Source: F. F. Boctor, Resource-constrained project scheduling by simulated annealing, 1996; K. Bouleimen, H.
Lecocq, A new efficient simulated annealing algorithm for the resource-constrained project scheduling
problem, 2003.

Complexity: at most one schedule per move, O(N (predecessors + periods searched)) for N activities.
"""

import math

import numpy as np
from numba import njit

START_TEMPERATURE = 0.02  # tunable: float 0.0001..0.5
END_TEMPERATURE = 0.002  # tunable: float 0.0001..0.1
REACH = 0.3  # tunable: float 0.01..1.0
CYCLES = 3  # tunable: int 1..100
CHUNK_ACTIVITIES = 40_000  # moves of one kernel call times activities of the instance


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


# exchangeable: tolerated-loss
@njit(cache=True)
def tolerated_loss(temperature, draw):
    """Periods by which the schedule may get longer; `draw` is uniform on [0, 1)."""
    return int(-temperature * math.log(1.0 - draw))


@njit(cache=True)
def anneal(
    moves, reach, temperature, target, project, before, after, tails, free, lists, finish, status, rng
):
    """Try `moves` moves; `status` holds the best and the present makespan. The number of moves made: fewer
    when `target` is met.
    """
    order, best = lists
    for made in range(moves):
        if status[0] <= target:
            return made
        place = int(rng.random() * order.size)
        low, high = free_range(order, place, reach, before, after)
        to = low + int(rng.random() * (high - low + 1))
        if to == place:
            continue
        limit = status[1] + tolerated_loss(temperature, rng.random())
        move_entry(order, place, to)
        makespan = serial_within(limit, order, project, before, tails, free, finish)
        if makespan > limit:
            move_entry(order, to, place)
            continue
        status[1] = makespan
        if makespan < status[0]:
            status[0] = makespan
            best[:] = order
    return moves


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
    """Anneal from `state` until the share of the budget is spent or a lower bound is met."""
    budget, rng = env_data["budget"], env_data["rng"]
    project, before, after, horizon = prepare(env_data)
    n = project[0].size
    tails = longest_tails(project[0], after)
    target = shortest_possible(env_data, tails)
    free = np.empty((project[1].shape[1], horizon), np.int64)
    order, finish = np.array(state.sequence, dtype=np.int32), np.empty(n, np.int64)
    lists = (order, order.copy())
    makespan = serial_within(horizon, order, project, before, tails, free, finish)
    status = np.array([makespan, makespan], np.int64)
    reach = max(1, int(REACH * n))
    moves = made = max(5, CHUNK_ACTIVITIES // n)
    while made == moves and not budget.exhausted():
        heat = (START_TEMPERATURE / END_TEMPERATURE) ** (budget.remaining() * CYCLES % 1.0)
        temperature = makespan * END_TEMPERATURE * heat
        made = anneal(
            moves, reach, temperature, target, project, before, after, tails, free, lists, finish, status, rng
        )
        budget.charge(made)
    state.sequence = lists[1]
    return state
