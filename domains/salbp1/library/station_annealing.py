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
from parts.stations import first_fit, in_order_of_stations, may_swap, open_bounded_line, station_window

FIRST_TEMPERATURE = 0.2  # tunable: float 0.001..2.0
LAST_TEMPERATURE = 0.002  # tunable: float 0.00001..0.1
SWAP_SHARE = 0.5  # tunable: float 0.0..1.0
ROUND_MOVES = 1500  # tunable: int 50..50000
CHUNK_MOVES = 20_000  # moves tried by one kernel call


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
    budget, rng = env_data["budget"], env_data["rng"]
    (capacity, times, graph), sequence, station, load, fewest, bound = open_bounded_line(env_data, state)
    used = fewest
    round_moves = ROUND_MOVES * times.size
    while fewest > bound and not budget.exhausted():
        temperature, left = FIRST_TEMPERATURE, round_moves
        cooling = (LAST_TEMPERATURE / FIRST_TEMPERATURE) ** (1.0 / round_moves)
        while left > 0 and not budget.exhausted():
            made, temperature = anneal(
                min(left, CHUNK_MOVES), temperature, cooling, SWAP_SHARE, capacity, times, graph, station,
                load, used, rng,
            )  # fmt: skip
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
