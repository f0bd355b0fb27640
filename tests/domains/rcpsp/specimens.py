"""Random projects and lists, and the card's decoder in plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import Instance
from dga2d.domains.rcpsp.project import Project


def random_instance(n: int, n_resources: int, seed: int, low: int = 1) -> Instance:
    """A project of `n` real activities with durations from `low` to 8 and a random network."""
    rng = np.random.default_rng(seed)
    durations = rng.integers(low, 9, n + 2)
    requests = rng.integers(0, 6, (n + 2, n_resources))
    durations[[0, -1]] = 0
    requests[[0, -1]] = 0
    capacities = requests.max(axis=0) + rng.integers(0, 6, n_resources)
    arcs = {(u, v) for u in range(1, n + 1) for v in range(u + 1, n + 1) if rng.random() < 2.0 / (n + 1)}
    heads, tails = {v for _, v in arcs}, {u for u, _ in arcs}
    arcs |= {(0, v) for v in range(1, n + 2) if v not in heads and v <= n}
    arcs |= {(u, n + 1) for u in range(n + 1) if u not in tails and u > 0}
    arcs |= {(0, n + 1)} if n == 0 else set()
    renamed = np.concatenate(([0], 1 + rng.permutation(n), [n + 1]))  # numbers are no topological order
    back = np.argsort(renamed)
    project = Project(
        durations[back].astype(np.int32),
        requests[back].astype(np.int32),
        capacities.astype(np.int32),
        np.array(sorted((int(renamed[u]), int(renamed[v])) for u, v in arcs), np.int32),
    )
    return Instance("rcpsp", "random", f"{n}x{n_resources}-{seed}", project.data())


def random_sequence(instance: Instance, seed: int) -> NDArray[np.int32]:
    """Any activity whose predecessors are listed comes next."""
    rng = np.random.default_rng(seed)
    edges = instance.data["edges"].tolist()
    left = list(range(len(instance.data["durations"])))
    sequence: list[int] = []
    while left:
        waiting = {v for u, v in edges if u in left}
        sequence.append(int(rng.choice([x for x in left if x not in waiting])))
        left.remove(sequence[-1])
    return np.array(sequence, np.int32)


def plain_makespan(instance: Instance, sequence: Any) -> float:
    """Serial schedule generation as the card describes it, period by period."""
    durations, requests, capacities = (
        instance.data[key].tolist() for key in ("durations", "requests", "capacities")
    )
    activities = [int(activity) for activity in sequence]
    if sorted(activities) != list(range(len(durations))):
        return 999_999_999.0
    before: dict[int, list[int]] = {activity: [] for activity in activities}
    for u, v in instance.data["edges"].tolist():
        before[v].append(u)
    left = [list(capacities) for _ in range(sum(durations) + 1)]
    finish: dict[int, int] = {}
    for activity in activities:
        if any(u not in finish for u in before[activity]):
            return 999_999_999.0
        start = max((finish[u] for u in before[activity]), default=0)
        while any(
            request > there
            for t in range(start, start + durations[activity])
            for request, there in zip(requests[activity], left[t], strict=True)
        ):
            start += 1
        finish[activity] = start + durations[activity]
        for t in range(start, finish[activity]):
            left[t] = [there - request for there, request in zip(left[t], requests[activity], strict=True)]
    return float(max(finish.values()))
