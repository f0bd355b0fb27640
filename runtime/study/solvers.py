"""The rows of learned solvers in a study's tables: the held-out instances of its runs, solved here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import anyio.to_thread

from dga2d.domains.core.contract import normalised_gap
from dga2d.events import InstanceKey, instance_and_copy
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.learned.names import DOMAINS, Weights
from dga2d.runtime.runs.sessions import reopen_problem
from dga2d.runtime.runs.solving import SolveFailedError, solve_by_network
from dga2d.runtime.runs.states import load_state
from dga2d.runtime.study.cells import CellProgress
from dga2d.runtime.study.plan import Cell, LearnedSolverPlan, StudyPlan
from dga2d.runtime.study.results import FAILED, CellResult, StudyResults, rows_of
from dga2d.runtime.terminal.output import Announce
from dga2d.store import open_store

if TYPE_CHECKING:
    from dga2d.runtime.learned.weights import LearnedSolver


class SolverResults(NamedTuple):
    """What a learned solver found, and how it was trained."""

    cells: tuple[CellResult, ...]
    """One for each seed of the plan."""
    training: str


async def add_solvers(
    url: str, results: StudyResults, data_dir: Path | None, announce: Announce
) -> StudyResults:
    """Return the figures of a study with rows for the learned solvers of its plan.

    Each solves the instances that the domain's runs were tested on, once for each seed of the plan.

    Raises
    ------
    UsageError
        Weights cannot be used, or an instance is of a kind that the solver cannot take.
    """
    plan, found = results.plan, dict[str, SolverResults]()
    async with open_store(url, create=False, read_only=True) as store:
        for name, wanted in plan.solvers.items():
            tested = next((r for r in results.results if r.cell.domain == DOMAINS[name]), None)
            if tested is not None:
                state = await load_state(store, plan.run_id(tested.cell))
                found[name] = await _solve(plan, name, wanted, state, tested, data_dir, announce)
    solved = [cell for one in found.values() for cell in one.cells]
    return StudyResults(
        plan=plan,
        cells=results.cells,
        results=results.results,
        rows=rows_of(plan, [*results.results, *solved]),
        trainings={name: one.training for name, one in found.items()},
    )


async def _solve(
    plan: StudyPlan,
    name: str,
    wanted: LearnedSolverPlan,
    state: RunState,
    tested: CellResult,
    data_dir: Path | None,
    announce: Announce,
) -> SolverResults:
    from dga2d.runtime.learned.weights import open_solver  # torch

    domain = DOMAINS[name]
    problem = reopen_problem(state, data_dir)
    solver = await open_solver(name, domain, Weights(wanted.weights, wanted.device))
    settings = state.settings.model_copy(update={"work": None, "time_limit": wanted.time_limit})
    cells = []
    for seed in plan.seeds:
        gaps: dict[InstanceKey, float] = {}
        objectives: dict[InstanceKey, float | None] = {}
        seconds = 0.0
        for key in sorted(tested.gaps):
            announce(f"{name} solves {key}, seed {seed}")
            entry = state.entry(key)
            instance = await anyio.to_thread.run_sync(problem.instance, instance_and_copy(key)[0])
            try:
                solved = await solve_by_network(problem.domain, instance, solver, settings, seed)
            except SolveFailedError:
                gaps[key], objectives[key] = FAILED, None
                continue
            seconds += solved.elapsed_s
            gap = normalised_gap(solved.objective, entry.reference, state.header.sense, entry.scale)
            gaps[key], objectives[key] = 100.0 * gap, solved.objective
        cell = Cell(domain, name, seed)
        progress = CellProgress(cell, "tested", seconds=seconds)
        cells.append(CellResult(cell, gaps, {}, None, objectives, tested.measure, progress, ()))
    return SolverResults(tuple(cells), _training(solver, wanted.weights))


def _training(solver: LearnedSolver, weights: Path) -> str:
    """Return how the weights came about, as the card beside them says."""
    from dga2d.runtime.learned.recording import card_path

    try:
        used = json.loads(card_path(weights).read_text(encoding="utf-8"))["used"]
        how = f"{used['steps']} steps, {used['instances']} instances, {used['cpu_seconds']:.0f} CPU seconds"
    except (OSError, ValueError, LookupError, TypeError):
        how = "no card beside the weights says how long"
    return f"{solver.title}; {how}"
