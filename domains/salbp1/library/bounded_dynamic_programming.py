"""Bounded dynamic programming: station by station, the best few sets of assigned tasks survive.

Method: stage k holds sets of tasks that fill k stations. Each is extended by maximal loads, the best
BRANCHES of a limited number; of the new sets a limited number survive, those with most time assigned and,
for equal time, fewest tasks. Sets that cannot lead to a shorter line are dropped. Passes alternate
between the two directions of the line; the number of survivors grows and keys are blurred a little, until
the share is spent or the bound is met.

Source: J. Bautista, J. Pereira, A dynamic programming based heuristic for the assembly line balancing
problem, 2009.

Complexity: O(m + L (l + a)) per set for m relations and L loads of l tasks with a available ones.
"""

import numpy as np
from numba import njit
from parts.line_graph import follower_matrix, least_stations, line_data, reversed_graph
from parts.station_loads import best_children, dominance_matrix, loads_behind, place_loads, room_for_children
from parts.stations import in_order_of_stations

FIRST_WIDTH = 10  # tunable: int 1..500
MOST_WIDTH = 400  # tunable: int 10..5000
WIDENING = 1.5  # tunable: float 1.0..10.0
BRANCHES = 12  # tunable: int 1..200
LOADS = 300  # tunable: int 1..3000
FEWER_TASKS = 0.02  # tunable: float 0.0..1.0
NOISE = 0.02  # tunable: float 0.0..1.0
CHUNK_SETS = 4  # sets extended by one kernel call


# exchangeable: set-key
@njit(cache=True)
def set_key(time_left, tasks_left, capacity, fewer_tasks):
    """Rank of a set of assigned tasks within its stage, lower survives."""
    return time_left / capacity - fewer_tasks * tasks_left


@njit(cache=True)
def extend(first, end, station, problem, room, fewer_tasks, noise, work, count, children, rng):
    """Extend the sets first..end-1 by loads; returns the children so far and the loads tried."""
    capacity, times, graph, dominates, ranking, codes = problem
    loads, sizes, keys = work
    parents, child_loads, child_sizes, child_keys, child_codes = children
    n = times.size
    is_done = np.empty(n, np.bool_)
    branches = child_keys.size // station.shape[0]
    tried = 0
    for row in range(first, end):
        time_left, tasks_left = 0, 0
        code = np.uint64(0)
        for task in range(n):
            is_done[task] = station[row, task] >= 0
            if is_done[task]:
                code ^= codes[task]
            else:
                time_left += times[task]
                tasks_left += 1
        found, steps = loads_behind(is_done, ranking, capacity, times, graph, dominates, loads, sizes)
        tried += steps
        for i in range(found):
            left = time_left
            for j in range(sizes[i]):
                left -= times[loads[i, j]]
            keys[i] = set_key(left, tasks_left - sizes[i], capacity, fewer_tasks) + noise * rng.random()
            if left > room * capacity:
                keys[i] = np.inf
            elif tasks_left == sizes[i]:
                keys[i] = -1e300
        for i in np.argsort(keys[:found])[:branches]:
            if keys[i] == np.inf:
                break
            mark = code
            for j in range(sizes[i]):
                child_loads[count, j] = loads[i, j]
                mark ^= codes[loads[i, j]]
            parents[count], child_sizes[count], child_keys[count], child_codes[count] = (
                row,
                sizes[i],
                keys[i],
                mark,
            )
            count += 1
    return count, tried


def one_pass(problem, width, goal, budget, rng):
    """Station of every task in a line of at most `goal` stations; ``None`` if none was found."""
    n = problem[1].size
    station = np.full((1, n), -1, np.int32)
    work = np.empty((LOADS, n), np.int64), np.empty(LOADS, np.int64), np.empty(LOADS, np.float64)
    for level in range(goal):
        children, count = room_for_children(len(station) * BRANCHES, n), 0
        for first in range(0, len(station), CHUNK_SETS):
            end = min(first + CHUNK_SETS, len(station))
            room = goal - level - 1
            count, tried = extend(
                first, end, station, problem, room, FEWER_TASKS, NOISE, work, count, children, rng
            )
            budget.charge(tried)
            if budget.exhausted():
                return None
        if count == 0:
            return None
        parents, loads, sizes, keys, codes = children
        chosen = best_children(keys[:count], codes[:count], width)
        fresh = np.empty((chosen.size, n), np.int32)
        place_loads(station, parents, loads, sizes, chosen, level, fresh)
        if fresh[0].min() >= 0:
            return fresh[0]
        station = fresh
    return None


def run(env_data, state, calc_makespan_fn):
    """Look for lines shorter than `state` until the share is spent or the bound is met."""
    budget, rng, capacity = env_data["budget"], env_data["rng"], env_data["cycle_time"]
    times, graph = line_data(env_data)
    bound = least_stations(times, capacity)
    sequence = np.array(state.sequence, dtype=np.int32)
    fewest = int(calc_makespan_fn(state))
    codes = rng.integers(0, 2**64, times.size, dtype=np.uint64)
    follows = follower_matrix(graph)
    sides = []
    for side, kin in ((graph, follows), (reversed_graph(graph), np.ascontiguousarray(follows.T))):
        weight = times + kin @ times
        ranking = np.argsort(-(times + 0.001 * weight), kind="stable")
        sides.append((capacity, times, side, dominance_matrix(times, side, kin), ranking, codes))
    width = float(FIRST_WIDTH)
    direction = 0
    while fewest > bound and not budget.exhausted():
        station = one_pass(sides[direction], int(width), fewest - 1, budget, rng)
        if station is None:
            width = min(width * WIDENING, float(MOST_WIDTH)) if direction else width
            direction = 1 - direction
        else:
            sequence = in_order_of_stations(sequence, -station if direction else station)
            fewest = len(np.unique(station))
    state.sequence = sequence
    return state
