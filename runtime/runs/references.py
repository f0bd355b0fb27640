"""References where none are known: what the safe baseline reaches before a run begins."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import anyio

from dga2d.agents.ports import EvaluationReply, EvaluationRequest, Evaluator
from dga2d.domains.core.contract import PipelineStep, Reference, own_score_of
from dga2d.events import InstanceKey
from dga2d.events.payloads import InstanceEntry
from dga2d.replay.streams import spawn_key
from dga2d.runtime.errors import UsageError
from dga2d.runtime.runs.problem import Problem

LEAST_SCALE = 0.1
"""A gap's scale is at least this part of what the baseline improved on its own start: where optima are zero,
gaps stay in proportion."""
REAL_SCORE = 1e29
"""Scores above are penalties of broken solutions."""


async def measure_references(
    problem: Problem, baseline: Sequence[PipelineStep], evaluator: Evaluator, seed: int
) -> dict[str, InstanceEntry]:
    """Run the baseline once on every instance without a reference, or with one too small to divide by;
    return entries of the manifest by key. Where objectives are scores nothing is run: references are 0.

    Raises
    ------
    UsageError
        It fails on an instance; the message says why.
    """
    if own_score_of(problem.domain) is not None:
        keys = [InstanceKey(ref.key) for part in problem.splits for ref in part]
        return {key: InstanceEntry(key=key, reference=0.0, scale=1.0) for key in keys}
    every = {ref.key: ref.reference for part in problem.splits for ref in part}
    refs = [key for key, known in every.items() if known is None or abs(known.value) < 1.0]
    steps = tuple(step.implementation for step in baseline)
    replies: dict[str, EvaluationReply] = {}

    async def evaluate(key: str) -> None:
        seeds = (seed, *spawn_key("reference", problem.index(key)))
        request = EvaluationRequest(f"reference {key}", problem.instance(key), steps, seeds)
        replies[key] = await evaluator.evaluate(request)

    async with anyio.create_task_group() as group:
        for key in refs:
            group.start_soon(evaluate, key)
    for key, reply in sorted(replies.items()):
        if reply.objective is None:
            reason = " ".join(reply.diagnostic.split())
            raise UsageError(
                f"{key} has no reference, and the safe baseline finds none ({reply.failure}: {reason}); "
                "give it a larger budget, or the problem a reference"
            )
    return entries(every, replies, problem.domain.sense)


def entries(
    given: Mapping[str, Reference | None],
    replies: Mapping[str, EvaluationReply],
    sense: Literal["min", "max"],
) -> dict[str, InstanceEntry]:
    """Return the entries of the manifest that follow from the baseline's replies."""
    scales = {key: scale_of(reply, sense) for key, reply in replies.items()}
    known = [scale for scale in scales.values() if scale > 0.0]
    usual = math.fsum(known) / len(known) if known else 1.0
    made = {}
    for key, reply in replies.items():
        given_one = given[key]
        reached = float(reply.objective or 0.0)
        made[key] = InstanceEntry(
            key=InstanceKey(key),
            reference=reached if given_one is None else given_one.value,
            scale=scales[key] or usual,
            origin="baseline" if given_one is None else None,
        )
    return made


def scale_of(reply: EvaluationReply, sense: Literal["min", "max"]) -> float:
    """Return the objective that counts as a gap of 1: that of the baseline, or a tenth of what it gained."""
    reached = float(reply.objective or 0.0)
    score = reached if sense == "min" else -reached
    start = reply.trace[0].score_after if reply.trace else score
    gained = abs(start - score) if abs(start) < REAL_SCORE else 0.0
    return max(abs(reached), LEAST_SCALE * gained)
