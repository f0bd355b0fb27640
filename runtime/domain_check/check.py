"""Checks a domain claim by claim: what it says, what it does, then a run of two generations.

The claims are those of :mod:`dga2d.domains.claims`. Operators run in the sandbox of a real run; what may take
its process with it, as compiled code that misses a bound does, is tried in another process.
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Awaitable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np

from dga2d.domains import claims
from dga2d.domains.claims import Examination, Trial, examine
from dga2d.domains.core.contract import Domain, Instance, State, settings_of
from dga2d.domains.core.errors import describe_error
from dga2d.domains.core.registry import get_domain, loaded_plugin
from dga2d.domains.own.claims import functions_claim, own_picture_claim, own_writing_claim
from dga2d.domains.own.domain import OwnDomain
from dga2d.replay.settings import RunSettings
from dga2d.runtime.domain_check.trials import (
    examine_elsewhere,
    misconduct,
    solve_with_baselines,
    try_operators,
)
from dga2d.runtime.evaluation.pool import EvaluatorPool
from dga2d.runtime.evaluator import evaluation_limits, local_workers
from dga2d.runtime.inspection.measures import measure_of
from dga2d.runtime.inspection.runs import replay_run
from dga2d.runtime.inspection.views import gap_of
from dga2d.runtime.runs.problem import Problem, settings_for
from dga2d.runtime.runs.sessions import evolve
from dga2d.runtime.solver_export import Provenance, solver_source
from dga2d.runtime.terminal.progress import silent
from dga2d.runtime.user_files import cache_dir

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


N_INSTANCES = 2
"""Training instances, besides the smoke instance, that operators are tried on: those with the least data."""
INSTANCES = "instances can be had, twice alike"
FUNCTIONS = "score and check repeat themselves and touch nothing"
SPLITS = "no split is empty"
LEFTOVERS = "nothing of the skeleton's problem is left"
SCORING = "decoder and verifier agree"
CONDUCT = "operators stop in time and leave their input alone"
BASELINES = "baselines solve their instances"
MEASURED = "the verifier takes what was measured, and nothing else"
WRITING = "solutions can be written"
PICTURE = "a picture can be drawn"
CP_SAT = "OR-Tools gives solutions"
SOLVER_FUNCTIONS = "the functions of a solver file say what the domain says"
SOLVER_FILE = "the domain fits into a solver file"
RUN = "a run evolves and can be replayed"
NOT_TRIED = "not tried: library, baselines and instances come first"
UNSOLVED = "not tried: no operator solved an instance"

NEEDED = frozenset({claims.LIBRARY_TITLE, claims.BASELINES_TITLE, INSTANCES, SPLITS})
"""Claims without which nothing can be run."""


@dataclass(frozen=True)
class Finding:
    """One claim and whether it holds."""

    claim: str
    holds: bool | None
    """``None`` where it could not be tried, because what it needs is missing."""
    detail: str
    """What was tried, why it was not tried, or the first contradiction."""
    contradictions: tuple[str, ...] = ()
    """Everything that contradicts the claim, a sentence each."""

    @classmethod
    def of(cls, claim: str, seen: Examination) -> Finding:
        """Return the finding of a claim that was tried."""
        if seen.contradictions:
            return cls(claim, False, seen.contradictions[0], seen.contradictions)
        return cls(claim, True, seen.tried)


async def check_domain(name: str, data_dir: Path | None, settings: RunSettings) -> AsyncIterator[Finding]:
    """Try every claim; one finding each, in a fixed order.

    All claims are tried, whatever others have shown; but without operators, baselines and instances nothing
    can be run. Of `settings` only the limits of evaluations, the sandbox and the number of processes count.

    Raises
    ------
    DomainError, UsageError
        There is no such domain, or it cannot be loaded at all.
    """
    problem = Problem.open(name, data_dir)
    lacking = set[str]()
    for finding in check_descriptions(problem):
        if finding.holds is False:
            lacking.add(finding.claim)
        yield finding
    if lacking & NEEDED:
        for title in (
            *(claim.title for claim in claims.OPERATOR_CLAIMS),
            *(SCORING, CONDUCT, BASELINES, WRITING, PICTURE, CP_SAT, SOLVER_FUNCTIONS, SOLVER_FILE, RUN),
        ):
            yield Finding(title, None, NOT_TRIED)
        return
    check = _check_own if isinstance(problem.domain, OwnDomain) else _check_work
    async for finding in check(problem, settings):
        yield finding
    with tempfile.TemporaryDirectory(prefix="dga2d-check-") as folder:
        run = evolve_and_replay(problem, Path(folder), data_dir, settings.evaluators)
        yield Finding.of(RUN, await _await_examination(run))


def check_descriptions(problem: Problem) -> Iterator[Finding]:
    """Try the claims for which nothing is run."""
    domain = problem.domain
    refs = [ref for part in problem.splits for ref in part]
    for claim in claims.DESCRIPTION_CLAIMS:
        yield Finding.of(claim.title, examine(claim.check, domain))
    yield Finding.of(INSTANCES, examine(claims.instances_claim, domain, refs))
    yield Finding.of(SPLITS, examine(claims.splits_claim, refs))
    with tempfile.TemporaryDirectory(prefix="dga2d-check-") as folder:
        empty = examine(claims.published_claim, domain, Path(folder))
    yield Finding.of("no data means no published instances", empty)
    plugin = loaded_plugin(domain.name)
    if plugin is not None and plugin.files.is_dir():
        yield Finding.of(LEFTOVERS, examine(claims.leftovers_claim, domain, plugin.files))


async def _check_own(problem: Problem, settings: RunSettings) -> AsyncIterator[Finding]:
    """Try the claims about the functions of a problem in one file, and about operators and a picture of its
    own; the other operators are the program's.
    """
    domain = problem.domain
    assert isinstance(domain, OwnDomain)
    refs = [ref for part in problem.splits for ref in part]
    yield Finding.of(FUNCTIONS, examine(functions_claim, domain, refs))
    instances = small_instances(problem, N_INSTANCES)
    own = domain.own_operators
    start = [step.implementation for step in domain.safe_baseline()]
    async with _open_pool(domain, settings) as pool:
        trials = await try_operators(pool, domain, own, instances, start)
        conduct = await _await_examination(misconduct(pool, domain, own))
        solved = await _await_examination(solve_with_baselines(pool, domain, instances))
    if own:
        seen = [(claim.title, examine(claim.check, domain, trials)) for claim in claims.OPERATOR_CLAIMS]
        for title, found in (*seen, (CONDUCT, conduct)):
            yield Finding.of(title, _locate(found, domain))
    yield Finding.of(BASELINES, solved)
    yield Finding.of(WRITING, examine(own_writing_claim, domain))
    yield Finding.of(PICTURE, examine(own_picture_claim, domain))
    yield Finding.of(SOLVER_FILE, await _await_examination(solver_file(problem)))


def _locate(seen: Examination, domain: OwnDomain) -> Examination:
    """Return what contradicts a claim with the lines of the problem's file, not of the operators' texts."""

    def located(said: str) -> str:
        for one in domain.in_file:
            if said.startswith(one.operator.implementations[0].origin):
                return one.located(said)
        return said

    return Examination(seen.tried, tuple(map(located, seen.contradictions)))


def _open_pool(domain: Domain, settings: RunSettings) -> EvaluatorPool:
    return EvaluatorPool(
        domain.name,
        workers=local_workers(settings),
        limits=evaluation_limits(settings),
        sandbox=settings.sandbox,
        cache_dir=cache_dir(),
    )


async def _check_work(problem: Problem, settings: RunSettings) -> AsyncIterator[Finding]:
    """Try the claims about what operators, decoder, verifier and outputs do."""
    domain = problem.domain
    instances = small_instances(problem, N_INSTANCES)
    start = [domain.safe_baseline()[0].implementation]
    async with _open_pool(domain, settings) as pool:
        trials = await try_operators(pool, domain, domain.operators(), instances, start)
        conduct = await _await_examination(misconduct(pool, domain, domain.operators()))
        solved = await _await_examination(solve_with_baselines(pool, domain, instances))
    for claim in claims.OPERATOR_CLAIMS:
        yield Finding.of(claim.title, examine(claim.check, domain, trials))
    states = {instance.key: solutions(instance, trials) for instance in instances}
    known = [instance for instance in instances if states[instance.key]]
    yield await _scoring(problem, known, states)
    yield Finding.of(CONDUCT, conduct)
    yield Finding.of(BASELINES, solved)
    for finding in _outputs(domain, known, states):
        yield finding
    yield Finding.of(SOLVER_FILE, await _await_examination(solver_file(problem)))


async def _scoring(
    problem: Problem, instances: Sequence[Instance], states: dict[str, list[State]]
) -> Finding:
    """Compare decoder and verifier on the solutions that were found, and on mutations of them."""
    if not instances:
        return Finding(SCORING, None, UNSOLVED)
    if hasattr(problem.domain, "oracle_data"):
        instance = instances[0]
        return Finding.of(
            MEASURED, examine(claims.measured_claim, problem.domain, instance, states[instance.key])
        )
    smoke = problem.smoke_instance().key
    tried, contradictions = list[str](), list[str]()
    for instance in instances:
        ref = None if instance.key == smoke else problem.ref(instance.key)
        seen = await examine_elsewhere(problem.domain, ref, states[instance.key])
        tried.append(seen.tried)
        contradictions += seen.contradictions
    count = sum(int(words.split()[0]) for words in tried if words)
    summary = f"{count} states, broken ones among them"
    return Finding.of(SCORING, Examination(summary, tuple(contradictions)))


def _outputs(
    domain: Domain, instances: Sequence[Instance], states: dict[str, list[State]]
) -> Iterator[Finding]:
    if not instances:
        for title in (WRITING, PICTURE, CP_SAT, SOLVER_FUNCTIONS):
            yield Finding(title, None, UNSOLVED)
        return
    instance = instances[0]
    found = states[instance.key]
    yield Finding.of(WRITING, examine(claims.writing_claim, domain, instance, found))
    yield Finding.of(PICTURE, examine(claims.picture_claim, domain, instance, found[0]))
    yield Finding.of(CP_SAT, examine(claims.cp_sat_claim, domain, instance))
    functions = partial(claims.solver_functions_claim, domain, instance, found)
    yield Finding.of(SOLVER_FUNCTIONS, examine(functions))


def solutions(instance: Instance, trials: Sequence[Trial]) -> list[State]:
    """Return the different solutions of an instance that were found, the smallest encoding first."""
    found = {
        tuple(state.sequence.tolist()): state
        for trial in trials
        if trial.instance is instance and (state := trial.first.solution) is not None
    }
    return [found[key] for key in sorted(found)]


def small_instances(problem: Problem, count: int) -> tuple[Instance, ...]:
    """Return the smoke instance and the `count` training instances with the least data."""
    domain = problem.domain

    def size(instance: Instance) -> tuple[int, str]:
        return sum(np.size(value) for value in domain.environment(instance).values()), instance.key

    loaded = sorted((problem.instance(ref.key) for ref in problem.splits.train), key=size)
    return (domain.smoke_instance(), *loaded[:count])


async def _await_examination(trying: Awaitable[Examination]) -> Examination:
    try:
        return await trying
    except Exception as error:  # a domain's own code may raise anything, in other processes too
        return Examination("", (describe_error(error),))
