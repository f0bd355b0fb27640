"""Edits that are asked for in one generation and made in a later one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest
from immutables import Map
from tests.agents.memory_log import RUN, MemoryLog
from tests.agents.outside_world import Answers
from tests.agents.simulation import EVERY_RULE

from dga2d.agents.edge_evolver import JudgedEdges, parse_proposal
from dga2d.agents.pool_edits import edit_to_ask, stale_reason
from dga2d.agents.proposing.errors import ProposalError
from dga2d.agents.proposing.models import Completion, CompletionRequest
from dga2d.agents.proposing.tasks import ConnectTask
from dga2d.events import Draft, ImplementationId, OperatorId, RecordedEvent
from dga2d.events.payloads import (
    EdgeReplaced,
    GenerationStarted,
    ImplementationRejected,
    LLMCallReserved,
    LLMCallSettled,
    RunResumed,
)
from dga2d.replay.errors import InvariantError
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.fold import fold, fold_all
from dga2d.replay.state.ledger import Call
from dga2d.replay.state.run_state import RunState

if TYPE_CHECKING:
    from tests.agents.simulation import Simulation

BRIEF: dict[str, Any] = {"generations": 6, "pipelines": 2, "batch_size": 1, "edit_lag": 2, "llm_calls": 200}
NONSENSE = {"ImplementTask": ["?", "```python\nimport os\n```"], "ConnectTask": ["{}"]}


def digests(state: RunState) -> list[str]:
    return [state.history[t].state_digest for t in sorted(state.history)]


def taken(state: RunState) -> list[Call]:
    return [call for call in state.ledger.calls.values() if call.ticket is not None]


def lag_of(call: Call) -> int:
    assert call.landed is not None
    assert call.generation is not None
    return call.landed - call.generation


@pytest.mark.parametrize(
    ("changed", "answers"),
    [
        pytest.param({"edits_per_generation": 2}, {}, marks=pytest.mark.slow),
        ({}, NONSENSE),
        ({**EVERY_RULE, "edge_smoke": True, "gate_instances": 1, "generations": 5}, {}),
    ],
    ids=["more edits", "repairs", "every rule"],
)
def test_no_decision_depends_on_how_fast_answers_come(
    simulation: Simulation, changed: dict[str, Any], answers: dict[str, list[str]]
) -> None:
    lagging = replace(simulation.changed(**{**BRIEF, **changed}), model=Answers(answers))
    runs = [replace(lagging, order=n, patience=patience).run() for n, patience in enumerate((1, 60))]
    assert len({tuple(digests(state)) for state, _ in runs}) == 1
    for state, _ in runs:
        assert {lag_of(call) for call in taken(state)} == {2}
        assert not state.ledger.in_flight
        assert not state.bases
    assert lagging.made_again(runs[-1][1])
    subjects = [sorted((c.subject, c.attempt) for c in state.ledger.calls.values()) for state, _ in runs]
    assert subjects[0] == subjects[1]


@dataclass
class Held(Answers):
    """Answers nothing before the generation after the one that asks has begun."""

    given: dict[str, list[str]] = field(default_factory=dict)
    log: MemoryLog = field(default_factory=MemoryLog)

    async def complete(self, request: CompletionRequest) -> Completion:
        if request.subject == "initialize":
            return await super().complete(request)
        asked = next(
            e.generation or 0
            for e in reversed(self.log.events)
            if isinstance(e.payload, LLMCallReserved) and e.payload.subject == request.subject
        )
        async for event in self.log.subscribe(RUN):
            if isinstance(event.payload, GenerationStarted) and event.payload.generation > asked:
                break
        return await super().complete(request)


def test_generations_go_on_while_answers_are_awaited(simulation: Simulation) -> None:
    lagging = simulation.changed(**BRIEF)
    log = lagging.log()
    held = replace(lagging, model=Held(log=log))
    state, there = held.run_in(log)
    assert state.completed == 6
    assert digests(state) == digests(lagging.run()[0])
    flying = {call.generation for call in taken(state)}
    assert max(t or 0 for t in flying) == 4, "no answer is asked for that no generation would take"
    begun = [e.seq for e in there.events if e.type == "GenerationStarted"]
    for event in there.events:
        if isinstance(event.payload, LLMCallSettled) and event.generation is not None:
            assert event.seq > begun[event.generation], "the next generation has begun"


def test_answers_that_came_are_taken_in_the_next_generation(simulation: Simulation) -> None:
    early = replace(simulation.changed(**{**BRIEF, "edit_landing": "arrival"}), patience=2)
    state, log = early.run()
    assert {lag_of(call) for call in taken(state)} <= {1, 2}
    assert any(lag_of(call) == 1 for call in taken(state))
    assert not state.ledger.in_flight
    assert early.made_again(log)


def test_what_no_longer_fits_is_refused_without_another_call(simulation: Simulation) -> None:
    lagging = simulation.changed(**{**BRIEF, "generations": 8, "pool_limit": 1})
    state, log = lagging.run()
    stale = [c for c in state.ledger.calls.values() if (c.diagnostic or "").startswith("stale:")]
    assert {call.purpose for call in stale} == {"implement", "connect"}
    assert all(state.ledger.calls_for(call.subject) == (call,) for call in stale)
    refused = [e.payload for e in log.events if isinstance(e.payload, ImplementationRejected)]
    assert all(payload.is_final for payload in refused if payload.stage == "stale")
    assert state.ledger.rejections.in_a_row == 0, "nobody's fault"
    assert lagging.made_again(log)


def landing(simulation: Simulation) -> RunState:
    """A state in which an answer for a pool is about to be taken."""
    state = RunState()
    for event in simulation.changed(**BRIEF).run()[1].events:
        state = fold(state, event)
        basis = None if state.generation is None else state.generation.basis
        if basis is not None and basis.landing and event.type == "CreditsUpdated":
            return state
    raise AssertionError


def with_basis(state: RunState, **changed: Any) -> RunState:
    assert state.generation is not None
    assert state.generation.basis is not None
    basis = replace(state.generation.basis, **changed)
    return replace(state, generation=replace(state.generation, basis=basis))


def test_an_edit_is_judged_against_the_state_it_lands_in(simulation: Simulation) -> None:
    state = landing(simulation)
    assert state.generation is not None
    basis = state.generation.basis
    assert basis is not None
    slot = basis.asking_slots
    ticket = state.ledger.calls[basis.landing[0]].ticket
    assert ticket is not None
    operator, parent = ticket.operator, ticket.parent
    assert operator is not None
    assert parent is not None
    assert stale_reason(state, slot) is None
    assert edit_to_ask(state, slot).parent == parent
    graph = replace(basis.graph, operators=tuple(o for o in basis.graph.operators if o != operator))
    assert stale_reason(with_basis(state, graph=graph), slot) == f"{operator} has left the graph"
    other = ImplementationId(f"{operator}.other")
    gone = with_basis(state, pools={**basis.pools, operator: (other,)})
    assert stale_reason(gone, slot) == f"{parent}, which it was to improve on, has left the pool"
    configured = replace(gone, configured=Map({other: parent}))
    assert stale_reason(configured, slot) is None
    assert edit_to_ask(configured, slot).parent == other
    kept = with_basis(state, incumbent_edits=basis.incumbent_edits or 1)
    full = replace(kept, settings=kept.settings.model_copy(update={"pool_limit": 1}))
    operators = {step.operator for step in state.header.baseline}
    if operator in operators:
        reason = stale_reason(full, slot + 1)
        assert reason is None or "full" in reason


def test_an_edge_that_was_cut_meanwhile_is_no_fault_of_the_answer(simulation: Simulation) -> None:
    _, log = simulation.changed(**BRIEF).run()
    edit = next(e for e in log.events if isinstance(e.payload, EdgeReplaced))
    assert isinstance(edit.payload, EdgeReplaced)
    before, call = fold_all(log.events[: edit.seq - 1]), edit.payload.call
    removed, added = edit.payload.removed, edit.payload.added
    text = f'{{"add_edges": {[list(e) for e in added]}, "delete_edges": []}}'.replace("'", '"')
    graph = before.bases[before.ledger.calls[call].generation or 0].graph
    task = ConnectTask(
        card=simulation.card,
        operators=tuple(simulation.prompt_context.contracts[o] for o in graph.operators),
        edges=(),
        remove=removed[0],
        mode="replace",
        max_length=before.settings.max_length,
    )
    task.__dict__["graph"] = graph
    answer = JudgedEdges(task, text)
    assert parse_proposal(before, call, answer) == (removed, added)
    assert before.graph is not None
    with pytest.raises(ProposalError, match="is not an edge of the graph") as info:
        parse_proposal(replace(before, graph=before.graph.edit(removed, ())), call, answer)
    assert info.value.stage == "stale"
    with pytest.raises(ProposalError) as info:
        parse_proposal(before, call, answer._replace(text="{}"))
    assert info.value.stage == "keys", "it never fitted"


@pytest.mark.parametrize("limit", [0, 1, 3, 6])
def test_the_last_calls_are_taken_before_the_run_ends(simulation: Simulation, limit: int) -> None:
    small = simulation.changed(**{**BRIEF, "generations": 12, "llm_calls": limit, "edits_per_generation": 2})
    state, _ = replace(small, model=Answers(NONSENSE)).run()
    assert state.reason == f"all {limit} model calls spent"
    assert state.ledger.used == limit
    assert all(call.verdict is not None for call in state.ledger.calls.values())
    assert state.history[state.completed].validation is not None


def test_a_run_whose_answers_are_all_rejected_ends(simulation: Simulation) -> None:
    small = simulation.changed(**{**BRIEF, "generations": 30, "rejection_limit": 4})
    hopeless = replace(small, model=Answers({"ImplementTask": ["?"] * 3}))
    state, log = hopeless.run()
    assert state.reason == state.ledger.rejections.sentence
    assert not state.ledger.in_flight
    assert hopeless.made_again(log)


@pytest.mark.parametrize(
    ("landing_rule", "step"),
    [("fixed", 3), ("arrival", 4), pytest.param("fixed", 1, marks=pytest.mark.slow)],
)
def test_a_run_stopped_with_edits_in_flight_goes_on(
    simulation: Simulation, landing_rule: str, step: int
) -> None:
    small = simulation.changed(**{**BRIEF, "generations": 5, "edit_landing": landing_rule})
    small = replace(small, patience=40)
    _, log = small.run()
    flying = 0
    asked = [e.seq for e in log.events if e.type == "LLMCallReserved" and e.generation]
    for seq in asked[::step]:
        before = fold_all(log.events[:seq])
        again, resumed = replace(small, order=seq).run(log.until(seq))
        assert again.status == "completed", f"stopped after event {seq}"
        assert not again.ledger.in_flight
        lost = {call.number for call in before.ledger.calls.values() if call.status == "reserved"}
        flying += len(before.ledger.in_flight)
        assert {c.number for c in again.ledger.calls.values() if c.status == "abandoned"} == lost
        assert all(c.status == "abandoned" or c.verdict for c in again.ledger.calls.values())
        assert small.made_again(resumed)
    assert flying


@pytest.mark.parametrize(
    "changed",
    [
        {"edit_lag": 0},
        *(pytest.param(c, marks=pytest.mark.slow) for c in ({"edit_lag": 1}, {"generations": 3})),
    ],
    ids=str,
)
def test_the_lag_may_change_with_edits_in_flight(
    simulation: Simulation, record: Callable[[int, Draft], RecordedEvent], changed: dict[str, Any]
) -> None:
    small = replace(simulation.changed(**BRIEF), model=Answers(NONSENSE))
    _, log = small.run()
    ends = [e.seq for e in log.events if e.type in ("GenerationStarted", "CreditsUpdated")]
    for seq in ends[4:6]:
        cut = log.until(seq)
        resumed = RunResumed(code_version="test", epoch=2, changed=changed)
        cut.events.append(record(seq + 1, Draft("conductor", resumed)))
        state, whole = small.run(cut)
        assert state.status == "completed", f"resumed after event {seq}"
        assert small.made_again(whole)


def test_a_ticket_that_lies_is_refused(
    simulation: Simulation, record: Callable[[int, Draft], RecordedEvent]
) -> None:
    _, log = simulation.changed(**BRIEF).run()
    asked = next(
        e
        for e in log.events
        if isinstance(e.payload, LLMCallReserved) and e.payload.ticket and e.agent == "implementation_evolver"
    )
    before, payload = fold_all(log.events[: asked.seq - 1]), asked.payload
    assert isinstance(payload, LLMCallReserved)
    assert payload.ticket is not None
    lies = [
        (payload.ticket.model_copy(update={"lands": payload.ticket.lands + 1}), "it lands elsewhere"),
        (payload.ticket.model_copy(update={"slot": 99}), "there is no slot 99"),
    ]
    for ticket, reason in lies:
        draft = Draft(
            "implementation_evolver", payload.model_copy(update={"ticket": ticket}), asked.generation
        )
        with pytest.raises(InvariantError, match=reason):
            fold(before, record(asked.seq, draft))


def test_turns_need_answers_that_are_waited_for() -> None:
    with pytest.raises(ValueError, match="turns = 2 needs edit_lag = 0"):
        RunSettings(turns=2, gate_instances=2, prompt_edition=3, edit_lag=1)


def test_edges_under_way_are_not_asked_for_again(simulation: Simulation) -> None:
    state, _ = simulation.changed(**{**BRIEF, "generations": 9, "edit_lag": 3}).run()
    flying: dict[tuple[OperatorId, OperatorId], int] = {}
    for call in taken(state):
        if call.ticket is not None and call.ticket.edge is not None and call.attempt == 0:
            asked = call.generation or 0
            assert flying.get(call.ticket.edge, 0) < asked, "its answer was not taken before"
            flying[call.ticket.edge] = call.landed or 0
    assert flying
