"""Fold handlers for validations, and the checkpoint that they select."""

from __future__ import annotations

from dga2d.events import RecordedEvent, instance_and_copy
from dga2d.events import payloads as p
from dga2d.replay.state.generation_state import ValidationState, closed_round
from dga2d.replay.state.handler import folds, open_generation, replace, require
from dga2d.replay.state.run_state import RunState, ScoredProgram


@folds(p.ValidationStarted)
def _validation_started(state: RunState, event: RecordedEvent, payload: p.ValidationStarted) -> RunState:
    generation = open_generation(state, event, payload.generation)
    require(generation.validation is None, event, "the generation was validated before")
    known = {entry.key for entry in state.header.splits.validation}
    require(
        payload.instances
        and all(known.intersection((k, instance_and_copy(k)[0])) for k in payload.instances),
        event,
        "an instance is not of the validation split",
    )
    return replace(
        state,
        generation=replace(generation, validation=ValidationState(event.seq, payload.instances)),
    )


@folds(p.PipelinesDecoded)
def _pipelines_decoded(state: RunState, event: RecordedEvent, payload: p.PipelinesDecoded) -> RunState:
    generation = open_generation(state, event, payload.generation)
    validation = require(generation.validation, event, "no validation waits for pipelines")
    require(validation.pipelines is None, event, "no validation waits for pipelines")
    known = all(
        state.operator_of.get(step.implementation) == step.operator
        for steps in payload.pipelines
        for step in steps
    )
    require(payload.pipelines and known, event, "a decoded pipeline uses an unknown implementation")
    validation = replace(validation, pipelines=payload.pipelines, decoded_seq=event.seq)
    return replace(state, generation=replace(generation, validation=validation))


@folds(p.ChallengersCompared)
def _challengers_compared(state: RunState, event: RecordedEvent, payload: p.ChallengersCompared) -> RunState:
    generation = open_generation(state, event, payload.generation)
    validation = require(generation.validation, event, "no validation is open")
    require(state.settings.pools_validations, event, "validations are not pooled")
    require(validation.comparison is None, event, "the pipelines were compared before")
    numbers = {*payload.better, payload.checkpoint, *(row.candidate for row in payload.comparisons)}
    known = range(len(validation.pipelines or ()))
    require(all(number in known for number in numbers), event, "no such validated pipeline")
    require(0.0 <= payload.error < 1.0, event, "its error rate is no probability")
    validation = replace(validation, comparison=payload)
    return replace(state, generation=replace(generation, validation=validation))


@folds(p.ValidationScored)
def _validation_scored(state: RunState, event: RecordedEvent, payload: p.ValidationScored) -> RunState:
    generation = open_generation(state, event, payload.generation)
    validation = require(generation.validation, event, "no validation is open")
    pipelines = require(validation.pipelines, event, "evaluations of the validation are missing")
    needed = len(pipelines) * len(validation.instances)
    require(len(validation.outcomes) == needed, event, "evaluations of the validation are missing")
    require(validation.scores is None, event, "the validation was scored before")
    require(len(payload.scores) == len(pipelines), event, "one score per pipeline")
    validated = state.validated
    if state.settings.pools_validations:
        validated = (*validated, closed_round(generation.number, validation))
    validation = replace(validation, scores=payload.scores, scored_seq=event.seq)
    return replace(state, validated=validated, generation=replace(generation, validation=validation))


@folds(p.CheckpointSelected)
def _checkpoint_selected(state: RunState, event: RecordedEvent, payload: p.CheckpointSelected) -> RunState:
    open_generation(state, event, payload.generation)
    former = state.checkpoint
    if state.settings.compares_checkpoints_by_pairs:
        is_second = former is not None and former.generation == payload.generation
        require(not is_second, event, "the validation selected a checkpoint before")
    else:
        is_better = former is None or payload.score > former.score
        require(is_better, event, "the checkpoint is no better than the one before")
    checkpoint = ScoredProgram(payload.generation, -1, payload.score, payload.pipeline)
    return replace(
        state,
        checkpoint=checkpoint,
        checkpoint_seq=event.seq,
        checkpoint_updates=payload.policy_updates,
    )
