"""Fold handlers for the training of a learned solver, whose log holds nothing else."""

from __future__ import annotations

from dga2d.events import RecordedEvent
from dga2d.events import payloads as p
from dga2d.replay.state.handler import folds, replace, require
from dga2d.replay.state.run_state import RunState
from dga2d.replay.state.training_state import TrainingState

TYPES = frozenset(
    model.__name__
    for model in (
        p.TrainingStarted,
        p.TrainingResumed,
        p.TrainingCheckpointed,
        p.TrainingPaused,
        p.TrainingFinished,
    )
)
"""All that the log of a training may hold."""


@folds(p.TrainingStarted)
def _training_started(state: RunState, event: RecordedEvent, payload: p.TrainingStarted) -> RunState:
    require(event.seq == 1, event, "a training starts once, with its first event")
    training = TrainingState(
        started=payload,
        budget_steps=payload.budget_steps,
        budget_hours=payload.budget_hours,
        devices=(payload.device,),
    )
    return RunState(
        status="running", code_version=payload.code_version, process_seq=event.seq, training=training
    )


@folds(p.TrainingResumed, follows_end=True)
def _training_resumed(state: RunState, event: RecordedEvent, payload: p.TrainingResumed) -> RunState:
    training = _training(state, event)
    require(payload.step >= training.step, event, f"step {training.step} was measured before")
    training = replace(
        training,
        budget_steps=payload.budget_steps,
        budget_hours=payload.budget_hours,
        devices=(*training.devices, payload.device),
    )
    return replace(
        state,
        status="running",
        reason="",
        code_version=payload.code_version,
        process_seq=event.seq,
        training=training,
    )


@folds(p.TrainingCheckpointed)
def _training_checkpointed(
    state: RunState, event: RecordedEvent, payload: p.TrainingCheckpointed
) -> RunState:
    training = _training(state, event)
    require(payload.step > training.step, event, f"step {training.step} was measured before")
    return replace(state, training=replace(training, points=(*training.points, payload)))


@folds(p.TrainingPaused)
def _training_paused(state: RunState, event: RecordedEvent, payload: p.TrainingPaused) -> RunState:
    _training(state, event)
    return replace(state, status="paused", reason=payload.reason)


@folds(p.TrainingFinished)
def _training_finished(state: RunState, event: RecordedEvent, payload: p.TrainingFinished) -> RunState:
    training = _training(state, event)
    require(payload.step == training.step, event, "its last step was not measured")
    reason = f"{payload.step} steps done"
    return replace(
        state, status="completed", reason=reason, training=replace(training, weights=payload.weights)
    )


def _training(state: RunState, event: RecordedEvent) -> TrainingState:
    return require(state.training, event, "the log is not that of a training")
