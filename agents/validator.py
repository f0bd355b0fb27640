"""Validator: scores validations and tests, keeps the best checkpoint; changes nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dga2d.agents.agent import Duty, test_is_open
from dga2d.agents.ports import EventAppender
from dga2d.agents.scoring import mean_gap, score_candidate
from dga2d.domains.gap import normalised_gap
from dga2d.events import Draft
from dga2d.events.ownership import AgentName
from dga2d.events.payloads import CheckpointSelected, TestScored, ValidationScored
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
    """Mean raw reward of each pipeline, and the checkpoint if one is better than all before."""
    generation = state.generation
    assert generation is not None
    validation = generation.validation
    assert validation is not None
    assert validation.pipelines is not None
    references = [state.reference(key) for key in validation.instances]
    scores = tuple(
        score_candidate(
            [validation.outcomes[j, key] for key in validation.instances],
            references,
            state.header.sense,
            state.settings.failure_reward,
        ).score
        for j in range(len(validation.pipelines))
    )
    number = generation.number
    drafts: list[Draft] = []
    best = max(range(len(scores)), key=lambda j: (scores[j], -j))
    if state.checkpoint is None or scores[best] > state.checkpoint.score:
        selected = CheckpointSelected(
            generation=number,
            score=scores[best],
            pipeline=validation.pipelines[best],
            policy_updates=state.policy_updates,
        )
        drafts.append(Draft("validator", selected, number, caused_by))
    scored = ValidationScored(generation=number, scores=scores)  # last: it lets the generation close
    return [*drafts, Draft("validator", scored, number, caused_by)]


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
