"""Descent by swaps: two tasks of different stations change places so that full stations become fuller.

Method: the line is held as a station for each task. Two unrelated tasks may change places where both stay
between their predecessors and successors and both stations keep within the cycle time. The sum of squared
loads is raised until no swap can, which concentrates idle time so that a shift or the first-fit reading
can empty a station.

Source: J. Rachamadugu, B. Talbot, Improving the equality of workload assignments in assembly lines, 1991;
A. Scholl, S. Voss, Simple assembly line balancing: heuristic approaches, 1996 (shifts and swaps).

Complexity: O(d) per pair of tasks with d relations, O(n²) pairs per sweep.
"""

from numba import njit
from parts.stations import in_order_of_stations, may_swap, open_line

MOST_SWEEPS = 50  # tunable: int 1..10000
CHUNK_PAIRS = 40_000  # pairs tried in one kernel call


# exchangeable: swap-gain
@njit(cache=True)
def swap_gain(difference, load_low, load_high, capacity):
    """What a swap is worth, above 0 is better; `difference` is the time that goes to the higher station."""
    return 2.0 * difference * (load_high - load_low + difference)


@njit(cache=True)
def swap_pairs(start, pairs, capacity, times, graph, station, load, used):
    """Try `pairs` pairs in a row, from number `start` of n², and swap where it pays; the number of swaps."""
    n = times.size
    swaps = 0
    for number in range(start, min(start + pairs, n * n)):
        first, second = number // n, number % n
        if station[first] >= station[second]:
            continue
        low, high = station[first], station[second]
        difference = times[first] - times[second]
        if load[high] + difference > capacity or load[low] - difference > capacity:
            continue
        gain = swap_gain(difference, load[low], load[high], capacity)
        if gain > 0.0 and may_swap(first, second, station, used, graph):
            station[first], station[second] = high, low
            load[high] += difference
            load[low] -= difference
            swaps += 1
    return swaps


def run(env_data, state, calc_makespan_fn):
    """Descend from `state`; the line is read again by first fit, which closes empty stations."""
    budget, capacity = env_data["budget"], env_data["cycle_time"]
    (capacity, times, graph), sequence, station, load, used = open_line(env_data, state)
    pairs = times.size**2
    sweeps, start, swaps = 0, 0, 0
    while sweeps < MOST_SWEEPS and not budget.exhausted():
        swaps += swap_pairs(start, CHUNK_PAIRS, capacity, times, graph, station, load, used)
        budget.charge(1 + min(CHUNK_PAIRS, pairs) // (10 * times.size))
        start += CHUNK_PAIRS
        if start >= pairs:
            if swaps == 0:
                break
            sweeps, start, swaps = sweeps + 1, 0, 0
    state.sequence = in_order_of_stations(sequence, station)
    return state
