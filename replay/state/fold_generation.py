"""Fold handlers for sampling, evaluation, credit, policy and validation within a generation."""

from __future__ import annotations

from dga2d.events import RecordedEvent
from dga2d.events import payloads as p
from dga2d.replay.errors import DigestMismatchError
from dga2d.replay.state.credit import Transition, TransitionRecord
from dga2d.replay.state.digest import graph_digest, pools_digest, state_digest
from dga2d.replay.state.fold_run import outcome_of, record_test_outcome
from dga2d.replay.state.graph import walk_violation
from dga2d.replay.state.handler import Handler, open_generation, refuse, replace, require
from dga2d.replay.state.run_state import (
    EvolutionBasis,
    GenerationState,
    GenerationSummary,
    Outcome,
    RunState,
    SampledPipeline,
    SavedPolicy,
    ScoredProgram,
    Scoring,
    ValidationState,
)


def _generation_started(state: RunState, event: RecordedEvent, payload: p.GenerationStarted) -> RunState:
    require(state.graph is not None, event, "there is no graph yet")
    require(state.generation is None, event, "another generation is open")
    require(
        payload.generation == state.completed + 1,
        event,
        f"generation {state.completed + 1} is next, not {payload.generation}",
    )
    assert state.graph is not None
    require(payload.graph_digest == graph_digest(state.graph), event, "the graph is another one")
    require(payload.pools_digest == pools_digest(state.pools), event, "the pools are others")
    return replace(state, generation=GenerationState(payload.generation, event.seq, state.settings.pipelines))


def _pipeline_sampled(state: RunState, event: RecordedEvent, payload: p.PipelineSampled) -> RunState:
    generation = open_generation(state, event, payload.generation)
    require(payload.candidate not in generation.pipelines, event, "the candidate was sampled before")
    require(0 <= payload.candidate < generation.size, event, "candidate number out of range")
    assert state.graph is not None
    longest = state.settings.max_length
    reason = walk_violation(payload.steps, payload.policy_steps, state.graph, state.pools, longest)
    if reason is not None:
        refuse(event, reason)
    pipelines = generation.pipelines.set(payload.candidate, SampledPipeline(event.seq, payload.steps))
    return replace(state, generation=replace(generation, pipelines=pipelines))


def _evaluation_recorded(state: RunState, event: RecordedEvent, payload: p.EvaluationRecorded) -> RunState:
    require((payload.objective is None) == (payload.failure is not None), event, "objective xor failure")
    if payload.split == "test":
        return record_test_outcome(state, event, payload)
    generation = open_generation(state, event, payload.generation)
    key = (payload.candidate, payload.instance)
    outcome = outcome_of(event, payload)
    if payload.split == "validation":
        return _validation_outcome(state, event, generation, payload, outcome)
    require(payload.candidate in generation.pipelines, event, "the candidate was never sampled")
    if payload.instance not in state.header.batch:
        refuse(event, f"{payload.instance} is not in the shared batch")
    require(key not in generation.outcomes, event, "the evaluation was recorded before")
    outcomes = generation.outcomes.set(key, outcome)
    return replace(state, generation=replace(generation, outcomes=outcomes, outcomes_seq=event.seq))


def _validation_outcome(
    state: RunState,
    event: RecordedEvent,
    generation: GenerationState,
    payload: p.EvaluationRecorded,
    outcome: Outcome,
) -> RunState:
    validation = generation.validation
    require(validation is not None and validation.pipelines is not None, event, "no validation is open")
    assert validation is not None
    assert validation.pipelines is not None
    key = (payload.candidate, payload.instance)
    require(0 <= payload.candidate < len(validation.pipelines), event, "no such validated pipeline")
    require(payload.instance in validation.instances, event, f"{payload.instance} is not validated on")
    require(key not in validation.outcomes, event, "the evaluation was recorded before")
    validation = replace(validation, outcomes=validation.outcomes.set(key, outcome), outcomes_seq=event.seq)
    return replace(state, generation=replace(generation, validation=validation))


