"""What a run may cost before it begins: bounds from its settings alone."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Any

from dga2d.replay.settings import RunSettings


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
    """Evaluations of the policy's samples; races, gates and validations come on top."""
    hours: float | None
    """Of these evaluations, by the clock; ``None`` for a budget in work units whose seconds were not measured
    (`trial_evaluation`)."""

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
            f"training  {self.training_evaluations} evaluations",
            f"time      {time}; validations, races, gates and trials come on top",
            f"calls     {self.calls} at most",
            f"tokens    {tokens}",
            f"money     {money}",
        ]


def hours_in_words(hours: float) -> str:
    """Return a duration as hours and minutes, at least a minute."""
    minutes = round(hours * 60)
    return f"{minutes // 60} h {minutes % 60:02d} min" if minutes >= 60 else f"{max(minutes, 1)} min"


def estimate_run(
    settings: RunSettings,
    calls_used: int = 0,
    generations_closed: int = 0,
    work_seconds: float | None = None,
) -> RunEstimate:
    """Return what a run of these settings may still cost; `work_seconds` is what an evaluation of its work
    budget takes here, where that was measured.

    Tokens and money are counted for models that are paid alone; calls are counted whoever answers them.
    """
    is_free = is_free_of_charge(settings)
    evaluations = training_evaluations(settings, generations_closed)
    evaluators = settings.evaluators or os.cpu_count() or 1
    each = settings.time_limit if settings.work is None else work_seconds
    seconds = None  # nor is the size of a cluster known beforehand
    if each is not None and isinstance(evaluators, int):
        seconds = evaluations * each / evaluators
    return RunEstimate(
        calls=settings.llm_calls - calls_used,
        tokens=0 if is_free else settings.llm_tokens,
        money_usd=0.0 if is_free else settings.llm_money_usd,
        training_evaluations=evaluations,
        hours=None if seconds is None else seconds / 3600.0,
    )


def is_free_of_charge(settings: RunSettings) -> bool:
    """Return whether the run's models cost nothing: the offline proposer, recordings, a local model."""
    names = (settings.llm, *settings.llm_others, *filter(None, [settings.llm_edges]))
    return all(
        name.split(":")[0] in ("offline", "recorded", "local") and ",then=" not in name for name in names
    )


def training_evaluations(settings: RunSettings, generations_closed: int = 0) -> int:
    """Return the evaluations of the policy's samples: samples × batch × generations to come."""
    return settings.pipelines * settings.batch_size * max(0, settings.generations - generations_closed)
