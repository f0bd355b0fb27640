"""Solving one instance with a run's best algorithm or a baseline of its domain."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from anyio import to_thread

from dga2d.agents.ports import EvaluationRequest
from dga2d.domains.core.contract import Domain, Implementation, Instance, InstanceRef, State, normalised_gap
from dga2d.domains.core.optional_parts import draw_picture, run_cp_sat
from dga2d.domains.core.registry import get_domain
from dga2d.events import Dga2dError, RunId
from dga2d.events.payloads import shares_of
from dga2d.replay.settings import RunSettings
from dga2d.replay.streams import spawn_key
from dga2d.runtime.errors import RunStateError, UsageError, require_package
from dga2d.runtime.evaluation.launch import Zygote
from dga2d.runtime.evaluator import open_evaluator
from dga2d.runtime.learned.names import DOMAINS, Weights
from dga2d.runtime.runs.problem import Problem
from dga2d.runtime.terminal.output import Announce

if TYPE_CHECKING:
    from dga2d.runtime.learned.weights import LearnedSolver

Method = Literal["safe", "basic", "ils", "cp-sat", "pomo", "resched", "sdds", "bpp-drl"]
"""The baselines: what a user gets without evolution, its counterpart from the basic library, an iterated
local search, OR-Tools, and the learned solvers."""


class SolveFailedError(Dga2dError):
    """The algorithm gave no valid solution."""


class Algorithm(NamedTuple):
    """A pipeline that can be run."""

    steps: tuple[Implementation, ...]
    name: str
    shares: tuple[float, ...] = ()
    """As in `EvaluationRequest`."""


@dataclass(frozen=True)
class Solved:
    """A verified solution."""

    instance: Instance
    algorithm: str
    state: State
    objective: float
    gap: float | None
    elapsed_s: float
    work: int
    solution_text: str
    fallback: str | None = None
    """Why the solution is the safe initialiser's alone; ``None`` if it is the algorithm's."""


async def solve_instance(
    domain_name: str,
    instance_name: str,
    url: str,
    run_id: str | None,
    method: Method,
    settings: RunSettings,
    seed: int,
    data_dir: Path | None,
    announce: Announce = lambda text: None,
    warn: Announce = lambda text: None,
    launched: Zygote | None = None,
    learned: Weights | None = None,
) -> Solved:
    """Solve one instance, named by key, bare name or file, by the best of run `run_id` or else by `method`.

    Where the algorithm fails, the solution is that of the domain's safe initialiser alone. `announce` gets a
    line for each step that takes time before the budget begins, `warn` what the user should know for good;
    `launched` is an evaluation worker that was launched ahead; `learned` is read by learned solvers.

    Raises
    ------
    DomainError, UsageError
        There is no such domain, instance or run, or it cannot be used.
    SolveFailedError
        The algorithm failed, and the initialiser, too.
    """
    domain = get_domain(domain_name)
    if run_id is None and method in DOMAINS:
        solver = await open_learned(domain_name, method, settings, learned or Weights())
        instance = find_instance(domain, instance_name, data_dir, settings.suite)
        return await solve_by_network(domain, instance, solver, settings, seed)
    announce("reading the instance")
    instance = find_instance(domain, instance_name, data_dir, settings.suite)
    if run_id is not None:
        algorithm = await best_of_run(url, run_id, domain_name)
    elif method == "cp-sat":
        return await solve_by_or_tools(domain, instance, settings, seed)
    else:
        algorithm = baseline_steps(domain, method)
    announce("starting the sandbox")
    settings = settings.model_copy(update={"evaluators": 1})
    fallback = None
    async with open_evaluator(domain_name, settings, launched) as evaluator:
        if n_uncompiled := await evaluator.count_uncompiled(algorithm.steps):
            warn(
                f"compiling {n_uncompiled} of {len(algorithm.steps)} operators, as this is their first time "
                "here; the limit does not count that. `dga2d doctor --warm` compiles for all problems at once"
            )
        budget, unit = settings.budget
        announce(f"solving ({budget:g} {_UNITS[unit]})")
        seeds = (seed, *spawn_key("test", 0, 0, 0))
        request = EvaluationRequest("solve", instance, algorithm.steps, seeds, shares=algorithm.shares)
        reply = await evaluator.evaluate(request)
        if reply.solution is None:
            fallback = f"{reply.failure}: {reply.diagnostic}"
            warn(f"{algorithm.name} failed ({fallback}); solving with the safe initialiser alone")
            first = (domain.safe_baseline()[0].implementation,)
            reply = await evaluator.evaluate(EvaluationRequest("fallback", instance, first, seeds))
    if reply.objective is None or reply.solution is None:
        raise SolveFailedError(f"{algorithm.name} failed on {instance.key}: {fallback}")
    state = decode_solution(reply.solution)
    solved = _solution_of(
        domain, instance, algorithm.name, state, reply.objective, reply.elapsed_s, reply.work
    )
    return replace(solved, fallback=fallback)


async def warm(domain_name: str) -> tuple[int, str | None]:
    """Compile the baselines of a domain, and its decoder, where that was not done before.

    Return how many operators were compiled and what failed of them, ``None`` if nothing did.
    """
    domain = get_domain(domain_name)
    async with open_evaluator(domain_name, RunSettings(evaluators=2)) as evaluator:
        steps = {step.id: step for method in _PIPELINES for step in baseline_steps(domain, method).steps}
        n_uncompiled = await evaluator.count_uncompiled(tuple(steps.values()))
        failure = await evaluator.prepare(tuple(steps.values()))
    return n_uncompiled, None if failure is None else failure.diagnostic


_PIPELINES: tuple[Method, ...] = ("safe", "basic", "ils")
_UNITS = {"s": "seconds", "work": "work units"}


def _solution_of(
    domain: Domain,
    instance: Instance,
    algorithm: str,
    state: State,
    objective: float,
    elapsed_s: float,
    work: int,
) -> Solved:
    reference = instance.reference
    gap = None if reference is None else normalised_gap(objective, reference.value, domain.sense)
    text = domain.write_solution(instance, state)
    return Solved(instance, algorithm, state, objective, gap, elapsed_s, work, text)


def baseline_steps(domain: Domain, method: Method) -> Algorithm:
    """Return a baseline that is a pipeline (not ``cp-sat``)."""
    baselines = {"safe": domain.safe_baseline, "basic": domain.basic_baseline, "ils": domain.ils_baseline}
    steps = baselines[method]()
    names = " → ".join(step.operator for step in steps)
    return Algorithm(tuple(step.implementation for step in steps), f"{method} baseline: {names}")


async def solve_by_or_tools(domain: Domain, instance: Instance, settings: RunSettings, seed: int) -> Solved:
    """Solve with OR-Tools, outside the sandbox, within wall-clock seconds.

    Raises
    ------
    UsageError
        OR-Tools is not installed, or the budget is in work units.
    SolveFailedError
        It found no solution.
    """
    require_package("ortools", "baselines", "--method cp-sat")
    if settings.work is not None:
        raise UsageError("--work: OR-Tools knows no work units; give --time-limit")
    workers = settings.evaluators if isinstance(settings.evaluators, int) else 1
    start = time.perf_counter()
    state = await to_thread.run_sync(
        partial(run_cp_sat, domain, instance, settings.time_limit, seed, workers)
    )
    elapsed_s = time.perf_counter() - start
    if state is None:
        raise SolveFailedError(f"OR-Tools found no solution of {instance.key} in {settings.time_limit:g} s")
    verdict = domain.verify(instance, state)
    if verdict.objective is None:
        raise SolveFailedError(f"OR-Tools failed on {instance.key}: {verdict.violation}")
    return _solution_of(domain, instance, "OR-Tools", state, verdict.objective, elapsed_s, 0)


async def open_learned(domain: str, method: Method, settings: RunSettings, learned: Weights) -> LearnedSolver:
    """Load a learned solver.

    Raises
    ------
    UsageError
        It cannot be loaded (see `open_solver`), or the budget is in work units.
    """
    from dga2d.runtime.learned.weights import open_solver  # torch

    if settings.work is not None:
        raise UsageError("--work: a learned solver knows no work units; give --time-limit")
    return await open_solver(method, domain, learned)


async def solve_by_network(
    domain: Domain, instance: Instance, solver: LearnedSolver, settings: RunSettings, seed: int
) -> Solved:
    """Solve with a learned solver, outside the sandbox; the seconds are those of its inference.

    Raises
    ------
    UsageError
        The method cannot take the instance.
    SolveFailedError
        The verifier refuses what it found.
    """
    state, elapsed_s = await to_thread.run_sync(partial(solver.solve, instance, settings.time_limit, seed))
    verdict = domain.verify(instance, state)
    if verdict.objective is None:
        raise SolveFailedError(f"{solver.method.name} failed on {instance.key}: {verdict.violation}")
    return _solution_of(domain, instance, solver.title, state, verdict.objective, elapsed_s, 0)


def check_picture(path: Path) -> None:
    """Refuse a picture that could not be drawn, before anything is solved.

    Raises
    ------
    UsageError
        It is no SVG, and matplotlib is not installed or does not know the format that the ending names.
    """
    if path.suffix == ".svg":
        return
    require_package("matplotlib", "figures", "--picture")
    from matplotlib.backend_bases import FigureCanvasBase  # slow to import, and optional

    known = sorted(FigureCanvasBase.get_supported_filetypes())
    if path.suffix.removeprefix(".") not in known:
        raise UsageError(f"--picture {path}: expected a name that ends in one of {', '.join(known)}")


def draw(domain: Domain, solved: Solved, path: Path) -> None:
    """Write a picture of the solution; its ending (``.svg``, ``.png``, ``.pdf``) names the format.

    Raises
    ------
    DomainError
        The domain has no picture, or its code fails.
    UsageError
        matplotlib draws it, and is not installed.
    """
    from dga2d.runtime.report.solution_pictures import save_picture

    try:
        picture = draw_picture(domain, solved.instance, solved.state)
    except ModuleNotFoundError:
        require_package("matplotlib", "figures", "--picture")
        raise
    save_picture(picture, path, path.suffix.removeprefix("."))


def find_instance(domain: Domain, name: str, data_dir: Path | None, suite: str = "any") -> Instance:
    """Return an instance by file path, key (``ta/ta01``) or bare name (``ta01``); with the `suite` ``paper``
    one of the paper's by key or name."""
    if suite == "paper":
        published = Problem.open(domain.name, data_dir, suite=suite)
        return published.instance(published.ref(name).key)
    path = Path(name)
    if path.is_file():
        known = {} if data_dir is None else {ref.path: ref for ref in domain.published(data_dir)}
        ref = known.get(path) or InstanceRef(domain.name, "file", path.stem, path)
        return domain.load(ref)
    for ref in getattr(domain, "regenerated", tuple)():
        if ref.key == name:
            return domain.load(ref)
    problem = Problem.open(domain.name, data_dir)
    return problem.instance(problem.ref(name).key)


