"""Simulated annealing over shifts and swaps of tasks between stations.

Method: random shifts and swaps that keep precedence and cycle time are accepted by Metropolis' rule on
the sum of squared loads, which grows as idle time gathers in few stations. The temperature falls
geometrically over the share; a station that becomes empty is closed and the line kept as the best. Uses
its whole share, in rounds.

Source: P. R. McMullen, G. V. Frazier, Using simulated annealing to solve a multiobjective assembly line
balancing problem with parallel workstations, 1998 (shifts and trades).

Complexity: O(d) per move with d relations of a task.
"""

import numpy as np
from numba import njit

FIRST_TEMPERATURE = 0.2  # tunable: float 0.001..2.0
LAST_TEMPERATURE = 0.002  # tunable: float 0.00001..0.1
SWAP_SHARE = 0.5  # tunable: float 0.0..1.0
ROUND_MOVES = 1500  # tunable: int 50..50000
CHUNK_MOVES = 20_000  # moves tried by one kernel call


def kin_of_tasks(edges, n, here, there):
    """Direct kin of all tasks: that of task i is kin[first[i] : first[i + 1]]."""
    first = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(edges[:, here], minlength=n), out=first[1:])
    return first, edges[np.argsort(edges[:, here], kind="stable"), there].copy()


def line_data(env_data):
    """Task times, int64, and the graph: successors (first, kin) and predecessors (first, kin)."""
    times = np.array(env_data["times"], dtype=np.int64)
    edges = np.array(env_data["edges"], dtype=np.int64).reshape(-1, 2)
    return times, kin_of_tasks(edges, times.size, 0, 1) + kin_of_tasks(edges, times.size, 1, 0)


def least_stations(times, capacity):
    """Stations that any line needs: the bin-packing bound L2 of Martello and Toth."""
    best = 1
    for small in np.unique(np.append(times[2 * times <= capacity], 0)):
        alone = np.count_nonzero(times > capacity - small)
        large = times[(2 * times > capacity) & (times <= capacity - small)]
        rest = times[(times >= small) & (2 * times <= capacity)].sum()
        overflow = rest - (large.size * capacity - large.sum())
        best = max(best, alone + large.size + max(0, -(-int(overflow) // capacity)))
    return best


@njit(cache=True)
def first_fit(sequence, capacity, times, graph, station, load):
    """Station of every task of a topological order, load of every station; the number of stations."""
    _, _, first_before, before = graph
    used = 0
    for task in sequence:
        place = 0
        for k in range(first_before[task], first_before[task + 1]):
            place = max(place, station[before[k]])
        while place < used and load[place] + times[task] > capacity:
            place += 1
        if place == used:
            load[place] = 0
            used += 1
        load[place] += times[task]
        station[task] = place
    return used


@njit(cache=True)
def station_window(task, besides, station, used, graph):
    """First and last station where a task may stand as things are; the task `besides` is left out."""
    first_after, after, first_before, before = graph
    low, high = 0, used - 1
    for k in range(first_before[task], first_before[task + 1]):
        if before[k] != besides:
            low = max(low, station[before[k]])
    for k in range(first_after[task], first_after[task + 1]):
        if after[k] != besides:
            high = min(high, station[after[k]])
    return low, high


@njit(cache=True)
def may_swap(first, second, station, used, graph):
    """Whether two tasks of different stations, the first one's earlier, may change places."""
    first_after, after, _, _ = graph
    is_successor = False
    for k in range(first_after[first], first_after[first + 1]):
        is_successor = is_successor or after[k] == second
    high = station_window(first, second, station, used, graph)[1]
    low = station_window(second, first, station, used, graph)[0]
    return not is_successor and station[second] <= high and station[first] >= low


def in_order_of_stations(sequence, station):
    """The tasks station by station, within one in the order of the topological order `sequence`."""
    return sequence[np.argsort(station[sequence], kind="stable")]


# exchangeable: acceptance
@njit(cache=True)
def is_accepted(gain, temperature, draw):
    """Whether a move is made; `gain` above 0 is better, `draw` is uniform on [0, 1)."""
    return gain >= 0.0 or draw < np.exp(gain / temperature)


@njit(cache=True)
def anneal(moves, temperature, cooling, swap_share, capacity, times, graph, station, load, used, rng):
    """Try `moves` random moves, stop when a station is empty; returns moves made and the temperature."""
    n = times.size
    square = float(capacity) * capacity
    for move in range(moves):
        temperature *= cooling
        first = int(rng.random() * n)
        if rng.random() < swap_share:
            second = int(rng.random() * n)
            if station[first] > station[second]:
                first, second = second, first
            low, high = station[first], station[second]
            shift = times[first] - times[second]
            if low == high or load[high] + shift > capacity or load[low] - shift > capacity:
                continue
            gain = 2.0 * shift * (load[high] - load[low] + shift) / square
            if is_accepted(gain, temperature, rng.random()) and may_swap(first, second, station, used, graph):
                station[first], station[second] = high, low
                load[high] += shift
                load[low] -= shift
        else:
            low, high = station_window(first, -1, station, used, graph)
            here, place = station[first], low + int(rng.random() * (high - low + 1))
            time = times[first]
            if place == here or load[place] + time > capacity:
                continue
            gain = 2.0 * time * (load[place] - load[here] + time) / square
            if is_accepted(gain, temperature, rng.random()):
                station[first] = place
                load[here] -= time
                load[place] += time
                if load[here] == 0:
                    return move + 1, temperature
    return moves, temperature


def run(env_data, state, calc_makespan_fn):
    """Anneal from the best line, again and again, until the share is spent or the bound is met."""
    budget, rng, capacity = env_data["budget"], env_data["rng"], env_data["cycle_time"]
    times, graph = line_data(env_data)
    bound = least_stations(times, capacity)
    sequence = np.array(state.sequence, dtype=np.int32)
    station, load = np.empty(times.size, np.int64), np.empty(times.size, np.int64)
    used = fewest = first_fit(sequence, capacity, times, graph, station, load)
    budget.charge(1)
    round_moves = ROUND_MOVES * times.size
    while fewest > bound and not budget.exhausted():
        temperature, left = FIRST_TEMPERATURE, round_moves
        cooling = (LAST_TEMPERATURE / FIRST_TEMPERATURE) ** (1.0 / round_moves)
        while left > 0 and not budget.exhausted():
            made, temperature = anneal(
                min(left, CHUNK_MOVES),
                temperature,
                cooling,
                SWAP_SHARE,
                capacity,
                times,
                graph,
                station,
                load,
                used,
                rng,
            )
            left -= made
            budget.charge(1 + made // times.size)
            if (load[:used] == 0).any():
                sequence = in_order_of_stations(sequence, station)
                used = fewest = first_fit(sequence, capacity, times, graph, station, load)
                if fewest <= bound:
                    break
        if left <= 0:
            used = first_fit(in_order_of_stations(sequence, station), capacity, times, graph, station, load)
            if used < fewest:
                sequence, fewest = in_order_of_stations(sequence, station), used
    state.sequence = sequence
    return state
