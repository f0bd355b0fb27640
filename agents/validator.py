"""Validator: scores validations and tests, keeps the best checkpoint; changes nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dga2d.agents.agent import (
    Decision,
    Duty,
    GenerationDuty,
    open_generation,
    open_test,
    open_validation,
    test_is_open,
)
from dga2d.agents.comparison import (
    checkpoint_or_baseline,
    compare_together,
    error_to_spend,
    found_better,
    gains_left_behind,
    pooled_gains,
)
from dga2d.agents.ports import EventAppender
from dga2d.agents.scoring import CandidateScore, is_clearly_better, mean_gap, score_candidates
from dga2d.events import AgentName, Draft, Payload
from dga2d.events import payloads as p
from dga2d.replay.state.generation_state import closed_round
from dga2d.replay.state.run_state import RunState


class ScoreValidation(GenerationDuty):
    """Score a validation and perhaps select a checkpoint."""


@dataclass(frozen=True)
class ScoreTest(Duty):
    """Score a held-out test."""

    attempt: int


class Validator:
    """Owns validation scores, the checkpoint and test scores (paper, Appendix E.1)."""

    name: AgentName = "validator"

    def __init__(self, log: EventAppender) -> None:
        self._log = log

    def duties(self, state: RunState) -> Sequence[ScoreValidation | ScoreTest]:
        return duties(state)

    async def perform(self, duty: ScoreValidation | ScoreTest, state: RunState) -> None:
        await self._log.append(*decide(state, duty))


def duties(state: RunState) -> tuple[ScoreValidation | ScoreTest, ...]:
    """Return the test or the validation to be scored, once all of it is evaluated."""
    if test_is_open(state):
        test = open_test(state)
        if len(test.outcomes) < len(test.candidates) * len(test.instances):
            return ()
        return (ScoreTest(max(test.outcomes_seq, test.seq), test.attempt),)
    generation = state.generation
    validation = None if generation is None else generation.validation
    if state.status != "running" or generation is None or validation is None:
        return ()
    if validation.pipelines is None or validation.scores is not None:
        return ()
    if len(validation.outcomes) < len(validation.pipelines) * len(validation.instances):
        return ()
    return (ScoreValidation(max(validation.outcomes_seq, validation.decoded_seq), generation.number),)


def decide(state: RunState, duty: ScoreValidation | ScoreTest) -> Decision:
    """Return the scores of a fully evaluated validation or test."""
    if isinstance(duty, ScoreTest):
        return _score_test(state, duty)
    return _score_validation(state, duty)


def _score_validation(state: RunState, duty: ScoreValidation) -> Decision:
    """Return the mean raw reward of each pipeline, after the new checkpoint if one of them becomes it and,
    where validations are pooled, the comparison that it follows from."""
    validation, pipelines = open_validation(state)
    scored = score_candidates(state, validation.outcomes, range(len(pipelines)), validation.instances)
    scores = tuple(candidate.score for candidate in scored)
    payloads: list[Payload] = []
    compared = validation.comparison
    if state.settings.pools_validations and checkpoint_or_baseline(state) in pipelines:
        if compared is None:
            compared = compare_challengers(state, duty.number)
            payloads.append(compared)
        best = _choose_checkpoint(state, compared)
    else:
        best = _new_checkpoint(state, pipelines, scored)
    if best is not None:
        payloads.append(
            p.CheckpointSelected(
                generation=duty.number,
                score=scores[best],
                pipeline=pipelines[best],
                policy_updates=state.policy_updates,
            )
        )
    payloads.append(
        p.ValidationScored(generation=duty.number, scores=scores)
    )  # last: lets the generation close
    return Decision(tuple(Draft("validator", payload, duty.number, duty.caused_by) for payload in payloads))


def compare_challengers(state: RunState, number: int) -> p.ChallengersCompared:
    """Return all validated pipelines beside the checkpoint, and which of them may take its place: what is
    clearly better or, where pipelines are tested against the baseline, ahead and clearly better than that, or
    that itself."""
    validation, pipelines = open_validation(state)
    rounds = (*state.validated, closed_round(number, validation))
    kept, error = checkpoint_or_baseline(state), error_to_spend(state)

    def beside(other: tuple[p.Step, ...]) -> tuple[p.ChallengerComparison, ...]:
        pooled = {
            j: gains
            for j, steps in enumerate(pipelines)
            if steps not in (kept, other) and (gains := pooled_gains(state, steps, other, rounds))
        }
        gone = gains_left_behind(state, other, pipelines, rounds)
        found = compare_together(state.settings, [*pooled.values()], gone)
        return tuple(
            p.ChallengerComparison(candidate=j, **row._asdict()) for j, row in zip(pooled, found, strict=True)
        )

    rows, start = beside(kept), state.header.baseline
    against_start = state.settings.tests_against_baseline and kept != start and start in pipelines
    over_baseline = beside(start) if against_start else None
    found = found_better(state, rows if over_baseline is None else over_baseline, pipelines, error)
    if over_baseline is not None:
        found.add(pipelines.index(start))
    ahead = [row for row in rows if row.candidate in found and row.mean_gain > 0.0]
    return p.ChallengersCompared(
        generation=number,
        checkpoint=pipelines.index(kept),
        error=error,
        comparisons=rows,
        better=tuple(row.candidate for row in sorted(ahead, key=lambda row: (-row.mean_gain, row.candidate))),
        over_baseline=over_baseline,
    )


def _choose_checkpoint(state: RunState, compared: p.ChallengersCompared) -> int | None:
    """Return the number of the pipeline that becomes the checkpoint; ``None`` if the present one stays."""
    if state.checkpoint is None:
        return next(iter(compared.better), compared.checkpoint)
    is_selected = state.checkpoint.generation == compared.generation  # and the process ended right after it
    return None if is_selected else next(iter(compared.better), None)


def _new_checkpoint(
    state: RunState, pipelines: Sequence[Sequence[p.Step]], scored: Sequence[CandidateScore]
) -> int | None:
    """Return the number of the pipeline that becomes the checkpoint; ``None`` if the present one stays.

    Without a margin it is the one of highest score, if that is higher than the checkpoint's was. With one it
    is the best of those that are clearly better, pair by pair, than the checkpoint (at first: the baseline)
    in the same validation; the score stored for the checkpoint, perhaps a lucky one, does not count.
    """
    order = sorted(range(len(scored)), key=lambda j: (-scored[j].score, j))
    settings, checkpoint = state.settings, state.checkpoint
    must_be_higher = not settings.compares_checkpoints_by_pairs
    is_selected = checkpoint is not None and checkpoint.generation == open_generation(state).number
    if not must_be_higher and is_selected:  # the process ended right after the selection
        return None
    kept = state.header.baseline if checkpoint is None else checkpoint.steps
    if settings.checkpoint_margin > 0.0 and kept in pipelines:
        incumbent, margin = pipelines.index(kept), settings.checkpoint_margin
        order = [j for j in order if is_clearly_better(scored[j], scored[incumbent], margin)]
        if not order and checkpoint is None:
            return incumbent
    else:  # with a margin only where it was raised while the validation was under way
        must_be_higher = True
    if not order or (must_be_higher and checkpoint and scored[order[0]].score <= checkpoint.score):
        return None
    return order[0]


def _score_test(state: RunState, duty: ScoreTest) -> Decision:
    """Return the mean gap of each candidate over the test's instances, and how many it failed on."""
    test = open_test(state)
    scored = score_candidates(state, test.outcomes, range(len(test.candidates)), test.instances)
    gaps = [mean_gap(dict(zip(test.instances, candidate.gaps, strict=True))) for candidate in scored]
    failures = [candidate.gaps.count(None) for candidate in scored]
    assert all(gap is None or math.isfinite(gap) for gap in gaps)
    payload = p.TestScored(attempt=test.attempt, mean_gaps=tuple(gaps), failures=tuple(failures))
    return Decision((Draft("validator", payload, None, duty.caused_by),))
