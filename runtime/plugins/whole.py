"""Claims about the whole: baselines solve, a solver file can be made, a run evolves and can be replayed."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from dga2d.agents.ports import EvaluationRequest
from dga2d.domains.core.contract import Domain, Instance, PipelineStep, normalised_gap
from dga2d.domains.core.errors import InvalidSolutionError
from dga2d.replay.settings import RunSettings
from dga2d.runtime.evaluation import EvaluatorPool
from dga2d.runtime.inspection.runs import replay_run
from dga2d.runtime.inspection.views import gap_of
from dga2d.runtime.plugins.descriptions import implementations
from dga2d.runtime.plugins.findings import UnsoundError, require
from dga2d.runtime.runs.config import make_settings
from dga2d.runtime.runs.problem import Problem
from dga2d.runtime.runs.sessions import evolve
from dga2d.runtime.runs.solving import state_of
from dga2d.runtime.solver_export import Provenance, solver_source
from dga2d.runtime.terminal.progress import silent

WORK = 1000
GENERATIONS = 2
SEED = 1


async def baselines_solve(pool: EvaluatorPool, domain: Domain, instances: tuple[Instance, ...]) -> str:
    """Each baseline solves the small instances; its solutions can be written, broken ones cannot."""
    means = []
    named = {
        "safe": domain.safe_baseline(),
        "basic": domain.basic_baseline(),
        "iterated": domain.ils_baseline(),
    }
    for name, steps in named.items():
        gaps = [await _gap(pool, domain, instance, steps, name) for instance in instances]
        means.append(f"{name} {100 * sum(gaps) / len(gaps):.2f} %")
    return "mean gaps: " + ", ".join(means)


async def _gap(
    pool: EvaluatorPool, domain: Domain, instance: Instance, steps: tuple[PipelineStep, ...], name: str
) -> float:
    sources = tuple(step.implementation for step in steps)
    key = f"{name} baseline on {instance.key}"
    result = await pool.evaluate(EvaluationRequest(key, instance, sources, (SEED,), WORK))
    if result.objective is None or result.solution is None:
        raise UnsoundError(f"{key}: {result.failure}: {result.diagnostic}")
    state = state_of(result.solution)
    require(domain.write_solution(instance, state).strip(), f"{key}: the solution file is empty")
    state.sequence = state.sequence[:0]
    try:
        domain.write_solution(instance, state)
    except InvalidSolutionError:
        reference = instance.reference
        return 0.0 if reference is None else normalised_gap(result.objective, reference.value, domain.sense)
    raise UnsoundError("write_solution() writes an empty sequence; it must raise InvalidSolutionError")


def solver_file(problem: Problem) -> str:
    """Every operator can be taken away in a file that does not need the program."""
    domain = problem.domain
    now = datetime(2000, 1, 1, tzinfo=UTC)
    provenance = Provenance(domain.name, domain.card.title, "check", None, None, (), now)
    text = solver_source(tuple(implementations(domain)), provenance)
    return f"{len(text.splitlines())} lines"


def check_settings(n_training: int, evaluators: int | None) -> RunSettings:
    """Settings of a run of seconds."""
    return make_settings(
        {},
        {
            "generations": GENERATIONS,
            "pipelines": 3,
            "batch_size": min(3, n_training),
            "policy": "uniform",
            "validation_interval": GENERATIONS,
            "validation_instances": 2,
            "work": WORK,
            "llm_calls": 12,
            "evaluators": evaluators,
        },
    )


async def evolves(problem: Problem, folder: Path, data_dir: Path | None, evaluators: int | None) -> str:
    """A run of two generations with the offline proposer ends well, and its replay decides the same."""
    url = f"sqlite+aiosqlite:///{folder / 'check.db'}"
    settings = check_settings(len(problem.splits.train), evaluators)
    finished = await evolve(url, problem.domain.name, settings, SEED, data_dir, silent)
    state = finished.state
    require(
        state.completed == GENERATIONS, f"the run ended after generation {state.completed}: {state.reason}"
    )
    gap = None if state.best is None else gap_of(state.best.score, settings.failure_reward)
    if gap is None:
        raise UnsoundError("no candidate solved all instances of its batch")
    report = await replay_run(url, finished.run_id, verify=True)
    require(report["difference"] is None, f"the replay differs: {report['difference']}")
    return f"best gap {gap:.2f} %, {report['events']} events, {report['decisions']} decisions made again"
