"""Fold handlers for the run as a whole, the initial graph, the held-out test, and for the training of a
learned solver, whose log holds nothing else.
"""

from __future__ import annotations

from typing import Any

from immutables import Map
from pydantic import ValidationError

from dga2d.events import BlobDigest, ImplementationId, OperatorId, RecordedEvent
from dga2d.events import payloads as p
from dga2d.replay.errors import DigestMismatchError, InvariantError
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.credit import CreditTable
from dga2d.replay.state.digest import state_digest
from dga2d.replay.state.graph import END, START, OperatorGraph, structure_violation
from dga2d.replay.state.handler import folds, judge, replace, require
from dga2d.replay.state.ledger import Ledger
from dga2d.replay.state.run_state import RunState, TestState
from dga2d.replay.state.training_state import TrainingState

VALUES_BEFORE_SETTINGS = {
    "calibration": "off",
    "checkpoint_margin": 0.0,
    "checkpoint_rule": "pairs_and_score",
    "rejection_limit": 0,
}
"""Values under which old logs were decided, for settings that came later with another default."""


@folds(p.RunStarted)
def _run_started(state: RunState, event: RecordedEvent, payload: p.RunStarted) -> RunState:
    require(event.seq == 1, event, "a run starts once, with its first event")
    settings = _settings(event, {**VALUES_BEFORE_SETTINGS, **payload.settings})
    sources: dict[ImplementationId, BlobDigest] = {}
    operator_of: dict[ImplementationId, OperatorId] = {}
    for operator in payload.library:
        for implementation in operator.implementations:
            require(
                implementation.id not in sources, event, f"{implementation.id} is in two operators' pools"
            )
            sources[implementation.id] = implementation.source
            operator_of[implementation.id] = operator.id
    known = {entry.key for entry in payload.splits.train}
    require(payload.batch and set(payload.batch) <= known, event, "the batch is not of the training split")
    require(
        all(operator_of.get(step.implementation) == step.operator for step in payload.baseline),
        event,
        "the baseline is not of the library",
    )
    return RunState(
        status="running",
        started=payload,
        settings=settings,
        code_version=payload.code_version,
        process_seq=event.seq,
        sources=Map(sources),
        operator_of=Map(operator_of),
        kernels=Map({kernel.id: kernel.source for kernel in payload.kernels or ()}),
        temperature=settings.temperature,
        credits=CreditTable(order=settings.credit_context),
        ledger=Ledger(settings.llm_calls, settings.llm_tokens, settings.llm_microusd),
    )


def _settings(event: RecordedEvent, values: dict[str, Any]) -> RunSettings:
    try:
        return RunSettings.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        raise InvariantError(event.seq, event.type, f"setting {name}: {first['msg']}") from error


@folds(p.RunPaused, follows_end=True)
def _run_paused(state: RunState, event: RecordedEvent, payload: p.RunPaused) -> RunState:
    """Pause a run that goes on; one that was over stays as it is when its held-out test pauses."""
    if state.status != "running":
        return state
    return replace(state, status="paused", reason=payload.reason)


@folds(p.RunResumed, follows_end=True)
def _run_resumed(state: RunState, event: RecordedEvent, payload: p.RunResumed) -> RunState:
    settings = _settings(event, {**state.settings.model_dump(), **payload.changed})
    for limit in ("llm_calls", "llm_tokens", "llm_money_usd"):
        unchanged = getattr(settings, limit) == getattr(state.settings, limit)
        require(unchanged, event, f"the limit {limit} cannot be changed")
    return replace(
        state,
        status="running",
        reason="",
        settings=settings,
        code_version=payload.code_version,
        process_seq=event.seq,
        suspension="",
    )


@folds(p.RunForked)
def _run_forked(state: RunState, event: RecordedEvent, payload: p.RunForked) -> RunState:
    """Go on with another run from here, as if it were resumed."""
    require(payload.parent_seq == event.seq - 1, event, "the fork is elsewhere")
    resumed = p.RunResumed(code_version=payload.code_version, epoch=payload.epoch, changed=payload.changed)
    return replace(_run_resumed(state, event, resumed), parent=(payload.parent, payload.parent_seq))


@folds(p.RunCompleted)
def _run_completed(state: RunState, event: RecordedEvent, payload: p.RunCompleted) -> RunState:
    require(state.graph is not None, event, "there is no graph yet")
    require(state.generation is None, event, "a generation is still open")
    digest = state_digest(state)
    if digest != payload.state_digest:
        raise DigestMismatchError(event.seq, event.type, state.completed, payload.state_digest, digest)
    return replace(state, status="completed", reason=payload.reason)


