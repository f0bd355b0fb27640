"""The data of an assembly line: task times, cycle time and precedence relations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.instance_data import ReadOnlyArrays


@dataclass(frozen=True)
class LineData(ReadOnlyArrays):
    """One instance of SALBP-1; tasks are counted from 0.

    The arrays become read-only; relations are brought into lexicographic order.
    """

    cycle_time: int
    times: NDArray[np.int32]
    """int32 `(tasks,)`, each in 0..cycle_time."""
    edges: NDArray[np.int32]
    """int32 `(relations, 2)`: rows (predecessor, successor) of an acyclic graph, none twice."""

    def __post_init__(self) -> None:
        order = np.lexsort((self.edges[:, 1], self.edges[:, 0]))
        object.__setattr__(self, "edges", np.ascontiguousarray(self.edges[order]))
        super().__post_init__()


def tasks_on_cycles(n_tasks: int, edges: NDArray[np.int32]) -> list[int]:
    """Return the tasks that lie on or behind a cycle of the relations; empty when there is none."""
    followers: list[list[int]] = [[] for _ in range(n_tasks)]
    waiting = [0] * n_tasks
    for before, after in edges.tolist():
        followers[before].append(after)
        waiting[after] += 1
    ready = [task for task in range(n_tasks) if not waiting[task]]
    while ready:
        for after in followers[ready.pop()]:
            waiting[after] -= 1
            if not waiting[after]:
                ready.append(after)
    return [task for task in range(n_tasks) if waiting[task]]


def order_strength(n_tasks: int, edges: NDArray[np.int32]) -> float:
    """Return the share of the pairs of tasks that are related, directly or through others; 0 for a single
    task.
    """
    is_before = np.zeros((n_tasks, n_tasks), np.bool_)
    is_before[edges[:, 0], edges[:, 1]] = True
    for middle in range(n_tasks):
        is_before |= np.outer(is_before[:, middle], is_before[middle])
    pairs = n_tasks * (n_tasks - 1) // 2
    return float(is_before.sum()) / pairs if pairs else 0.0
