"""Validator: scores validations and tests, keeps the best checkpoint; changes nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dga2d.agents.agent import Duty, test_is_open
from dga2d.agents.ports import EventAppender
from dga2d.agents.scoring import CandidateScore, is_clearly_better, mean_gap, score_candidate
from dga2d.domains.core.contract import normalised_gap
from dga2d.events import AgentName, Draft
from dga2d.events.payloads import CheckpointSelected, Step, TestScored, ValidationScored
from dga2d.replay.state.run_state import RunState


class Validator:
    """Owns validation scores, the checkpoint and test scores (paper, Appendix E.1)."""

    name: AgentName = "validator"

    def __init__(self, log: EventAppender) -> None:
        self._log = log

    def duties(self, state: RunState) -> Sequence[Duty]:
        if test_is_open(state):
            test = state.test
            assert test is not None
            needed = len(test.candidates) * len(test.instances)
            if len(test.outcomes) < needed:
                return ()
            return (Duty(f"score-test/{test.attempt}", max(test.outcomes_seq, test.seq), ("test",)),)
        validation = state.generation.validation if state.generation is not None else None
        if state.status != "running" or validation is None or validation.pipelines is None:
            return ()
        needed = len(validation.pipelines) * len(validation.instances)
        if validation.scores is not None or len(validation.outcomes) < needed:
            return ()
        assert state.generation is not None
        cause = max(validation.outcomes_seq, validation.decoded_seq)
        return (Duty(f"score-validation/{state.generation.number}", cause, ("validation",)),)

    async def perform(self, duty: Duty, state: RunState) -> None:
        decide = score_test if duty.subject[0] == "test" else score_validation
        await self._log.append(decide(state, duty.caused_by))


def score_validation(state: RunState, caused_by: int) -> list[Draft]:
    """Mean raw reward of each pipeline, and the checkpoint if one is better than the one before."""
    generation = state.generation
    assert generation is not None
    validation = generation.validation
    assert validation is not None
    assert validation.pipelines is not None
    references = [state.reference(key) for key in validation.instances]
    scored = [
        score_candidate(
            [validation.outcomes[j, key] for key in validation.instances],
            references,
            state.header.sense,
            state.settings.failure_reward,
        )
        for j in range(len(validation.pipelines))
    ]
    scores = tuple(candidate.score for candidate in scored)
    number = generation.number
    drafts: list[Draft] = []
    best = _new_checkpoint(state, validation.pipelines, scored)
    if best is not None:
        selected = CheckpointSelected(
            generation=number,
            score=scores[best],
            pipeline=validation.pipelines[best],
            policy_updates=state.policy_updates,
        )
        drafts.append(Draft("validator", selected, number, caused_by))
    over = ValidationScored(generation=number, scores=scores)  # last: it lets the generation close
    return [*drafts, Draft("validator", over, number, caused_by)]


def _new_checkpoint(
    state: RunState, pipelines: Sequence[Sequence[Step]], scored: Sequence[CandidateScore]
) -> int | None:
    """Number of the pipeline that becomes the checkpoint; ``None``: the present one stays."""
    order = sorted(range(len(scored)), key=lambda j: (-scored[j].score, j))
    margin, checkpoint = state.settings.checkpoint_margin, state.checkpoint
    kept = state.header.baseline if checkpoint is None else checkpoint.steps
    if margin > 0.0 and kept in pipelines:  # not there if the margin was raised during this validation
        incumbent = pipelines.index(kept)
        better = [j for j in order if is_clearly_better(scored[j], scored[incumbent], margin)]
        order = better if better or checkpoint is not None else [incumbent]
    if not order or (checkpoint is not None and scored[order[0]].score <= checkpoint.score):
        return None
    return order[0]


def score_test(state: RunState, caused_by: int) -> list[Draft]:
    """Mean gap of each candidate of the test over its instances, and how many it failed on."""
    test = state.test
    assert test is not None
    gaps, failures = [], []
    for j in range(len(test.candidates)):
        per_instance: dict[str, float | None] = {}
        for key in test.instances:
            objective = test.outcomes[j, key].objective
            per_instance[key] = (
                None
                if objective is None
                else normalised_gap(objective, state.reference(key), state.header.sense)
            )
        gaps.append(mean_gap(per_instance))
        failures.append(sum(gap is None for gap in per_instance.values()))
    assert all(gap is None or math.isfinite(gap) for gap in gaps)
    payload = TestScored(attempt=test.attempt, mean_gaps=tuple(gaps), failures=tuple(failures))
    return [Draft("validator", payload, None, caused_by)]
