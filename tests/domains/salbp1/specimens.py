"""Random assembly lines and encodings, and the card's decoder in plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import Instance
from dga2d.domains.salbp1.line import LineData


def random_line(n_tasks: int, seed: int, density: float = 0.15, low: int = 0) -> LineData:
    """A line with cycle time 20 and times from `low` to 20 (mostly short), numbered out of order."""
    rng = np.random.default_rng(seed)
    times = np.maximum(low, np.minimum(rng.integers(0, 21, n_tasks), rng.integers(0, 21, n_tasks)))
    name = rng.permutation(n_tasks)
    is_edge = np.triu(rng.random((n_tasks, n_tasks)) < density, 1)
    edges = name[np.argwhere(is_edge)].reshape(-1, 2)
    return LineData(20, times.astype(np.int32), edges.astype(np.int32))


def instance_of_line(data: LineData, name: str) -> Instance:
    """The instance that holds `data`."""
    fields = {"cycle_time": data.cycle_time, "times": data.times, "edges": data.edges}
    return Instance("salbp1", "random", name, fields)


def random_instance(n_tasks: int, seed: int) -> Instance:
    """An instance of `n_tasks`; large ones have few relations."""
    density = 0.15 if n_tasks <= 50 else 3.0 / n_tasks
    return instance_of_line(random_line(n_tasks, seed, density), f"{n_tasks}-{seed}")


def random_sequence(instance: Instance, seed: int) -> NDArray[np.int32]:
    """A random topological permutation."""
    rng = np.random.default_rng(seed)
    n_tasks, edges = len(instance.data["times"]), instance.data["edges"].tolist()
    successors: list[list[int]] = [[] for _ in range(n_tasks)]
    waiting = [0] * n_tasks
    for before, after in edges:
        successors[before].append(after)
        waiting[after] += 1
    ready = [task for task in range(n_tasks) if not waiting[task]]
    order = []
    while ready:
        task = ready.pop(int(rng.integers(len(ready))))
        order.append(task)
        for after in successors[task]:
            waiting[after] -= 1
            if not waiting[after]:
                ready.append(after)
    return np.array(order, dtype=np.int32)


def plain_stations(instance: Instance, sequence: Any) -> float:
    """The card's decoder in plain Python."""
    capacity, times = instance.data["cycle_time"], instance.data["times"].tolist()
    edges = instance.data["edges"].tolist()
    entries = [int(task) for task in sequence]
    place = {task: position for position, task in enumerate(entries)}
    if sorted(entries) != list(range(len(times))) or any(place[a] > place[b] for a, b in edges):
        return 999_999_999.0
    station: dict[int, int] = {}
    loads: list[int] = []
    for task in entries:
        k = max([station[before] for before, after in edges if after == task], default=0)
        while k < len(loads) and loads[k] + times[task] > capacity:
            k += 1
        if k == len(loads):
            loads.append(0)
        loads[k] += times[task]
        station[task] = k
    return float(len(loads))
