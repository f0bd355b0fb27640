"""``dga2d solve``: one instance with a run's best algorithm or the domain's safe baseline."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dga2d.agents.evaluator_pool import SourceReader
from dga2d.agents.ports import EvaluationRequest
from dga2d.domains.contract import Domain, Implementation, Instance, InstanceRef, State
from dga2d.domains.gap import normalised_gap
from dga2d.domains.registry import get_domain
from dga2d.events import Dga2dError, RunId
from dga2d.replay.settings import RunSettings
from dga2d.replay.streams import spawn_key
from dga2d.runtime.errors import RunStateError
from dga2d.runtime.evaluator import open_evaluator
from dga2d.runtime.problem import Problem
from dga2d.runtime.supervisor import load_state
from dga2d.store import open_store


class SolveFailedError(Dga2dError):
    """The algorithm gave no valid solution."""


@dataclass(frozen=True)
class Solved:
    """A verified solution."""

    instance: Instance
    algorithm: str
    objective: float
    gap: float | None
    elapsed_s: float
    work: int
    solution_text: str


async def solve_instance(
    domain_name: str,
    instance_name: str,
    url: str,
    run_id: str | None,
    settings: RunSettings,
    seed: int,
    data_dir: Path | None,
) -> Solved:
    """Solve one instance, named by key, bare name or file.

    Raises
    ------
    DomainError, UsageError
        The domain, the instance or the run cannot be had.
    SolveFailedError
        The algorithm failed.
    """
    domain = get_domain(domain_name)
    instance = find_instance(domain, instance_name, data_dir)
    if run_id is None:
        steps = tuple(s.implementation for s in domain.safe_baseline())
        algorithm = "safe baseline"
    else:
        steps, algorithm = await best_of_run(url, run_id, domain_name)
    async with open_evaluator(domain_name, settings.model_copy(update={"evaluators": 1})) as evaluator:
        seeds = (seed, *spawn_key("test", 0, 0, 0))
        reply = await evaluator.evaluate(EvaluationRequest("solve", instance, steps, seeds))
    if reply.objective is None or reply.solution is None:
        raise SolveFailedError(f"{algorithm} failed on {instance.key}: {reply.failure}: {reply.diagnostic}")
    reference = instance.reference
    gap = None if reference is None else normalised_gap(reply.objective, reference.value, domain.sense)
    text = domain.write_solution(instance, state_of(reply.solution))
    return Solved(instance, algorithm, reply.objective, gap, reply.elapsed_s, reply.work, text)


def find_instance(domain: Domain, name: str, data_dir: Path | None) -> Instance:
    """An instance by file path, key (``ta/ta01``) or bare name (``ta01``)."""
    path = Path(name)
    if path.is_file():
        known = {} if data_dir is None else {ref.path: ref for ref in domain.published(data_dir)}
        ref = known.get(path) or InstanceRef(domain.name, "file", path.stem, path)
        return domain.load(ref)
    problem = Problem.open(domain.name, data_dir)
    return problem.instance(problem.ref(name).key)


async def best_of_run(url: str, run_id: str, domain: str) -> tuple[tuple[Implementation, ...], str]:
    """The best validated algorithm of a run, or its best on the training batch before any validation."""
    async with open_store(url, create=False, read_only=True) as store:
        state = await load_state(store, RunId(run_id))
        if state.started is None or state.header.domain != domain:
            raise RunStateError(f"run {run_id} is not a {domain} run")
        program = state.checkpoint or state.best
        if program is None:
            raise RunStateError(f"run {run_id} has not scored any algorithm yet")
        sources = SourceReader(store)
        steps = [await sources.implementation(state, step) for step in program.steps]
    names = " → ".join(step.operator for step in program.steps)
    return tuple(steps), f"run {run_id}, generation {program.generation}: {names}"


def state_of(solution: bytes) -> State:
    """The state that an evaluation's solution blob holds."""
    value: dict[str, Any] = json.loads(solution)
    metadata = {
        key: np.asarray(item) if isinstance(item, list) else item for key, item in value["metadata"].items()
    }
    return State(np.asarray(value["sequence"], dtype=np.int32), metadata)
