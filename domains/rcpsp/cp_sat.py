"""A baseline for side-by-side tables: the CP-SAT solver of OR-Tools (an optional dependency).

References
----------
L. Perron, F. Didier, S. Gay, The CP-SAT-LP solver, Principles and Practice of Constraint Programming 2023.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.rcpsp.project import topological_order
from dga2d.domains.shared.or_tools import solve_model

if TYPE_CHECKING:
    from collections.abc import Mapping


class SolvedProject(NamedTuple):
    """Outcome of a run of the solver."""

    starts: np.ndarray[Any, np.dtype[np.int64]]
    """Start times, int64 `(N,)`."""
    makespan: int
    bound: int
    """No schedule is shorter; equal to `makespan` when it is proven optimal."""


def solve(instance: Instance, time_limit_s: float, seed: int, workers: int = 1) -> State | None:
    """Return the best list found in `time_limit_s` seconds without hints; ``None`` if no schedule was
    found.
    """
    solved = solve_project(instance.data, time_limit_s, seed, workers)
    if solved is None:
        return None
    durations, edges = instance.data["durations"], instance.data["edges"]
    rank = np.empty(durations.size, np.int64)
    rank[topological_order(durations.size, edges.tolist())] = np.arange(durations.size)
    return State(np.lexsort((rank, solved.starts)).astype(np.int32))


def solve_project(
    data: Mapping[str, Any], time_limit_s: float, seed: int, workers: int = 1
) -> SolvedProject | None:
    """Start times for the arrays of a project: intervals, cumulative resources, precedence constraints."""
    from ortools.sat.python import cp_model

    durations = data["durations"].tolist()
    horizon = sum(durations)
    model = cp_model.CpModel()
    starts = [model.new_int_var(0, horizon - d, "") for d in durations]
    intervals = [model.new_fixed_size_interval_var(s, d, "") for s, d in zip(starts, durations, strict=True)]
    for u, v in data["edges"].tolist():
        model.add(starts[v] >= starts[u] + durations[u])
    for requests, capacity in zip(data["requests"].T.tolist(), data["capacities"].tolist(), strict=True):
        users = [i for i, request in enumerate(requests) if request and durations[i]]
        if users:
            model.add_cumulative([intervals[i] for i in users], [requests[i] for i in users], capacity)
    model.minimize(starts[-1])
    solved = solve_model(model, time_limit_s, seed, workers)
    if solved is None:
        return None
    times = np.array([solved.solver.value(s) for s in starts], np.int64)
    return SolvedProject(times, int(times[-1]), round(solved.solver.best_objective_bound))
