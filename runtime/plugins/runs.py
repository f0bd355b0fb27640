"""Claims about operators at work: each is run by the evaluation processes of a real run, in the sandbox."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import anyio

from dga2d.agents.ports import EvaluationReply, EvaluationRequest
from dga2d.domains.core.contract import Domain, Implementation, Instance, Operator, normalised_gap
from dga2d.runtime.evaluation import EvaluatorPool
from dga2d.runtime.plugins.findings import require

WORK = 1000
"""Work units of one run."""
SEEDS = (1, 2)
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Tried:
    """One operator run twice in the same way, behind the baseline's initialiser unless it is one itself."""

    operator: Operator
    implementation: Implementation
    instance: Instance
    first: EvaluationReply
    again: EvaluationReply

    @property
    def place(self) -> str:
        """File and instance, for messages."""
        return f"{self.implementation.origin} on {self.instance.key}"


async def try_operators(
    pool: EvaluatorPool, domain: Domain, instances: tuple[Instance, ...]
) -> tuple[Tried, ...]:
    """Run every implementation on every instance with every seed, twice."""
    start = domain.safe_baseline()[0].implementation
    results: dict[str, EvaluationReply] = {}

    async def evaluate(request: EvaluationRequest) -> None:
        results[request.key] = await pool.evaluate(request)

    keys = []
    async with anyio.create_task_group() as group:
        for operator in domain.operators():
            for implementation, instance, seed in product(operator.implementations, instances, SEEDS):
                steps = (implementation,) if operator.is_initialiser else (start, implementation)
                key = f"{implementation.id} {instance.key} {seed}"
                keys.append((operator, implementation, instance, key))
                for turn in ("first", "again"):
                    request = EvaluationRequest(f"{key} {turn}", instance, steps, (seed,), WORK)
                    group.start_soon(evaluate, request)
    return tuple(
        Tried(operator, implementation, instance, results[f"{key} first"], results[f"{key} again"])
        for operator, implementation, instance, key in keys
    )


def valid(domain: Domain, tried: tuple[Tried, ...]) -> str:
    """Every run gives a valid solution, and no operator hands on a broken state."""
    for run in tried:
        for result in (run.first, run.again):
            require(
                result.failure is None,
                f"{run.place}: {result.failure}: {' '.join(result.diagnostic.split())}",
            )
            broken = [trace for trace in result.trace if trace.score_after == domain.invalid_score]
            require(not broken, f"{run.place}: the operator leaves a broken state")
    return f"{2 * len(tried)} runs"


def never_worse(domain: Domain, tried: tuple[Tried, ...]) -> str:
    """Operators that are no perturbations leave nothing worse than they got."""
    count = 0
    for run in tried:
        if run.operator.category in ("perturbation", "initialisation"):
            continue
        count += 1
        before, after = run.first.trace[-1].score_before, run.first.trace[-1].score_after
        require(
            before is not None and after <= before,
            f"{run.place}: score {before} became {after}; keep the best, or call it a perturbation",
        )
    return f"{count} runs of operators that improve"


def deterministic(domain: Domain, tried: tuple[Tried, ...]) -> str:
    """The same seed and work budget give the same solution and the same work."""
    for run in tried:
        require(
            run.first.solution == run.again.solution,
            f"{run.place}: two runs with one seed and work budget differ; draw from env_data['rng']",
        )
        work, again = ([trace.work for trace in result.trace] for result in (run.first, run.again))
        require(work == again, f"{run.place}: two runs with one seed charged {work} and {again} work units")
    return f"{len(tried)} pairs"


def charged(domain: Domain, tried: tuple[Tried, ...]) -> str:
    """Every operator charges work, without which no work budget can end it."""
    for run in tried:
        if run.instance is not tried[0].instance:
            require(run.first.trace[-1].work > 0, f"{run.place}: it charged no work; call budget.charge(n)")
    return f"{sum(run.first.work for run in tried)} work units"


def unbeaten(domain: Domain, tried: tuple[Tried, ...]) -> str:
    """No solution is better than an optimal reference."""
    gaps = []
    for run in tried:
        reference = run.instance.reference
        if reference is None or run.first.objective is None:
            continue
        gap = normalised_gap(run.first.objective, reference.value, domain.sense)
        gaps.append(gap)
        require(
            reference.kind != "optimal" or gap >= -TOLERANCE,
            f"{run.place}: objective {run.first.objective:g} beats the optimal reference {reference.value:g}",
        )
    return (
        f"gaps of {100 * min(gaps):.2f} to {100 * max(gaps):.2f} %"
        if gaps
        else "no reference to compare with"
    )
