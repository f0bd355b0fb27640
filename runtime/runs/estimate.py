"""What a run may cost before it begins: bounds from its settings alone, and what an evaluation under a budget
of work units takes on this machine.
"""

from __future__ import annotations

import math
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dga2d.agents.conductor import LEAST_PAIRS
from dga2d.agents.ports import EvaluationRequest
from dga2d.agents.racer import mean_race_evaluations, opening_evaluations
from dga2d.replay.settings import RunSettings
from dga2d.replay.streams import spawn_key
from dga2d.runtime.errors import RunStateError
from dga2d.runtime.evaluator import open_evaluator
from dga2d.runtime.runs.problem import Problem

BESIDE_THE_BEAM = 2
"""Programs that a validation looks at besides those of the beam: the checkpoint and the incumbent."""


@dataclass(frozen=True)
class RunEstimate:
    """Bounds of a run, or of what is left of it."""

    calls: int
    """Most calls of a language model, whoever answers them."""
    tokens: int | None
    """Most tokens that are paid for; ``None``: no limit is set."""
    money_usd: float | None
    """Most US dollars; ``None``: no limit is set."""
    training_evaluations: int
    """Evaluations of the policy's samples."""
    evaluations: int
    """About all of the search, with races, gates and validations; for another method, of a program for each
    call."""
    hours: float | None
    """Of all these evaluations, by the clock; ``None`` for a budget in work units whose seconds were not
    measured (`trial_evaluation`)."""

    @property
    def is_free(self) -> bool:
        """Whether nothing can be charged."""
        return self.money_usd == 0.0

    def view(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)

    def lines(self) -> list[str]:
        """Return the same in words."""
        tokens = "no limit" if self.tokens is None else f"{self.tokens} at most"
        money = "no limit" if self.money_usd is None else f"{self.money_usd:g} US dollars at most"
        time = "measured when it begins" if self.hours is None else f"about {hours_in_words(self.hours)}"
        return [
            f"search    about {self.evaluations} evaluations, {self.training_evaluations} of samples",
            f"time      {time}",
            f"calls     {self.calls} at most",
            f"tokens    {tokens}",
            f"money     {money}",
        ]


def hours_in_words(hours: float) -> str:
    """Return a duration as hours and minutes, at least a minute."""
    minutes = round(hours * 60)
    return f"{minutes // 60} h {minutes % 60:02d} min" if minutes >= 60 else f"{max(minutes, 1)} min"


def estimate_run(
    settings: RunSettings, calls_used: int = 0, generations_closed: int = 0, work_seconds: float | None = None
) -> RunEstimate:
    """Return what a run of these settings may still cost; `work_seconds` is what an evaluation of its work
    budget takes here, where that was measured.

    Tokens and money are counted for models that are paid alone; calls are counted whoever answers them.
    """
    is_free = is_free_of_charge(settings)
    evaluators = settings.evaluators or os.cpu_count() or 1
    evaluations = search_evaluations(settings, generations_closed)
    in_seconds = settings.time_limit if settings.work_seconds is None else settings.work_seconds
    each = in_seconds if settings.work is None else work_seconds
    seconds = None  # nor is the size of a cluster known beforehand
    if each is not None and isinstance(evaluators, int):
        seconds = evaluations * each / evaluators
    return RunEstimate(
        calls=settings.llm_calls - calls_used,
        tokens=0 if is_free else settings.llm_tokens,
        money_usd=0.0 if is_free else settings.llm_money_usd,
        training_evaluations=training_evaluations(settings, generations_closed),
        evaluations=evaluations,
        hours=None if seconds is None else seconds / 3600.0,
    )


def is_free_of_charge(settings: RunSettings) -> bool:
    """Return whether the run's models cost nothing: the offline proposer, recordings, a local model."""
    names = (settings.llm, *settings.llm_others, *filter(None, [settings.llm_edges]))
    return all(
        name.split(":")[0] in ("offline", "recorded", "local") and ",then=" not in name for name in names
    )


def search_evaluations(settings: RunSettings, generations_closed: int = 0) -> int:
    """Return about how many evaluations the search of a run still has."""
    generations = max(0, settings.generations - generations_closed)
    if not settings.evolves_pipelines:
        return settings.llm_calls * settings.batch_size if generations else 0
    every = settings.validation_interval or settings.generations
    validations = math.ceil(settings.generations / every) - generations_closed // every
    validated = settings.validation_instances or LEAST_PAIRS
    times = settings.last_validation if settings.pools_validations else 1
    pairs = (validations + min(1, validations) * (times - 1)) * validated
    opening = opening_evaluations(settings) if settings.evolution and not generations_closed else 0
    return pipeline_evaluations(settings, generations, settings.batch_size, pairs) + opening


def pipeline_evaluations(settings: RunSettings, generations: int, batch: int, validated: int) -> int:
    """Estimate how many evaluations the generations and validations take.

    Counted are sampled pipelines on `batch` instances each, new code against its parent, races, and
    `validated` instances per validated pipeline, over all validations.
    """
    each = settings.pipelines * batch + mean_race_evaluations(settings)
    if settings.evolution:
        each += 2 * settings.gate_instances * (settings.edits_per_generation + settings.incumbent_edits)
    programs = settings.beam_width + BESIDE_THE_BEAM + settings.tests_against_baseline
    return each * generations + programs * validated


def training_evaluations(settings: RunSettings, generations_closed: int = 0) -> int:
    """Return the evaluations of the policy's samples: samples × batch × generations to come."""
    return settings.pipelines * settings.batch_size * max(0, settings.generations - generations_closed)


async def measure_work_seconds(
    domain_name: str, settings: RunSettings, data_dir: Path | None
) -> float | None:
    """Return the seconds that the safe baseline, whose units count, takes for the settings' work budget on a
    training instance from the middle of the split; ``None`` where the budget is in seconds.

    Raises
    ------
    DomainError, UsageError
        There is no such domain, or it has no such instances.
    RunStateError
        The baseline failed.
    """
    if settings.work is None:
        return None
    problem = Problem.open(domain_name, data_dir, settings.group, settings.suite)
    train = problem.splits.train
    instance = problem.instance(train[len(train) // 2].key)
    steps = tuple(step.implementation for step in problem.domain.safe_baseline())
    async with open_evaluator(domain_name, settings.model_copy(update={"evaluators": 1})) as evaluator:
        await evaluator.prepare(steps)
        request = EvaluationRequest("estimate", instance, steps, (0, *spawn_key("rate", 0)))
        reply = await evaluator.evaluate(request)
    if reply.failure is not None:
        raise RunStateError(f"the safe baseline failed on {instance.key}: {reply.diagnostic}")
    return reply.elapsed_s
