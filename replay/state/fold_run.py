"""Fold handlers for the run as a whole, the initial graph and the held-out test."""

from __future__ import annotations

from dataclasses import replace

from immutables import Map

from dga2d.events import BlobDigest, ImplementationId, OperatorId, RecordedEvent
from dga2d.events import payloads as p
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.graph import OperatorGraph
from dga2d.replay.state.invariants import Handler, require
from dga2d.replay.state.ledger import Ledger
from dga2d.replay.state.run_state import Outcome, RunState, TestState


def _run_started(state: RunState, event: RecordedEvent, payload: p.RunStarted) -> RunState:
    require(event.seq == 1, event, "a run starts once, with its first event")
    settings = RunSettings.model_validate(payload.settings)
    sources: dict[ImplementationId, BlobDigest] = {}
    operator_of: dict[ImplementationId, OperatorId] = {}
    for operator in payload.library:
        for implementation in operator.implementations:
            require(
                implementation.id not in sources, event, f"{implementation.id} is in two operators' pools"
            )
            sources[implementation.id] = implementation.source
            operator_of[implementation.id] = operator.id
    return RunState(
        status="running",
        started=payload,
        settings=settings,
        code_version=payload.code_version,
        process_seq=event.seq,
        sources=Map(sources),
        operator_of=Map(operator_of),
        temperature=settings.temperature,
        ledger=Ledger(limit=settings.llm_calls),
    )


def _run_paused(state: RunState, event: RecordedEvent, payload: p.RunPaused) -> RunState:
    return replace(state, status="paused", reason=payload.reason)


def _run_resumed(state: RunState, event: RecordedEvent, payload: p.RunResumed) -> RunState:
    require(state.started is not None, event, "the run has not started")
    settings = RunSettings.model_validate({**state.settings.model_dump(), **payload.changed})
    require(
        settings.llm_calls == state.settings.llm_calls, event, "the limit of model calls cannot be changed"
    )
    return replace(
        state,
        status="running",
        reason="",
        settings=settings,
        code_version=payload.code_version,
        process_seq=event.seq,
    )


def _run_completed(state: RunState, event: RecordedEvent, payload: p.RunCompleted) -> RunState:
    require(state.generation is None, event, "a generation is still open")
    return replace(state, status="completed", reason=payload.reason)


def _run_failed(state: RunState, event: RecordedEvent, payload: p.RunFailed) -> RunState:
    return replace(state, status="failed", reason=f"{payload.reason}: {payload.detail}")


def _graph_initialized(state: RunState, event: RecordedEvent, payload: p.GraphInitialized) -> RunState:
    require(state.graph is None, event, "the graph exists already")
    library = {operator.id: operator for operator in state.header.library}
    unknown = [operator for operator in payload.operators if operator not in library]
    require(not unknown, event, f"operators are not in the library: {', '.join(unknown)}")
    graph = OperatorGraph(
        tuple(sorted(payload.operators)),
        frozenset(o for o in payload.operators if library[o].requires == "none"),
        frozenset(payload.edges),
    )
    require(graph.has_route(state.settings.max_length), event, "no route leads from START to END")
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
    ledger = state.ledger if payload.call is None else state.ledger.judged(payload.call, "accepted")
    return replace(
        state,
        graph=graph,
        graph_seq=event.seq,
        pools=Map({operator: tuple(sorted(pool)) for operator, pool in payload.pools.items()}),
        temperature=payload.temperature,
        ledger=ledger,
    )


def _graph_rejected(state: RunState, event: RecordedEvent, payload: p.GraphRejected) -> RunState:
    return replace(state, ledger=state.ledger.judged(payload.call, "rejected", payload.reason))


def _test_started(state: RunState, event: RecordedEvent, payload: p.TestStarted) -> RunState:
    before = state.test
    require(
        payload.attempt == (before.attempt if before else 0) + 1, event, "test attempts are counted 1, 2, …"
    )
    require(before is None or payload.forced, event, "a second test must be forced")
    return replace(
        state,
        test=TestState(event.seq, payload.attempt, payload.forced, payload.candidates, payload.instances),
    )


def record_test_outcome(state: RunState, event: RecordedEvent, payload: p.EvaluationRecorded) -> RunState:
    """Fold of a held-out evaluation."""
    test = state.test
    require(test is not None and test.attempt == payload.generation, event, "no such test is open")
    assert test is not None
    key = (payload.candidate, payload.instance)
    require(0 <= payload.candidate < len(test.candidates), event, "no such candidate in the test")
    require(payload.instance in test.instances, event, f"{payload.instance} is not part of the test")
    require(key not in test.outcomes, event, "the evaluation was recorded before")
    outcomes = test.outcomes.set(key, Outcome(payload.objective, payload.failure, payload.trace))
    return replace(state, test=replace(test, outcomes=outcomes, outcomes_seq=event.seq))


def _test_scored(state: RunState, event: RecordedEvent, payload: p.TestScored) -> RunState:
    test = state.test
    require(test is not None and test.attempt == payload.attempt, event, "no such test is open")
    assert test is not None
    return replace(state, test=replace(test, mean_gaps=payload.mean_gaps))


RUN_HANDLERS: dict[str, Handler] = {
    "RunStarted": _run_started,
    "RunPaused": _run_paused,
    "RunResumed": _run_resumed,
    "RunCompleted": _run_completed,
    "RunFailed": _run_failed,
    "GraphInitialized": _graph_initialized,
    "GraphRejected": _graph_rejected,
    "TestStarted": _test_started,
    "TestScored": _test_scored,
}