async def best_of_run(url: str, run_id: str, domain: str) -> Algorithm:
    """Return the best validated algorithm of a run, or its best in training where nothing was validated."""
    from dga2d.agents.evaluator_pool import SourceReader  # slow to import, as all that reads a log
    from dga2d.runtime.inspection.views import steps_text
    from dga2d.runtime.runs.states import load_state
    from dga2d.store import open_store

    async with open_store(url, create=False, read_only=True) as store:
        state = await load_state(store, RunId(run_id))
        if state.started is None or state.header.domain != domain:
            raise RunStateError(f"run {run_id} is not a {domain} run")
        program = state.checkpoint or state.best
        if program is None:
            raise RunStateError(f"run {run_id} has not scored any algorithm yet")
        sources = SourceReader(store)
        steps = [await sources.implementation(state, step) for step in program.steps]
    name = f"run {run_id}, generation {program.generation}: {steps_text(program.steps)}"
    return Algorithm(tuple(steps), name, shares_of(program.steps))


def decode_solution(solution: bytes) -> State:
    """Return the state in the solution blob of an evaluation."""
    value: dict[str, Any] = json.loads(solution)
    metadata = {
        key: np.asarray(item) if isinstance(item, list) else item for key, item in value["metadata"].items()
    }
    return State(np.asarray(value["sequence"], dtype=np.int32), metadata)
