"""The line as a constraint program for OR-Tools CP-SAT: the baseline to compare with, without any hint."""

from __future__ import annotations

import numpy as np

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.salbp1.line import LineData
from dga2d.domains.shared.or_tools import solve_model


def solve(instance: Instance, time_limit_s: float, seed: int, workers: int = 1) -> State | None:
    """Return the best line CP-SAT finds within `time_limit_s`; ``None`` if it finds none.

    Raises
    ------
    ImportError
        OR-Tools is not installed.
    """
    data = LineData(instance.data["cycle_time"], instance.data["times"], instance.data["edges"])
    stations, _ = solve_with_status(data, time_limit_s, seed, workers)
    if stations is None:
        return None
    return State(_sequence(data, stations))


def solve_with_status(
    data: LineData, time_limit_s: float, seed: int, workers: int = 1
) -> tuple[list[int] | None, bool]:
    """Return the station of each task, from 0, and whether the number of stations is proven minimal."""
    from ortools.sat.python import cp_model

    n, times, capacity = len(data.times), data.times.tolist(), data.cycle_time
    limit = _next_fit_bound(data)
    ahead, behind = _neighbouring_stations(data)
    model = cp_model.CpModel()
    used = model.new_int_var(bin_packing_bound(times, capacity), limit, "stations")
    is_used = [model.new_bool_var(f"y{k}") for k in range(limit)]
    model.add(sum(is_used) == used)
    windows = [range(ahead[task], limit - behind[task]) for task in range(n)]
    is_in = [{k: model.new_bool_var(f"x{task},{k}") for k in windows[task]} for task in range(n)]
    station = [model.new_int_var(window[0], window[-1], "") for window in windows]
    for task in range(n):
        model.add_exactly_one(is_in[task].values())
        model.add(station[task] == sum(k * variable for k, variable in is_in[task].items()))
        model.add(station[task] + behind[task] < used)
    for k in range(limit):
        present = [task for task in range(n) if k in is_in[task]]
        model.add(sum(times[task] * is_in[task][k] for task in present) <= capacity * is_used[k])
        if k:
            model.add_implication(is_used[k], is_used[k - 1])
    for before, after in data.edges.tolist():
        model.add(station[before] <= station[after])
    model.minimize(used)
    solved = solve_model(model, time_limit_s, seed, workers)
    if solved is None:
        return None, False
    return [int(solved.solver.value(variable)) for variable in station], solved.is_proven


def bin_packing_bound(times: list[int], capacity: int) -> int:
    """Return how many bins of `capacity` items of these sizes need at least, precedence left aside; at least
    1.

    References
    ----------
    S. Martello, P. Toth, Knapsack Problems, Wiley 1990: the bound L2 of Section 8.3.
    """
    best = 1
    for small in {0, *(time for time in times if 2 * time <= capacity)}:
        alone = sum(time > capacity - small for time in times)
        large = [time for time in times if capacity < 2 * time and time <= capacity - small]
        rest = sum(time for time in times if small <= time and 2 * time <= capacity)
        overflow = rest - (len(large) * capacity - sum(large))
        best = max(best, alone + len(large) + max(0, -(-overflow // capacity)))
    return best


def _neighbouring_stations(data: LineData) -> tuple[list[int], list[int]]:
    """Return how many stations lie before and behind that of each task in any line, from the times of its
    kin.
    """
    n = len(data.times)
    is_before = np.zeros((n, n), np.bool_)
    is_before[data.edges[:, 0], data.edges[:, 1]] = True
    for middle in range(n):
        is_before |= np.outer(is_before[:, middle], is_before[middle])
    times = data.times.astype(np.int64)
    counts = []
    for kin in (is_before.T, is_before):
        counts.append(((times + kin @ times + data.cycle_time - 1) // data.cycle_time).clip(min=1) - 1)
    return counts[0].tolist(), counts[1].tolist()


def _next_fit_bound(data: LineData) -> int:
    """Return the stations of the line that takes tasks in topological order and closes a station at the first
    misfit.
    """
    order = _sequence(data, [0] * len(data.times)).tolist()
    used, free = 1, data.cycle_time
    for task in order:
        time = int(data.times[task])
        if time > free:
            used, free = used + 1, data.cycle_time
        free -= time
    return used


def _sequence(data: LineData, stations: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """Return the tasks by station, each after its predecessors."""
    waiting = np.bincount(data.edges[:, 1], minlength=len(data.times)).tolist()
    successors: list[list[int]] = [[] for _ in waiting]
    for before, after in data.edges.tolist():
        successors[before].append(after)
    ready = [task for task, count in enumerate(waiting) if not count]
    order = []
    while ready:
        task = ready.pop()
        order.append(task)
        for after in successors[task]:
            waiting[after] -= 1
            if not waiting[after]:
                ready.append(after)
    return np.array(sorted(order, key=lambda task: stations[task]), dtype=np.int32)
