"""Proves a domain sound, claim by claim: what it says, then what it does, then a run of two generations."""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from anyio import move_on_after, to_process

from dga2d.domains.core.contract import Instance
from dga2d.replay.settings import RunSettings
from dga2d.runtime.evaluation import EvaluatorPool
from dga2d.runtime.evaluator import cache_dir, evaluation_limits
from dga2d.runtime.plugins import descriptions, elsewhere, runs, whole
from dga2d.runtime.plugins.findings import Finding, UnsoundError, in_words
from dga2d.runtime.runs.problem import Problem
from dga2d.runtime.runs.solving import state_of

ELSEWHERE_S = 180
"""Seconds that the examinations in another process may take, compilers included."""
N_INSTANCES = 2
"""Training instances, besides the smoke instance, that operators are tried on: those with the least data."""

SAYS = (
    ("the environment has the keys of the card", descriptions.card_and_environment),
    ("the library is described completely", descriptions.library),
    ("operators obey the source rules", descriptions.sources),
    ("baselines are made of the library", descriptions.baselines),
    ("instances can be had and have references", descriptions.instances),
    ("no split is empty", descriptions.splits),
)
"""Claims of which nothing is run; all are tried."""
WORKS = (
    ("operators give valid solutions", runs.valid),
    ("operators never worsen a solution", runs.never_worse),
    ("operators are deterministic under a work budget", runs.deterministic),
    ("operators charge their work", runs.charged),
    ("no solution beats an optimal reference", runs.unbeaten),
)
AGREES = "decoder and verifier agree"
MANNERS = "operators stop in time and leave their input alone"
SOLVES = "baselines solve, and solutions can be written"
TAKEN_AWAY = "the domain fits into a solver file"
EVOLVES = "a run evolves and can be replayed"
LEFT_OUT = "not tried: mend what is above first"


async def check_domain(name: str, data_dir: Path | None, settings: RunSettings) -> AsyncIterator[Finding]:
    """Try every claim in turn; one finding each, in a fixed order.

    Of `settings` only the limits of evaluations, the sandbox and the number of processes count. Where
    claims of one stage do not hold, those that rest on them are not tried.

    Raises
    ------
    DomainError, UsageError
        There is no such domain, or it cannot be loaded at all.
    """
    problem = Problem.open(name, data_dir)
    is_sound = True
    for finding in _said(problem):
        is_sound = is_sound and finding.holds is True
        yield finding
    if not is_sound:
        for claim in (*(claim for claim, _ in WORKS), AGREES, MANNERS, SOLVES, TAKEN_AWAY, EVOLVES):
            yield Finding(claim, None, LEFT_OUT)
        return
    async for finding in _done(problem, settings):
        is_sound = is_sound and finding.holds is True
        yield finding
    with tempfile.TemporaryDirectory(prefix="dga2d-check-") as folder:
        whole_run = partial(whole.evolves, problem, Path(folder), data_dir, settings.evaluators)
        yield await _finding(EVOLVES, whole_run) if is_sound else Finding(EVOLVES, None, LEFT_OUT)


def _said(problem: Problem) -> Iterator[Finding]:
    for claim, examine in SAYS:
        yield _plain_finding(claim, partial(examine, problem))
    with tempfile.TemporaryDirectory(prefix="dga2d-check-") as folder:
        empty = partial(descriptions.published, problem, Path(folder))
        yield _plain_finding("no data means no published instances", empty)


async def _done(problem: Problem, settings: RunSettings) -> AsyncIterator[Finding]:
    """What operators, decoder and verifier do, in processes of their own."""
    domain = problem.domain
    instances = descriptions.small_instances(problem, N_INSTANCES)
    pool = EvaluatorPool(
        domain.name,
        workers=settings.evaluators or os.cpu_count() or 1,
        limits=evaluation_limits(settings),
        sandbox=settings.sandbox,
        cache_dir=cache_dir(),
    )
    async with pool:
        tried = await runs.try_operators(pool, domain, instances)
        works = [_plain_finding(claim, partial(examine, domain, tried)) for claim, examine in WORKS]
        solves = await _finding(SOLVES, partial(whole.baselines_solve, pool, domain, instances))
    for finding in works:
        yield finding
    yield await _finding(AGREES, partial(_agreement, problem, instances, tried))
    yield await _finding(MANNERS, partial(_manners, problem, instances[0], tried))
    yield solves
    yield _plain_finding(TAKEN_AWAY, partial(whole.solver_file, problem))


async def _agreement(problem: Problem, instances: tuple[Instance, ...], tried: tuple[runs.Tried, ...]) -> str:
    """Decoder and verifier on the solutions that were found, and on mutations of them."""
    place, count = elsewhere.Place.of(problem.domain), 0
    for instance in instances:
        states = _solutions(instance, tried)
        ref = None if instance is instances[0] else problem.ref(instance.key)
        count += await _elsewhere(elsewhere.examine_decoder, place, ref, states)
    return f"{count} states, broken ones among them"


def _solutions(instance: Instance, tried: tuple[runs.Tried, ...]) -> list[elsewhere.Arrays]:
    """The different solutions of an instance that were found."""
    found = {
        run.first.solution for run in tried if run.instance is instance and run.first.solution is not None
    }
    if not found:
        raise UnsoundError(f"no operator solved {instance.key}, so there is nothing to compare")
    return [elsewhere.arrays_of(state_of(solution)) for solution in sorted(found)]


async def _manners(problem: Problem, smoke: Instance, tried: tuple[runs.Tried, ...]) -> str:
    start = _solutions(smoke, tried)[0]
    place = elsewhere.Place.of(problem.domain)
    count = await _elsewhere(elsewhere.examine_manners, place, start, cache_dir())
    return f"{count} implementations"


async def _elsewhere(function: Callable[..., elsewhere.Outcome], *arguments: Any) -> int:
    """Number of things tried in another process; UnsoundError on the first contradiction."""
    outcome = None
    with move_on_after(ELSEWHERE_S):
        outcome = await to_process.run_sync(function, *arguments, cancellable=True)
    if outcome is None:
        raise UnsoundError(f"nothing came back in {ELSEWHERE_S} s: something runs on without end")
    if outcome.contradictions:
        raise UnsoundError(outcome.contradictions[0])
    return outcome.tried


def _plain_finding(claim: str, examine: Callable[[], str]) -> Finding:
    try:
        return Finding(claim, True, examine())
    except Exception as error:  # a domain's own code may raise anything
        return Finding(claim, False, in_words(error))


async def _finding(claim: str, examine: Callable[[], Awaitable[str]]) -> Finding:
    try:
        return Finding(claim, True, await examine())
    except Exception as error:  # a domain's own code may raise anything, in other processes too
        return Finding(claim, False, in_words(error))
