"""Iterated local search: shake a few stations, descend by shifts and swaps, keep what is no worse.

Method: the line is held as a station for each task. A kick makes some random feasible shifts and swaps;
descent by shifts and by random swaps raises the sum of squared loads, which empties stations. The result
replaces the line when its sum is not lower by more than a small tolerance; an empty station is closed.
Uses its whole share.

Source: H. R. Lourenço, O. C. Martin, T. Stützle, Iterated local search, 2003; A. Scholl, S. Voss, Simple
assembly line balancing: heuristic approaches, 1996 (shifts and swaps).

Complexity: O(n (w + s) d) per kick for n tasks, windows of w stations, s swaps per task, d relations of a
task.
"""

from numba import njit
from parts.stations import first_fit, in_order_of_stations, may_swap, open_bounded_line, station_window

KICK_MOVES = 4  # tunable: int 1..200
SWAPS_PER_TASK = 10  # tunable: int 1..500
TOLERANCE = 0.05  # tunable: float 0.0..2.0
CHUNK_TRIALS = 100_000  # moves tried by one kernel call


@njit(cache=True)
def swap_if(first, second, is_any, capacity, times, graph, station, load, used):
    """Swap two tasks if feasible and, unless `is_any`, if that raises the sum of squared loads."""
    if station[first] > station[second]:
        first, second = second, first
    low, high = station[first], station[second]
    shift = times[first] - times[second]
    if low == high or load[high] + shift > capacity or load[low] - shift > capacity:
        return False
    if not is_any and shift * (load[high] - load[low] + shift) <= 0:
        return False
    if not may_swap(first, second, station, used, graph):
        return False
    station[first], station[second] = high, low
    load[high] += shift
    load[low] -= shift
    return True


# exchangeable: kick
@njit(cache=True)
def kick_target(low, high, here, draw):
    """The station a kicked task tries: one in low..high; `draw` is uniform on [0, 1)."""
    return low + int(draw * (high - low + 1))


@njit(cache=True)
def kick(moves, capacity, times, graph, station, load, used, rng):
    """Make about `moves` random feasible shifts or swaps."""
    n = times.size
    for _ in range(20 * moves):
        first = int(rng.random() * n)
        if rng.random() < 0.5:
            moves -= swap_if(first, int(rng.random() * n), True, capacity, times, graph, station, load, used)
        else:
            low, high = station_window(first, -1, station, used, graph)
            place = kick_target(low, high, station[first], rng.random())
            if place != station[first] and load[place] + times[first] <= capacity:
                load[station[first]] -= times[first]
                load[place] += times[first]
                station[first] = place
                moves -= 1
        if moves <= 0:
            return


@njit(cache=True)
def descend(swaps_per_task, capacity, times, graph, station, load, used, rng):
    """Shifts to the best station and random swaps until a round brings nothing; the moves tried."""
    n = times.size
    tried = 0
    has_moved = True
    while has_moved:
        has_moved = False
        start = int(rng.random() * n)
        for i in range(n):
            task = (start + i) % n
            here, time = station[task], times[task]
            low, high = station_window(task, -1, station, used, graph)
            best, best_gain = here, 0
            for place in range(low, high + 1):
                gain = load[place] - load[here] + time
                if place != here and load[place] + time <= capacity and gain > best_gain:
                    best, best_gain = place, gain
            tried += 1 + (high - low) // 4
            if best != here and time > 0:
                load[here] -= time
                load[best] += time
                station[task] = best
                has_moved = True
        for _ in range(n * swaps_per_task):
            first, second = int(rng.random() * n), int(rng.random() * n)
            if swap_if(first, second, False, capacity, times, graph, station, load, used):
                has_moved = True
        tried += n * swaps_per_task
    return tried


@njit(cache=True)
def square_sum(load, used, capacity):
    """Sum of squared loads in units of the squared cycle time."""
    total = 0.0
    for place in range(used):
        total += (load[place] / capacity) ** 2
    return total


@njit(cache=True)
def search(trials, moves, swaps_per_task, tolerance, capacity, times, graph, station, load, used, rng):
    """Kick and descend until about `trials` moves were tried or a station is empty; the moves tried."""
    kept_station, kept_load = station.copy(), load.copy()
    value = square_sum(load, used, capacity)
    tried = 0
    while tried < trials:
        kick(moves, capacity, times, graph, station, load, used, rng)
        tried += descend(swaps_per_task, capacity, times, graph, station, load, used, rng)
        for place in range(used):
            if load[place] == 0:
                return tried
        found = square_sum(load, used, capacity)
        if found >= value - tolerance * rng.random():
            value = found
            kept_station[:] = station
            kept_load[:] = load
        else:
            station[:] = kept_station
            load[:] = kept_load
    return tried


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share is spent or the bound is met."""
    budget, rng = env_data["budget"], env_data["rng"]
    (capacity, times, graph), sequence, station, load, fewest, bound = open_bounded_line(env_data, state)
    while fewest > bound and not budget.exhausted():
        tried = search(
            CHUNK_TRIALS, KICK_MOVES, SWAPS_PER_TASK, TOLERANCE, capacity, times, graph, station, load,
            fewest, rng,
        )  # fmt: skip
        budget.charge(1 + tried // (5 * times.size))
        if (load[:fewest] == 0).any():
            sequence = in_order_of_stations(sequence, station)
            fewest = first_fit(sequence, capacity, times, graph, station, load)
    state.sequence = in_order_of_stations(sequence, station)
    return state
