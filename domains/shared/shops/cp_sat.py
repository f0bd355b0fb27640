"""CP-SAT model of shop problems: a baseline of job, flow and open shop for side-by-side tables."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from dga2d.domains.shared.or_tools import solve_model


class ShopAnswer(NamedTuple):
    """The best schedule that CP-SAT found."""

    order: NDArray[np.int64]
    """Operations in the order in which they start, see `by_start`."""
    bound: int
    """No schedule is shorter."""


def shop_order(
    machines: NDArray[Any] | None,
    times: NDArray[Any],
    is_ordered: bool,
    time_limit_s: float,
    seed: int,
    workers: int,
) -> NDArray[np.int64] | None:
    """Return the best order of operations found, see `by_start`; ``None`` if none was found in time.

    The parameters are those of `optimise_shop`.
    """
    answer = optimise_shop(machines, times, is_ordered, time_limit_s, seed, workers)
    return None if answer is None else answer.order


def optimise_shop(
    machines: NDArray[Any] | None,
    times: NDArray[Any],
    is_ordered: bool,
    time_limit_s: float,
    seed: int,
    workers: int,
) -> ShopAnswer | None:
    """Return the best schedule found and what is known of it; ``None`` if none was found in time.

    In an open shop what comes after the makespan is an interval that overlaps nothing, so that a bound on the
    makespan is seen by whatever reasons on a machine or a job; in job shops that was seen to gain nothing.

    Parameters
    ----------
    machines, times
        Machine and time of each operation, `(jobs, operations)`; where `machines` is ``None``, an operation's
        column is its machine. No hints are given.
    is_ordered
        Whether a job's operations follow each other in the order of the columns (else they only may not
        overlap, as in an open shop).
    time_limit_s
        Wall-clock seconds.
    """
    model = cp_model.CpModel()
    horizon = int(times.sum())
    n_jobs, n_operations = times.shape
    if machines is None:
        machines = np.broadcast_to(np.arange(n_operations), times.shape)
    starts = [[model.new_int_var(0, horizon, "") for _ in range(n_operations)] for _ in range(n_jobs)]
    by_machine: list[list[Any]] = [[] for _ in range(int(machines.max()) + 1)]
    makespan = model.new_int_var(0, horizon, "makespan")
    rest = model.new_int_var(1, horizon + 1, "")
    behind = [] if is_ordered else [model.new_interval_var(makespan, rest, horizon + 1, "behind")]
    for job in range(n_jobs):
        intervals = []
        for k in range(n_operations):
            length = int(times[job, k])
            interval = model.new_fixed_size_interval_var(starts[job][k], length, "")
            intervals.append(interval)
            by_machine[int(machines[job, k])].append(interval)
            if is_ordered:
                model.add(makespan >= starts[job][k] + length)
            if is_ordered and k:
                model.add(starts[job][k] >= starts[job][k - 1] + int(times[job, k - 1]))
        if not is_ordered:
            model.add_no_overlap([*intervals, *behind])
    for intervals in by_machine:
        model.add_no_overlap([*intervals, *behind])
    model.minimize(makespan)
    solved = solve_model(model, time_limit_s, seed, workers)
    if solved is None:
        return None
    begun = [[solved.solver.value(start) for start in row] for row in starts]
    order = by_start(np.array(begun, dtype=np.int64), times)
    return ShopAnswer(order, round(solved.solver.best_objective_bound))


def by_start(starts: NDArray[np.int64], times: NDArray[Any]) -> NDArray[np.int64]:
    """Return the flat indices (row by row) of all operations in the order in which they start.

    Operations that take no time stand before others that start at the same moment, and a job's own
    operations keep their order.
    """
    n_operations = starts.shape[1]
    columns = np.tile(np.arange(n_operations), len(starts))
    return np.lexsort((columns, starts.ravel() + times.ravel(), starts.ravel()))
