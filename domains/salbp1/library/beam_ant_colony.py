"""Ant colony with beam search: partial lines are extended by loads drawn with pheromone, the best survive.

Method: pheromone tells how good a task has been at a station. A beam of partial lines is filled station
by station; each is extended by some random loads, whose tasks are drawn with odds of pheromone times a
greedy value (time and followers), and the partial lines with most time assigned survive. The best line of
the beam, and the best of all, strengthen their pheromone; old pheromone fades. Directions of the line
alternate. Uses its whole share.

Source: C. Blum, Beam-ACO for simple assembly line balancing, 2008.

Complexity: O(a) per task drawn with a available tasks; O(w e n a) per line for w partial lines with e
extensions.
"""

import numpy as np
from numba import njit
from parts.line_graph import follower_matrix, open_predecessors, reversed_graph
from parts.station_loads import best_children, place_loads, room_for_children
from parts.stations import first_fit, in_order_of_stations, open_bounded_line

BEAM = 8  # tunable: int 1..200
EXTENSIONS = 5  # tunable: int 1..100
RATE = 0.1  # tunable: float 0.01..0.9
GREED = 0.7  # tunable: float 0.0..1.0
CHUNK_SETS = 4  # partial lines extended by one kernel call


# exchangeable: greedy-value
def greedy_value(times, follows, capacity):
    """Desirability of every task, above 0; row i of `follows` marks the followers of task i."""
    return 0.01 + times / capacity + follows.sum(axis=1) / times.size


@njit(cache=True)
def draw_loads(first, end, station, level, problem, pheromone, extensions, greed, count, children, rng):
    """Extend the partial lines first..end-1 by random loads; returns the children so far."""
    capacity, times, graph, greedy, codes = problem
    parents, child_loads, child_sizes, child_keys, child_codes = children
    first_after, after, _, _ = graph
    n = times.size
    is_done = np.empty(n, np.bool_)
    available = np.empty(n, np.int64)
    for row in range(first, end):
        time_left = 0
        code = np.uint64(0)
        for task in range(n):
            is_done[task] = station[row, task] >= 0
            if is_done[task]:
                code ^= codes[task]
            else:
                time_left += times[task]
        whole = open_predecessors(graph, is_done)
        for _ in range(extensions):
            waiting = whole.copy()
            amount = 0
            for task in range(n):
                if not is_done[task] and waiting[task] == 0:
                    available[amount] = task
                    amount += 1
            free, size, mark = capacity, 0, code
            while True:
                chosen, top, total = -1, 0.0, 0.0
                is_greedy = rng.random() < greed
                for p in range(amount):
                    task = available[p]
                    if times[task] > free:
                        continue
                    odds = pheromone[level, task] * greedy[task]
                    total += odds
                    if is_greedy:
                        if chosen < 0 or odds > top:
                            chosen, top = p, odds
                    elif rng.random() * total < odds:
                        chosen = p
                if chosen < 0:
                    break
                task = available[chosen]
                amount -= 1
                available[chosen] = available[amount]
                free -= times[task]
                mark ^= codes[task]
                child_loads[count, size] = task
                size += 1
                for k in range(first_after[task], first_after[task + 1]):
                    waiting[after[k]] -= 1
                    if waiting[after[k]] == 0:
                        available[amount] = after[k]
                        amount += 1
            parents[count], child_sizes[count], child_codes[count] = row, size, mark
            child_keys[count] = time_left - (capacity - free) + 0.5 * rng.random()
            count += 1
    return count


def one_line(problem, pheromone, budget, rng):
    """Station of every task in the first complete line of a beam; ``None`` when the share is spent."""
    n = problem[1].size
    station = np.full((1, n), -1, np.int32)
    for level in range(n):
        children, count = room_for_children(len(station) * EXTENSIONS, n), 0
        for first in range(0, len(station), CHUNK_SETS):
            end = min(first + CHUNK_SETS, len(station))
            count = draw_loads(
                first, end, station, level, problem, pheromone, EXTENSIONS, GREED, count, children, rng
            )
        budget.charge(1 + count // 10)
        if budget.exhausted():
            return None
        parents, loads, sizes, keys, codes = children
        chosen = best_children(keys, codes, BEAM)
        fresh = np.empty((chosen.size, n), np.int32)
        place_loads(station, parents, loads, sizes, chosen, level, fresh)
        station = fresh
        is_complete = station.min(axis=1) >= 0
        if is_complete.any():
            return station[int(np.argmax(is_complete))]
    return None


def run(env_data, state, calc_makespan_fn):
    """Let the colony look for lines shorter than `state` until the share is spent or the bound is met."""
    budget, rng = env_data["budget"], env_data["rng"]
    (capacity, times, graph), sequence, best, load, fewest, bound = open_bounded_line(env_data, state)
    n = times.size
    codes = rng.integers(0, 2**64, n, dtype=np.uint64)
    follows = follower_matrix(graph)
    backward = reversed_graph(graph)
    fore = capacity, times, graph, greedy_value(times, follows, capacity), codes
    back = capacity, times, backward, greedy_value(times, follows.T, capacity), codes
    sides = (fore, np.full((n, n), 0.5)), (back, np.full((n, n), 0.5))
    tasks = np.arange(n)
    direction = 0
    while fewest > bound and not budget.exhausted():
        problem, pheromone = sides[direction]
        station = one_line(problem, pheromone, budget, rng)
        if station is None:
            break
        used = int(station.max()) + 1
        if used < fewest:
            sequence = in_order_of_stations(sequence, -station if direction else station)
            fewest = first_fit(sequence, capacity, times, graph, best, load)
        pheromone *= 1.0 - RATE
        pheromone[station, tasks] += 0.7 * RATE
        pheromone[fewest - 1 - best if direction else best, tasks] += 0.3 * RATE
        np.clip(pheromone, 0.01, 0.99, out=pheromone)
        direction = 1 - direction
    state.sequence = sequence
    return state