def _candidate_scored(state: RunState, event: RecordedEvent, payload: p.CandidateScored) -> RunState:
    generation = open_generation(state, event, payload.generation)
    require(payload.candidate in generation.pipelines, event, "the candidate was never sampled")
    require(payload.candidate not in generation.scores, event, "the candidate was scored before")
    outcomes = generation.outcomes.row(payload.candidate)
    missing = [instance for instance in state.header.batch if instance not in outcomes]
    require(not missing, event, f"the candidate was not evaluated on {', '.join(missing)}")
    require(payload.score >= state.settings.failure_reward, event, "the score is below R_fail")
    best = state.best
    if best is None or payload.score > best.score:
        best = ScoredProgram(
            payload.generation,
            payload.candidate,
            payload.score,
            generation.pipelines[payload.candidate].steps,
        )
    scores = generation.scores.set(payload.candidate, payload.score)
    return replace(state, best=best, generation=replace(generation, scores=scores))


def _generation_scored(state: RunState, event: RecordedEvent, payload: p.GenerationScored) -> RunState:
    generation = open_generation(state, event, payload.generation)
    require(generation.scoring is None, event, "the generation was scored before")
    require(len(generation.scores) == generation.size, event, "not all candidates are scored")
    require(len(payload.rewards) == generation.size, event, "one reward per candidate")
    scoring = Scoring(event.seq, payload.mean, payload.deviation, payload.rewards)
    return replace(state, generation=replace(generation, scoring=scoring))


def _credits_updated(state: RunState, event: RecordedEvent, payload: p.CreditsUpdated) -> RunState:
    generation = open_generation(state, event, payload.generation)
    require(generation.scoring is not None, event, "the generation is not scored")
    require(generation.basis is None, event, "the credits were updated before")
    credits = state.credits.updated(
        (Transition(t.source, t.target), TransitionRecord(t.credit, t.activations))
        for t in payload.transitions
    )
    assert state.graph is not None
    edits = state.settings.edits_per_generation if state.settings.evolution else 0
    basis = EvolutionBasis(event.seq, state.graph, state.pools, credits, state.ledger.left, edits)
    return replace(state, credits=credits, generation=replace(generation, basis=basis))


def _policy_updated(state: RunState, event: RecordedEvent, payload: p.PolicyUpdated) -> RunState:
    generation = open_generation(state, event, payload.generation)
    require(generation.scoring is not None, event, "the generation is not scored")
    require(not generation.policy_updated_seq, event, "the policy was updated before")
    return replace(
        state,
        policy_updates=state.policy_updates + 1,
        policy_digest=payload.parameters_digest,
        generation=replace(generation, policy_updated_seq=event.seq, policy_update=payload),
    )


def _policy_checkpointed(state: RunState, event: RecordedEvent, payload: p.PolicyCheckpointed) -> RunState:
    open_generation(state, event, payload.generation)
    require(payload.policy_updates == state.policy_updates, event, "the policy has been updated since")
    require(payload.parameters_digest == state.policy_digest, event, "the parameters are others")
    saved = SavedPolicy(event.seq, payload.policy_updates, payload.files_digest)
    return replace(state, saved_policies=(*state.saved_policies, saved))


def _validation_started(state: RunState, event: RecordedEvent, payload: p.ValidationStarted) -> RunState:
    generation = open_generation(state, event, payload.generation)
    require(generation.validation is None, event, "the generation was validated before")
    known = {entry.key for entry in state.header.splits.validation}
    require(
        payload.instances and set(payload.instances) <= known,
        event,
        "an instance is not of the validation split",
    )
    return replace(
        state,
        generation=replace(generation, validation=ValidationState(event.seq, payload.instances)),
    )


def _pipelines_decoded(state: RunState, event: RecordedEvent, payload: p.PipelinesDecoded) -> RunState:
    generation = open_generation(state, event, payload.generation)
    validation = generation.validation
    require(
        validation is not None and validation.pipelines is None, event, "no validation waits for pipelines"
    )
    assert validation is not None
    known = all(
        state.operator_of.get(step.implementation) == step.operator
        for steps in payload.pipelines
        for step in steps
    )
    require(payload.pipelines and known, event, "a decoded pipeline uses an unknown implementation")
    validation = replace(validation, pipelines=payload.pipelines, decoded_seq=event.seq)
    return replace(state, generation=replace(generation, validation=validation))


