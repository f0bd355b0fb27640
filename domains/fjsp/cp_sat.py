"""OR-Tools CP-SAT on the flexible job shop: a baseline beside the operators, not one of them.

Model: an optional interval per operation and eligible machine, exactly one of them present, no overlap on a
machine, precedence within jobs; no hints.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from ortools.sat.python import cp_model

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.fjsp.card import MACHINE_ALLOCATION
from dga2d.domains.fjsp.reader import FlexibleShopData
from dga2d.domains.fjsp.verifier import Choices, choices_of
from dga2d.domains.shared.or_tools import solve_model


class BoundedSchedule(NamedTuple):
    """What the solver found."""

    state: State
    bound: float
    """No schedule is shorter."""
    is_proven: bool
    """Whether the schedule is optimal."""


def solve(instance: Instance, time_limit_s: float, seed: int, workers: int = 1) -> State | None:
    """Return the best schedule within `time_limit_s` seconds; ``None`` if there was none in time.

    `workers` is the number of the solver's threads; with one, a run that is not cut short is repeatable.
    """
    answer = optimise(instance.data["shop"], time_limit_s, seed, workers)
    return None if answer is None else answer.state


def optimise(
    shop: FlexibleShopData, time_limit_s: float, seed: int, workers: int = 1
) -> BoundedSchedule | None:
    """As :func:`solve`, with the lower bound."""
    choices = choices_of(shop)
    horizon = sum(max(times.values()) for job in choices for times in job)
    model = cp_model.CpModel()
    starts: list[list[Any]] = []
    presences: list[list[dict[int, Any]]] = []
    intervals: dict[int, list[Any]] = {machine: [] for machine in range(shop.n_machines)}
    makespan = model.new_int_var(0, horizon, "makespan")
    for job in choices:
        end: Any = 0
        starts.append([])
        presences.append([])
        for times in job:
            start = model.new_int_var(0, horizon, "")
            model.add(start >= end)
            end = model.new_int_var(0, horizon, "")
            presence = {}
            for machine, time in sorted(times.items()):
                literal = model.new_bool_var("")
                intervals[machine].append(model.new_optional_interval_var(start, time, end, literal, ""))
                presence[machine] = literal
            model.add_exactly_one(presence.values())
            starts[-1].append(start)
            presences[-1].append(presence)
        model.add(makespan >= end)
    for members in intervals.values():
        model.add_no_overlap(members)
    model.minimize(makespan)
    solved = solve_model(model, time_limit_s, seed, workers)
    if solved is None:
        return None
    state = _state(choices, solved.solver, starts, presences)
    return BoundedSchedule(state, solved.solver.best_objective_bound, solved.is_proven)


def _state(
    choices: Choices,
    solver: cp_model.CpSolver,
    starts: list[list[Any]],
    presences: list[list[dict[int, Any]]],
) -> State:
    """Return the sequence by start times; operations of no length go before longer ones that start with
    them.
    """
    allocation = np.full((len(choices), max(map(len, choices))), -1, np.int32)
    entries = []
    for job, operations in enumerate(choices):
        for k, times in enumerate(operations):
            machine = next(m for m, literal in presences[job][k].items() if solver.boolean_value(literal))
            allocation[job, k] = machine
            begin = solver.value(starts[job][k])
            entries.append((begin, begin + times[machine], k, job))
    sequence = np.array([job for *_, job in sorted(entries)], dtype=np.int32)
    return State(sequence, {MACHINE_ALLOCATION: allocation})
