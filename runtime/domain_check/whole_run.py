"""Claims about the whole: a solver file can be made, a run evolves and can be replayed."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from dga2d.domains.claims import Examination
from dga2d.domains.core.contract import settings_of
from dga2d.domains.core.registry import get_domain
from dga2d.replay.settings import RunSettings
from dga2d.runtime.inspection.measures import measure_of
from dga2d.runtime.inspection.runs import replay_run
from dga2d.runtime.inspection.views import gap_of
from dga2d.runtime.runs.problem import Problem, settings_for
from dga2d.runtime.runs.sessions import evolve
from dga2d.runtime.solver_export import Provenance, solver_source
from dga2d.runtime.terminal.progress import silent

WORK = 1000
GENERATIONS = 2
SEED = 1


async def solver_file(problem: Problem) -> Examination:
    """Put every operator into a file that does not need the program."""
    domain = problem.domain
    now = datetime(2000, 1, 1, tzinfo=UTC)
    provenance = Provenance(domain.name, domain.card.title, "check", None, None, (), now)
    texts = tuple(i for operator in domain.operators() for i in operator.implementations)
    text = solver_source(texts, provenance)
    return Examination(f"{len(text.splitlines())} lines", ())


def check_settings(domain: str, n_training: int, evaluators: int | str | None) -> RunSettings:
    """Return the settings of a run of seconds."""
    return settings_for(
        domain,
        {},
        {
            "preset": "none",
            "generations": GENERATIONS,
            "pipelines": 3,
            "batch_size": min(3, n_training),
            "policy": "uniform",
            "validation_interval": GENERATIONS,
            "validation_instances": 2,
            "work": settings_of(get_domain(domain)).get("work", WORK),
            "llm_calls": 12,
            "race_contenders": 0,
            "evaluators": evaluators,
        },
    )


async def evolve_and_replay(
    problem: Problem, folder: Path, data_dir: Path | None, evaluators: int | str | None
) -> Examination:
    """Evolve for two generations with the offline proposer and replay the log: it must decide the same."""
    url = f"sqlite+aiosqlite:///{folder / 'check.db'}"
    settings = check_settings(problem.domain.name, len(problem.splits.train), evaluators)
    finished = await evolve(url, problem.domain.name, settings, SEED, data_dir, silent)
    state = finished.state
    faults = list[str]()
    if state.completed != GENERATIONS:
        faults.append(f"the run ended after generation {state.completed}: {state.reason}")
    gap = None if state.best is None else gap_of(state.best.score, settings.failure_reward)
    if gap is None:
        faults.append("no candidate solved all instances of its batch")
    report = await replay_run(url, finished.run_id, verify=True)
    if report["difference"] is not None:
        faults.append(f"the replay differs: {report['difference']}")
    measure = measure_of(state.header)
    best = f"no {measure.word}" if gap is None else f"best {measure.word} {measure.text(gap)}"
    return Examination(
        f"{best}, {report['events']} events, {report['decisions']} decisions repeated", tuple(faults)
    )
