"""Tabu search for a line with one station less, through lines with overloaded stations.

Method: two neighbouring stations are merged, so that some load exceeds the cycle time. Shifts and swaps
of tasks of overloaded stations that keep precedence lower the total overload; each iteration makes the
best one that is not tabu (a task may not return to a station it left for a while), ties are broken at
random. Without overload the line is one station shorter, and the next merger follows; after PATIENCE
iterations without progress another pair of stations of the best line is merged. The operator stops at the
bin-packing bound or when MERGERS mergers in a row failed.

Source: S. D. Lapierre, A. Ruiz, P. Soriano, Balancing assembly lines with tabu search, 2006; A. Scholl,
S. Voss, Simple assembly line balancing: heuristic approaches, 1996.

Complexity: O(o n d) per iteration with o tasks in overloaded stations and d relations of a task.
"""

import numpy as np
from numba import njit
from parts.stations import first_fit, in_order_of_stations, may_swap, open_bounded_line, station_window

PATIENCE = 3000  # tunable: int 50..100000
MERGERS = 40  # tunable: int 1..10000
TENURE = 12  # tunable: int 1..200
TENURE_SPREAD = 10  # tunable: int 0..200
CHUNK_TRIALS = 300_000  # moves rated by one kernel call


@njit(cache=True)
def overload(load, capacity):
    """By how much a load exceeds the cycle time."""
    return max(0, load - capacity)


# exchangeable: tabu-tenure
@njit(cache=True)
def tabu_tenure(base, spread, draw):
    """Iterations for which a task may not return to a station; `draw` is uniform on [0, 1)."""
    return base + int(draw * (spread + 1))


@njit(cache=True)
def tabu_moves(most, capacity, times, graph, station, load, used, until, now, tenure, spread, rng):
    """Make moves until no station is overloaded or about `most` were rated.

    Returns iterations made, moves rated and the least overload met. `until` holds, for each task and
    station, the iteration up to which the move is tabu; `now` is the number of the first iteration.
    """
    n = times.size
    rated = made = 0
    total = 0
    for place in range(used):
        total += overload(load[place], capacity)
    least = total
    while total > 0 and rated < most:
        best, ties = np.int64(2**62), 0
        best_first, best_second, best_place = -1, -1, -1
        for first in range(n):
            here = station[first]
            if load[here] <= capacity:
                continue
            time = times[first]
            low, high = station_window(first, -1, station, used, graph)
            for place in range(low, high + 1):
                if place == here:
                    continue
                rated += 1
                value = total - overload(load[here], capacity) - overload(load[place], capacity)
                value += overload(load[here] - time, capacity) + overload(load[place] + time, capacity)
                if value <= best and (until[first, place] <= now + made or value < least):
                    ties = 1 if value < best else ties + 1
                    if rng.random() * ties < 1.0:
                        best_first, best_second, best_place = first, -1, place
                    best = value
            for second in range(n):
                there = station[second]
                change = time - times[second]
                if there == here or change <= 0:
                    continue
                rated += 1
                value = total - overload(load[here], capacity) - overload(load[there], capacity)
                value += overload(load[here] - change, capacity) + overload(load[there] + change, capacity)
                if value > best:
                    continue
                is_tabu = until[first, there] > now + made or until[second, here] > now + made
                if is_tabu and value >= least:
                    continue
                if here < there:
                    is_feasible = may_swap(first, second, station, used, graph)
                else:
                    is_feasible = may_swap(second, first, station, used, graph)
                if is_feasible:
                    ties = 1 if value < best else ties + 1
                    if rng.random() * ties < 1.0:
                        best_first, best_second, best_place = first, second, there
                    best = value
        made += 1
        if best_first < 0:
            continue
        here = station[best_first]
        until[best_first, here] = now + made + tabu_tenure(tenure, spread, rng.random())
        station[best_first] = best_place
        load[here] -= times[best_first]
        load[best_place] += times[best_first]
        if best_second >= 0:
            until[best_second, best_place] = now + made + tabu_tenure(tenure, spread, rng.random())
            station[best_second] = here
            load[best_place] -= times[best_second]
            load[here] += times[best_second]
        total = best
        least = min(least, total)
        rated += n // 10
    return made, rated, least


def merged(station, load, used, rng):
    """Station of every task after a merger of two neighbouring stations, less loaded pairs more likely."""
    pairs = load[: used - 1] + load[1:used]
    place = int(np.argmin(pairs * (0.7 + 0.3 * rng.random(used - 1))))
    return station - (station > place)


def run(env_data, state, calc_makespan_fn):
    """Take away stations one by one, from `state`, until the share is spent or the bound is met."""
    budget, rng = env_data["budget"], env_data["rng"]
    (capacity, times, graph), sequence, station, load, fewest, bound = open_bounded_line(env_data, state)
    n = times.size
    failures = 0
    while fewest > bound and failures < MERGERS and not budget.exhausted():
        failures += 1
        trial = merged(station, load, fewest, rng)
        loads = np.zeros(fewest, np.int64)
        np.add.at(loads, trial, times)
        until = np.zeros((n, fewest), np.int64)
        now = since = 0
        record = np.iinfo(np.int64).max
        while since < PATIENCE and not budget.exhausted():
            made, rated, least = tabu_moves(
                CHUNK_TRIALS, capacity, times, graph, trial, loads, fewest - 1, until, now, TENURE,
                TENURE_SPREAD, rng,
            )  # fmt: skip
            now += made
            since = 0 if least < record else since + made
            record = min(record, least)
            budget.charge(1 + rated // (10 * n))
            if least == 0:
                sequence = in_order_of_stations(sequence, trial)
                fewest = first_fit(sequence, capacity, times, graph, station, load)
                failures = 0
                break
    state.sequence = sequence
    return state
