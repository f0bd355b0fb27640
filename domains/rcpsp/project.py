"""A project: durations, requests, capacities and precedence edges that fit together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.instance_data import ReadOnlyArrays, fields_of

MAX_TOTAL_DURATION = 1_000_000
"""Decoders keep the use of resources period by period, so the sum of the durations has a limit."""


class ProjectError(ValueError):
    """The numbers of a project contradict each other; `activity` (from 0) where one is at fault."""

    def __init__(self, reason: str, activity: int | None = None) -> None:
        self.reason = reason
        self.activity = activity
        super().__init__(reason)


@dataclass(frozen=True)
class Project(ReadOnlyArrays):
    """Activities 0..N − 1 and renewable resources 0..R − 1; all arrays are read-only.

    Raises
    ------
    ProjectError
        The first and the last activity are not dummies that come before and after all others, the edges
        hold a cycle, a request exceeds its capacity, or the durations add up to more than
        `MAX_TOTAL_DURATION`.
    """

    durations: NDArray[np.int32]
    """int32 `(N,)`, ≥ 0."""
    requests: NDArray[np.int32]
    """int32 `(N, R)`, units of each resource, ≥ 0."""
    capacities: NDArray[np.int32]
    """int32 `(R,)`, units per period, ≥ 0."""
    edges: NDArray[np.int32]
    """int32 `(E, 2)`: pairs (u, v), sorted, no pair twice; v starts when u has finished."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_amounts()
        self._check_network()

    def data(self) -> dict[str, NDArray[np.int32]]:
        """Return the arrays by name, as instances hold them."""
        return fields_of(self)

    def _check_amounts(self) -> None:
        last = self.durations.size - 1
        if last < 1 or self.capacities.size < 1:
            raise ProjectError("expected two activities and one resource at least")
        for dummy in (0, last):
            if self.durations[dummy] or self.requests[dummy].any():
                raise ProjectError("the first and the last activity must take no time and no resource", dummy)
        if self.durations.min() < 0 or self.requests.min() < 0 or self.capacities.min() < 0:
            raise ProjectError("durations, requests and capacities cannot be negative")
        greedy = np.flatnonzero((self.requests > self.capacities).any(axis=1))
        if greedy.size:
            raise ProjectError("an activity requests more of a resource than there is", int(greedy[0]))
        if self.durations.sum(dtype=np.int64) > MAX_TOTAL_DURATION:
            raise ProjectError(f"durations add up to more than {MAX_TOTAL_DURATION}")

    def _check_network(self) -> None:
        n = self.durations.size
        order = topological_order(n, self.edges.tolist())
        if len(order) < n:
            at_fault = min(set(range(n)) - set(order))
            raise ProjectError("the precedence relations hold a cycle", at_fault)
        has_predecessor, has_successor = np.zeros(n, bool), np.zeros(n, bool)
        has_predecessor[self.edges[:, 1]] = True
        has_successor[self.edges[:, 0]] = True
        if (loose := np.flatnonzero(~has_predecessor[1:])).size:
            raise ProjectError("an activity other than the first has no predecessor", int(loose[0]) + 1)
        if (loose := np.flatnonzero(~has_successor[:-1])).size:
            raise ProjectError("an activity other than the last has no successor", int(loose[0]))


def topological_order(n: int, edges: Iterable[tuple[int, int]]) -> list[int]:
    """Return the activities 0..n − 1 with predecessors first; those on or behind a cycle are left out."""
    successors: list[list[int]] = [[] for _ in range(n)]
    waits_for = [0] * n
    for u, v in edges:
        successors[u].append(v)
        waits_for[v] += 1
    order = [activity for activity in range(n) if not waits_for[activity]]
    for activity in order:
        for after in successors[activity]:
            waits_for[after] -= 1
            if not waits_for[after]:
                order.append(after)
    return order


def critical_path_length(durations: NDArray[np.int32], edges: NDArray[np.int32]) -> int:
    """Return the longest path through the network, durations as lengths: no schedule is shorter."""
    n = durations.size
    finish = durations.astype(np.int64)
    position = np.empty(n, np.int64)
    position[topological_order(n, edges.tolist())] = np.arange(n)
    for u, v in edges[np.argsort(position[edges[:, 0]], kind="stable")].tolist():
        finish[v] = max(finish[v], finish[u] + durations[v])
    return int(finish.max())