@folds(p.RunFailed, follows_end=True)
def _run_failed(state: RunState, event: RecordedEvent, payload: p.RunFailed) -> RunState:
    """Fail a run that goes on; one that was over stays as it is when its held-out test fails."""
    if state.status != "running":
        return state
    return replace(state, status="failed", reason=f"{payload.reason}: {payload.detail}")


@folds(p.GraphInitialized)
def _graph_initialized(state: RunState, event: RecordedEvent, payload: p.GraphInitialized) -> RunState:
    require(state.graph is None, event, "the graph exists already")
    library = {operator.id: operator for operator in state.header.library}
    unknown = [operator for operator in payload.operators if operator not in library]
    require(not unknown, event, f"operators are not in the library: {', '.join(unknown)}")
    nodes = {START, END, *payload.operators}
    require(
        all(end in nodes for edge in payload.edges for end in edge), event, "an edge leads out of the graph"
    )
    require(not any(s == END or t == START for s, t in payload.edges), event, "an edge enters START")
    graph = OperatorGraph(
        tuple(sorted(payload.operators)),
        frozenset(o for o in payload.operators if library[o].requires == "none"),
        frozenset(payload.edges),
    )
    require(graph.has_route(state.settings.max_length), event, "no route leads from START to END")
    _check_structure(state, event, graph)
    require(set(payload.pools) == set(payload.operators), event, "pools and operators differ")
    for operator, pool in payload.pools.items():
        require(
            0 < len(pool) <= state.settings.pool_limit, event, f"pool of {operator} has {len(pool)} members"
        )
        require(
            all(state.operator_of.get(c) == operator for c in pool),
            event,
            f"pool of {operator} holds another operator's implementation",
        )
    if payload.call is not None:
        state = judge(state, event, payload.call, "accepted")
    return replace(
        state,
        graph=graph,
        graph_seq=event.seq,
        pools=Map({operator: tuple(sorted(pool)) for operator, pool in payload.pools.items()}),
        temperature=payload.temperature,
    )


def _check_structure(state: RunState, event: RecordedEvent, graph: OperatorGraph) -> None:
    if (reason := structure_violation(graph.edges, state.settings.structure)) is not None:
        raise InvariantError(event.seq, event.type, reason)


@folds(p.GraphRejected)
def _graph_rejected(state: RunState, event: RecordedEvent, payload: p.GraphRejected) -> RunState:
    return judge(state, event, payload.call, "rejected", payload.reason)


@folds(p.TestStarted, follows_end=True)
def _test_started(state: RunState, event: RecordedEvent, payload: p.TestStarted) -> RunState:
    """Start a test. It has a process of its own: a run that was killed does not go on until it is resumed."""
    before = state.test
    require(
        payload.attempt == (before.attempt if before else 0) + 1, event, "test attempts are counted 1, 2, …"
    )
    require(before is None or payload.forced, event, "a second test must be forced")
    require(before is None or before.mean_gaps is not None, event, "another test is open")
    brought = payload.hand_tuned or ()
    is_one_each = all(len(operator.implementations) == 1 for operator in brought)
    require(is_one_each, event, "the hand-tuned baseline has one implementation per operator")
    steps = {step for candidate in payload.candidates for step in candidate.pipeline}
    own = {(operator.id, operator.implementations[0].id) for operator in brought}
    known = all(
        state.operator_of.get(step.implementation) == step.operator
        or (step.operator, step.implementation) in own
        for step in steps
    )
    require(payload.candidates and known, event, "a candidate uses an unknown implementation")
    held_out = {entry.key for entry in state.header.splits.test}
    require(
        payload.instances and set(payload.instances) <= held_out,
        event,
        "an instance is not of the test split",
    )
    return replace(
        state,
        status="paused" if state.status == "running" else state.status,
        reason="a held-out test took the log over" if state.status == "running" else state.reason,
        test=TestState(
            event.seq,
            payload.attempt,
            payload.forced,
            payload.candidates,
            payload.instances,
            hand_tuned=brought,
        ),
    )


@folds(p.TestScored, follows_end=True)
def _test_scored(state: RunState, event: RecordedEvent, payload: p.TestScored) -> RunState:
    test = require(state.test, event, "no such test is open")
    require(test.attempt == payload.attempt, event, "no such test is open")
    require(test.mean_gaps is None, event, "the test was scored before")
    needed = len(test.candidates) * len(test.instances)
    require(len(test.outcomes) == needed, event, "evaluations of the test are missing")
    require(len(payload.mean_gaps) == len(test.candidates), event, "one mean gap per candidate")
    return replace(state, test=replace(test, mean_gaps=payload.mean_gaps))


TRAINING_TYPES = frozenset(
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
