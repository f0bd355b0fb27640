"""Decisions by rule made again: those of all agents that ask no language model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from dga2d.agents.conductor import drawn_batch, held_out_test, next_step
from dga2d.agents.credit_keeper import score_generation
from dga2d.agents.evaluator_pool import owed_evaluations
from dga2d.agents.pipeline_sampler import sampled, validated_pipelines
from dga2d.agents.policy import DecodedWalk, PolicyStep, SampledWalk
from dga2d.agents.validator import score_test, score_validation
from dga2d.events import Payload
from dga2d.events import payloads as p
from dga2d.replay.state.run_state import GenerationState, RunState
from dga2d.replay.streams import choose, stream


class Remade(NamedTuple):
    """What an agent had to append in a state."""

    payload: Payload
    caused_by: int | None
    is_decision: bool = True
    """False for observations: `payload` is then the recorded one."""


Remake = Callable[[RunState, Any], Remade | None]
"""(state just before the event, its payload) → what had to be appended, ``None`` if nothing was owed."""


def _run_started(state: RunState, payload: p.RunStarted) -> Remade:
    keys = [entry.key for entry in payload.splits.train]
    batch = drawn_batch(keys, int(payload.settings["batch_size"]), payload.seed)
    return Remade(payload.model_copy(update={"batch": batch}), None)


def _next_step(state: RunState, payload: Payload) -> Remade | None:
    step = next_step(state)
    return None if step is None else Remade(step[1], step[0].caused_by)


def _test_started(state: RunState, payload: p.TestStarted) -> Remade | None:
    return None if state.checkpoint is None else Remade(held_out_test(state), None)


def _pipeline_sampled(state: RunState, payload: p.PipelineSampled) -> Remade | None:
    generation = state.generation
    if generation is None or payload.candidate in generation.pipelines:
        return None
    draws = stream(state.header.seed, "pipeline", generation.number, payload.candidate)
    steps = []
    for step in payload.policy_steps:
        index = choose(step.probabilities, float(draws.random()))
        steps.append(PolicyStep(step.actions, step.probabilities, step.actions[index]))
    operators = tuple(step.operator for step in payload.steps)
    walk = SampledWalk(operators, tuple(steps), 0.0)
    return Remade(sampled(state, payload.candidate, walk), generation.seq)


def _pipelines_decoded(state: RunState, payload: p.PipelinesDecoded) -> Remade | None:
    """The walks of the beam are observed; implementations and what else is validated are decided."""
    generation = state.generation
    if generation is None or generation.validation is None:
        return None
    found = zip(payload.pipelines, payload.log_probabilities, strict=False)
    walks = [DecodedWalk(tuple(s.operator for s in steps), logarithm) for steps, logarithm in found]
    return Remade(validated_pipelines(state, walks), generation.validation.seq)


def _scored(state: RunState, payload: Payload) -> Remade | None:
    generation = state.generation
    if generation is None or generation.basis is not None:
        return None
    if len(generation.outcomes) < generation.size * len(state.header.batch):
        return None
    draft = score_generation(state, generation, generation.outcomes_seq)[0]
    return Remade(draft.payload, draft.caused_by)


def _validated(state: RunState, payload: Payload) -> Remade | None:
    validation = None if state.generation is None else state.generation.validation
    if validation is None or validation.pipelines is None or validation.scores is not None:
        return None
    if len(validation.outcomes) < len(validation.pipelines) * len(validation.instances):
        return None
    draft = score_validation(state, max(validation.outcomes_seq, validation.decoded_seq))[0]
    return Remade(draft.payload, draft.caused_by)


def _test_scored(state: RunState, payload: p.TestScored) -> Remade | None:
    test = state.test
    if test is None or len(test.outcomes) < len(test.candidates) * len(test.instances):
        return None
    draft = score_test(state, max(test.outcomes_seq, test.seq))[0]
    return Remade(draft.payload, draft.caused_by)


def _evaluated(state: RunState, payload: p.EvaluationRecorded) -> Remade | None:
    for duty in owed_evaluations(state):
        if duty.key == payload.operation():
            return Remade(payload, duty.caused_by, is_decision=False)
    return None


def _policy_updated(state: RunState, payload: p.PolicyUpdated) -> Remade | None:
    generation: GenerationState | None = state.generation
    if generation is None or generation.scoring is None:
        return None
    return Remade(payload, generation.scoring.seq, is_decision=False)


RULES: Mapping[str, Remake] = {
    "RunStarted": _run_started,
    "GenerationStarted": _next_step,
    "GenerationCompleted": _next_step,
    "ValidationStarted": _next_step,
    "RunCompleted": _next_step,
    "TestStarted": _test_started,
    "PipelineSampled": _pipeline_sampled,
    "PipelinesDecoded": _pipelines_decoded,
    "PolicyUpdated": _policy_updated,
    "EvaluationRecorded": _evaluated,
    "CandidateScored": _scored,
    "GenerationScored": _scored,
    "CreditsUpdated": _scored,
    "CheckpointSelected": _validated,
    "ValidationScored": _validated,
    "TestScored": _test_scored,
}
"""How the decision or observation of an event type is made again."""