def _validation_scored(state: RunState, event: RecordedEvent, payload: p.ValidationScored) -> RunState:
    generation = open_generation(state, event, payload.generation)
    validation = generation.validation
    require(
        validation is not None
        and validation.pipelines is not None
        and len(validation.outcomes) == len(validation.pipelines) * len(validation.instances),
        event,
        "evaluations of the validation are missing",
    )
    assert validation is not None
    assert validation.pipelines is not None
    require(validation.scores is None, event, "the validation was scored before")
    require(len(payload.scores) == len(validation.pipelines), event, "one score per pipeline")
    validation = replace(validation, scores=payload.scores, scored_seq=event.seq)
    return replace(state, generation=replace(generation, validation=validation))


def _checkpoint_selected(state: RunState, event: RecordedEvent, payload: p.CheckpointSelected) -> RunState:
    open_generation(state, event, payload.generation)
    require(
        state.checkpoint is None or payload.score > state.checkpoint.score,
        event,
        "the checkpoint is no better than the one before",
    )
    checkpoint = ScoredProgram(payload.generation, -1, payload.score, payload.pipeline)
    return replace(
        state,
        checkpoint=checkpoint,
        checkpoint_seq=event.seq,
        checkpoint_updates=payload.policy_updates,
    )


def _generation_completed(state: RunState, event: RecordedEvent, payload: p.GenerationCompleted) -> RunState:
    generation = open_generation(state, event, payload.generation)
    require(generation.policy_updated_seq, event, "the policy has not been updated")
    require(generation.basis is not None, event, "the credits have not been updated")
    assert generation.basis is not None
    require(
        generation.validation is None or generation.validation.scores is not None,
        event,
        "the validation is not over",
    )
    spoken = len(generation.implementation_verdicts) + len(generation.edge_verdicts)
    require(spoken == 2 * generation.basis.edits, event, "verdicts on edits are missing")
    digest = state_digest(state)
    if digest != payload.state_digest:
        raise DigestMismatchError(event.seq, event.type, payload.generation, payload.state_digest, digest)
    assert generation.scoring is not None
    assert generation.basis is not None
    assert generation.policy_update is not None
    assert state.best is not None
    validation = generation.validation
    summary = GenerationSummary(
        number=generation.number,
        candidates=len(generation.scores),
        failures=generation.outcomes.failed_candidates,
        mean=generation.scoring.mean,
        best=max(generation.scores.values()),
        best_so_far=state.best.score,
        validation=max(validation.scores) if validation and validation.scores else None,
        calls=state.ledger.used,
        state_digest=digest,
        graph=generation.basis.graph,
        walks=tuple(
            tuple(step.implementation for step in pipeline.steps)
            for _, pipeline in sorted(generation.pipelines.items())
        ),
        credits=generation.basis.credits,
        policy=generation.policy_update,
    )
    return replace(
        state,
        generation=None,
        completed=generation.number,
        completed_seq=event.seq,
        history=state.history.set(generation.number, summary),
    )


GENERATION_HANDLERS: dict[str, Handler] = {
    "GenerationStarted": _generation_started,
    "PipelineSampled": _pipeline_sampled,
    "EvaluationRecorded": _evaluation_recorded,
    "CandidateScored": _candidate_scored,
    "GenerationScored": _generation_scored,
    "CreditsUpdated": _credits_updated,
    "PolicyUpdated": _policy_updated,
    "PolicyCheckpointed": _policy_checkpointed,
    "ValidationStarted": _validation_started,
    "PipelinesDecoded": _pipelines_decoded,
    "ValidationScored": _validation_scored,
    "CheckpointSelected": _checkpoint_selected,
    "GenerationCompleted": _generation_completed,
}
