"""Independent verifier: builds the line a sequence describes and checks every constraint on the line itself.

It shares no code with the compiled decoder: stations are lists of tasks whose loads are added up anew.

A solution file says which tasks each station performs: comment lines (``#``: the instance, the meaning of the
rows), then ``tasks stations cycle_time``, then one line per station, in the order of the line, with its tasks
in an order in which they can be performed. Tasks are counted from 1, as in `.alb` files.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import State, Verdict
from dga2d.domains.core.encoding import permutation_violation


def verify_sequence(
    cycle_time: int, times: NDArray[np.int32], edges: NDArray[np.int32], state: State
) -> Verdict:
    """Check `state` against an instance; never raises on a broken one."""
    sequence: Any = getattr(state, "sequence", None)
    violation = permutation_violation(sequence, len(times), "task")
    if violation is None:
        violation = _order_violation(edges, sequence)
    if violation is not None:
        return Verdict(None, violation)
    stations = line_of(cycle_time, times, edges, sequence)
    violation = line_violation(cycle_time, times, edges, stations)
    if violation is not None:
        return Verdict(None, violation)
    return Verdict(float(len(stations)), None)


def _order_violation(edges: NDArray[np.int32], sequence: NDArray[Any]) -> str | None:
    place = {task: position for position, task in enumerate(sequence.tolist())}
    for before, after in edges.tolist():
        if place[before] > place[after]:
            return f"task {after} stands before its predecessor {before}"
    return None


def line_of(
    cycle_time: int, times: NDArray[np.int32], edges: NDArray[np.int32], sequence: NDArray[Any]
) -> list[list[int]]:
    """Return the tasks of each station under first fit, for a topological permutation of the tasks."""
    predecessors: list[set[int]] = [set() for _ in range(len(times))]
    for before, after in edges.tolist():
        predecessors[after].add(before)
    duration = times.tolist()
    stations: list[list[int]] = []
    for task in sequence.tolist():
        allowed = 0
        for number, tasks in enumerate(stations):
            if not predecessors[task].isdisjoint(tasks):
                allowed = number
        for tasks in stations[allowed:]:
            if sum(duration[other] for other in tasks) + duration[task] <= cycle_time:
                tasks.append(task)
                break
        else:
            stations.append([task])
    return stations


def line_violation(
    cycle_time: int, times: NDArray[np.int32], edges: NDArray[np.int32], stations: list[list[int]]
) -> str | None:
    """Return the first broken constraint of a line; ``None`` if it is feasible. Tasks are counted from 0."""
    station_of: dict[int, int] = {}
    for number, tasks in enumerate(stations):
        if not tasks:
            return f"station {number} has no task"
        for task in tasks:
            if not 0 <= task < len(times):
                return f"task {task} is not in 0..{len(times) - 1}"
            if task in station_of:
                return f"task {task} is assigned twice"
            station_of[task] = number
        load = sum(int(times[task]) for task in tasks)
        if load > cycle_time:
            return f"station {number} has load {load}, more than the cycle time {cycle_time}"
    for task in range(len(times)):
        if task not in station_of:
            return f"task {task} is assigned to no station"
    for before, after in edges.tolist():
        if station_of[before] > station_of[after]:
            return f"task {before} is in a later station than its successor {after}"
    return None


def line_text(key: str, cycle_time: int, stations: list[list[int]]) -> str:
    """Return the text of a solution file for `stations`, lists of tasks counted from 0."""
    n_tasks = sum(map(len, stations))
    lines = [
        f"# instance {key}",
        "# tasks stations cycle_time, then per station its tasks, counted from 1",
        f"{n_tasks} {len(stations)} {cycle_time}",
        *(" ".join(str(task + 1) for task in tasks) for tasks in stations),
    ]
    return "\n".join(lines) + "\n"


def verified_objective(environment: Mapping[str, Any], state: State) -> Verdict:
    """Return the number of stations by the independent verifier, or the first broken constraint."""
    return verify_sequence(environment["cycle_time"], environment["times"], environment["edges"], state)


def solution_text(name: str, environment: Mapping[str, Any], state: State, objective: float) -> str:
    """Return the text of a verified solution; `objective` is the number of its stations."""
    cycle_time = int(environment["cycle_time"])
    stations = line_of(cycle_time, environment["times"], environment["edges"], state.sequence)
    return line_text(f"file/{name}", cycle_time, stations)
