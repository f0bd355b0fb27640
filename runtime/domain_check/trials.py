"""Operators and baselines at work: run by the evaluation processes of a real run, in the sandbox; and a claim
tried in another process, which broken compiled code may take with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, TypeAlias

import anyio
from anyio import move_on_after, to_process

from dga2d.agents.ports import EvaluationReply, EvaluationRequest
from dga2d.domains.claims import Examination, Trial, TrialOutcome, examine, scoring_claim, watch_run
from dga2d.domains.claims.conduct import faults_in
from dga2d.domains.claims.operators import group_failures, is_broken, is_unfinished
from dga2d.domains.core.contract import (
    Domain,
    Implementation,
    Instance,
    InstanceRef,
    Operator,
    State,
    normalised_gap,
    own_score_of,
    settings_of,
)
from dga2d.domains.core.errors import describe_error
from dga2d.domains.core.plugins import load_again
from dga2d.domains.core.registry import get_domain, loaded_plugin
from dga2d.runtime.evaluation.pool import EvaluatorPool
from dga2d.runtime.runs.solving import decode_solution

WORK = 1000
"""Work units of one run."""
SEEDS = (1, 2)


async def try_operators(
    pool: EvaluatorPool,
    domain: Domain,
    operators: Sequence[Operator],
    instances: Sequence[Instance],
    start: Sequence[Implementation],
) -> tuple[Trial, ...]:
    """Run every implementation twice on every instance with every seed, behind `start`; an initialiser in the
    place of the first of it.

    Where `start` alone breaks constraints, an operator may leave them broken; an initialiser, which begins
    elsewhere, where `start` does on any of the instances.
    """
    tasks, wanted = list[EvaluationRequest](), list[tuple[Operator, Implementation, Instance, int, str]]()
    alone = {(i.key, seed): f"start {i.key} {seed}" for i, seed in product(instances, SEEDS)}
    for instance, seed in product(instances, SEEDS):
        tasks.append(EvaluationRequest(alone[instance.key, seed], instance, tuple(start), (seed,), WORK))
    for operator in operators:
        for implementation, instance, seed in product(operator.implementations, instances, SEEDS):
            steps = (*(() if operator.is_initialiser else start), implementation)
            steps += tuple(start[1:]) if operator.is_initialiser else ()
            key = f"{implementation.id} {instance.key} {seed}"
            wanted.append((operator, implementation, instance, seed, key))
            tasks += [
                EvaluationRequest(f"{key} {turn}", instance, steps, (seed,), WORK)
                for turn in ("first", "again")
            ]
    results = await _evaluate(pool, tasks)
    failures = {case: outcome_of(results[name]).failure for case, name in alone.items()}
    hard = {case for case, failure in failures.items() if failure is not None and is_broken(failure)}
    trials = list[Trial]()
    for operator, implementation, instance, seed, key in wanted:
        position = 0 if operator.is_initialiser else len(start)
        first, again = (up_to(outcome_of(results[f"{key} {turn}"]), position) for turn in ("first", "again"))
        may_be_broken = bool(hard) if operator.is_initialiser else (instance.key, seed) in hard
        trials.append(Trial(operator, implementation, instance, first, again, may_be_broken))
    return tuple(trials)


def up_to(outcome: TrialOutcome, position: int) -> TrialOutcome:
    """Return an outcome without the records of what came after `position`."""
    return replace(outcome, trace=outcome.trace[: position + 1])


async def _evaluate(pool: EvaluatorPool, tasks: Sequence[EvaluationRequest]) -> dict[str, EvaluationReply]:
    results: dict[str, EvaluationReply] = {}

    async def evaluate(task: EvaluationRequest) -> None:
        results[task.key] = await pool.evaluate(task)

    async with anyio.create_task_group() as group:
        for task in tasks:
            group.start_soon(evaluate, task)
    return results


def outcome_of(result: EvaluationReply) -> TrialOutcome:
    """Return what claims see of a reply of the pool."""
    failure = None
    if result.failure is not None:
        failure = f"{result.failure}: {' '.join(result.diagnostic.split())}"
    solution = None if result.solution is None else decode_solution(result.solution)
    return TrialOutcome(failure, result.objective, solution, result.trace)


async def misconduct(pool: EvaluatorPool, domain: Domain, operators: Sequence[Operator]) -> Examination:
    """Watch every implementation on the smoke instance: it must stop in time and touch only its own."""
    instance = domain.smoke_instance()
    start = domain.safe_baseline()[0].implementation
    tasks, places = list[EvaluationRequest](), dict[str, str]()
    for operator in operators:
        for implementation in operator.implementations:
            text = watch_run(implementation, domain.invalid_score)
            steps = (text,) if operator.is_initialiser else (start, text)
            places[text.id] = implementation.origin
            tasks.append(EvaluationRequest(text.id, instance, steps, (SEEDS[0],), WORK))
    results = await _evaluate(pool, tasks)
    faults, failures = list[str](), list[tuple[str, str]]()
    for task in tasks:
        outcome = outcome_of(results[task.key])
        found = faults_in(results[task.key].diagnostic)
        faults += [f"{places[task.key]} {fault}" for fault in found]
        failure = outcome.failure
        if failure is not None and not (found or is_unfinished(domain, failure) or is_broken(failure)):
            failures.append((f"{places[task.key]} could not be watched", failure))
    return Examination(f"{len(tasks)} implementations", (*faults, *group_failures(failures)))


@dataclass(frozen=True)
class _Baseline:
    name: str
    steps: tuple[Implementation, ...]


async def solve_with_baselines(
    pool: EvaluatorPool, domain: Domain, instances: Sequence[Instance]
) -> Examination:
    """Solve the small instances with each baseline."""
    named = {
        "safe": domain.safe_baseline(),
        "basic": domain.basic_baseline(),
        "iterated": domain.ils_baseline(),
    }
    tasks = {
        (name, instance.key): EvaluationRequest(
            f"{name} baseline on {instance.key}",
            instance,
            tuple(step.implementation for step in steps),
            (SEEDS[0],),
            float(settings_of(domain).get("work", WORK)),
        )
        for name, steps in named.items()
        for instance in instances
    }
    results = await _evaluate(pool, list(tasks.values()))
    failures = list[tuple[str, str]]()
    gaps: dict[str, list[float]] = {name: [] for name in named}
    scores: dict[str, list[float]] = {name: [] for name in named}
    for (name, _), task in tasks.items():
        outcome, reference = outcome_of(results[task.key]), task.instance.reference
        if outcome.objective is None:
            if name == "safe" or not is_unfinished(domain, outcome.failure or ""):
                failures.append((task.key, outcome.failure or "no objective"))
        elif own_score_of(domain) is not None:
            scores[name].append(outcome.objective)
        elif reference is not None:
            gaps[name].append(normalised_gap(outcome.objective, reference.value, domain.sense))
    means = [f"{name} {100 * sum(found) / len(found):.2f} %" for name, found in gaps.items() if found]
    text = "mean gaps: " + ", ".join(means) if means else f"{len(tasks)} solutions"
    if told := [
        f"{name} {sum(found) / len(found):.3f} ({len(found)})" for name, found in scores.items() if found
    ]:
        text = "mean scores: " + ", ".join(told)
    return Examination(text, tuple(group_failures(failures)))


TIME_LIMIT_S = 180
"""Seconds that the claim may take, compilers included."""
Arrays: TypeAlias = tuple[Any, Mapping[str, Any]]
"""Sequence and metadata of a state."""


@dataclass(frozen=True)
class DomainAddress:
    """Where another process finds a domain."""

    name: str
    plugin: Mapping[str, str] | None
    """Address of a plug-in; ``None`` for a domain of the program."""

    @classmethod
    def of(cls, domain: Domain) -> DomainAddress:
        """Return the place of a domain that is known by its name."""
        plugin = loaded_plugin(domain.name)
        return cls(domain.name, None if plugin is None else plugin.address())

    def domain(self) -> Domain:
        """Return the domain, in the process that asks."""
        return get_domain(self.name) if self.plugin is None else load_again(self.plugin)


async def examine_elsewhere(domain: Domain, ref: InstanceRef | None, states: Sequence[State]) -> Examination:
    """Try in another process whether decoder and verifier agree on `states`.

    `ref` is their instance, ``None`` for the smoke instance.
    """
    arrays = [(state.sequence, dict(state.metadata)) for state in states]
    seen = None
    try:
        with move_on_after(TIME_LIMIT_S):
            seen = await to_process.run_sync(
                examine_scoring, DomainAddress.of(domain), ref, arrays, cancellable=True
            )
    except Exception as error:  # the process may have ended in any way
        return Examination("", (describe_error(error),))
    if seen is None:
        return Examination("", (f"nothing came back in {TIME_LIMIT_S} s: something runs on without end",))
    return seen


def examine_scoring(place: DomainAddress, ref: InstanceRef | None, arrays: Sequence[Arrays]) -> Examination:
    """Try the claim in this process."""
    domain = place.domain()
    instance = domain.smoke_instance() if ref is None else domain.load(ref)
    states = [State(sequence, dict(metadata)) for sequence, metadata in arrays]
    return examine(scoring_claim, domain, instance, states)
