"""The words of the page and the report, each with one explanation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple


class Word(NamedTuple):
    """A word, and what it means in a sentence or two."""

    word: str
    means: str


WORDS: Final[dict[str, Word]] = {
    "start": Word("start", "The safe baseline the run began with: what it has to beat."),
    "evolved": Word(
        "evolved", "The algorithm the run ended with: its checkpoint, where that is not the start."
    ),
    "hand-tuned": Word(
        "hand-tuned",
        "The safe baseline of the whole library, which people put together: a yardstick from outside. "
        "The search had other operators to begin with.",
    ),
    "gap": Word(
        "gap",
        "How far a solution is behind the reference, mostly the best known one, in percent of it. 0 is as "
        "good, below 0 is better.",
    ),
    "points": Word("points", "Percentage points: one gap minus another."),
    "interval": Word(
        "95 % interval",
        "The range in which the mean lies as far as so few instances can tell: Student's, over instances.",
    ),
    "equal-work": Word(
        "equal work",
        "Both programs had the same number of work units on each instance: moves and decodes, as the code "
        "counts them, scaled so that a unit of any code takes about as long. How busy the machine was plays "
        "no part.",
    ),
    "equal-seconds": Word(
        "equal seconds", "Both programs were stopped by the clock, after the same time on each instance."
    ),
    "training": Word(
        "training", "The few instances on which every candidate is tried; the search learns from them."
    ),
    "validation": Word(
        "validation",
        "Instances apart from training, on which the best are compared; they choose the checkpoint.",
    ),
    "held-out": Word(
        "held-out",
        "Instances that the search never saw, kept for one test at the end: the verdict is about them.",
    ),
    "generation": Word(
        "generation",
        "A round of the search: pipelines are drawn, tried and scored, then code and graph are edited. "
        "It is closed when all of it is in the log.",
    ),
    "operator": Word(
        "operator", "A step of an algorithm by its task, such as building a schedule or improving it."
    ),
    "implementation": Word("implementation", "Code for an operator; each operator has a pool of them."),
    "pipeline": Word("pipeline", "An algorithm: operators one after the other, each with an implementation."),
    "walk": Word(
        "walk",
        "A way through the graph of operators from START to END that the policy drew, step by step: a "
        "pipeline.",
    ),
    "policy": Word(
        "policy", "A small language model that draws the walks and learns from what became of them."
    ),
    "candidate": Word("candidate", "A pipeline that was drawn and tried on the training instances."),
    "credit": Word(
        "credit",
        "How much better candidates with an operator, an edge or an implementation were than others.",
    ),
    "checkpoint": Word(
        "checkpoint",
        "The algorithm that validation found better than all before it, beyond doubt; the start, until there "
        "is one. It is what the run hands over.",
    ),
    "incumbent": Word(
        "incumbent",
        "The best there is at the moment: the pipeline that won the races (without races, the best in "
        "training), or the best solution of an instance.",
    ),
    "race": Word(
        "race", "Some pipelines against the incumbent on training instances; the losers leave early."
    ),
    "gate": Word(
        "gate",
        "What new code has to pass: it runs against the code it comes from, on instances of their own.",
    ),
    "edit": Word(
        "edit", "A change of the code or the graph that was accepted. Rejected ones are under calls."
    ),
    "bank": Word(
        "bank", "Implementations from other runs, kept in a file; a run can be offered them and try them."
    ),
    "lineage": Word("lineage", "Which code was written from which, with ideas, gains and what became of it."),
    "event": Word(
        "event",
        "A line of the run's log, which holds all that happened. The slider shows the run as it was after "
        "any of them.",
    ),
}
"""By the name that addresses have: ``#word-start``."""

OUTCOME_WORDS: Final = {"baseline kept": "start kept"}
"""Outcomes of a verdict that people read under another name than JSON has."""


def money_note(settings: Mapping[str, Any], calls: int, cost_usd: float) -> str:
    """Return why a run has cost nothing; empty where it has cost something.

    Parameters
    ----------
    settings
        The run's, as plain values.
    calls
        Calls made so far.
    cost_usd
        What they cost by the settings' prices.
    """
    if cost_usd:
        return ""
    if not calls:
        return "no model was asked"
    kinds = {name.partition(":")[0] for name in (settings["llm"], *settings["llm_others"])}
    if edges := settings["llm_edges"]:
        kinds.add(edges.partition(":")[0])
    if kinds == {"offline"}:
        return "built-in model, free"
    if kinds <= {"offline", "local"}:
        return "model on this machine, free"
    if "recorded" in kinds:
        return "recorded answers, paid for before"
    if not settings["llm_price_prompt"] and not settings["llm_price_answer"]:
        return "the settings name no prices"
    return "nothing was charged"
