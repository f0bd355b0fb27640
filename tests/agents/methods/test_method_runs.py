"""Whole runs of methods that evolve complete programs, on a log in memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest
from tests.agents.made_up_library import made_up_operator
from tests.agents.methods.conftest import CALLS, METHODS, small
from tests.agents.outside_world import Answers
from tests.agents.simulation import Simulation

from dga2d.agents.method_runner import ROUND
from dga2d.agents.ports import EvaluationRequest
from dga2d.agents.proposing.models import Completion, CompletionRequest
from dga2d.domains.core.components import components_of, split_component
from dga2d.domains.core.contract import Operator
from dga2d.domains.core.registry import get_domain
from dga2d.events import RecordedEvent
from dga2d.events.payloads import (
    EvaluationRecorded,
    LLMCallReserved,
    PipelinesDecoded,
    PopulationUpdated,
    ProgramRejected,
    ProgramWritten,
)
from dga2d.replay._state_codec import decode_state, encode_state
from dga2d.replay.state.digest import state_digest
from dga2d.replay.state.fold import fold, fold_all
from dga2d.replay.state.run_state import RunState
from dga2d.replay.state.search_state import PROGRAM
from dga2d.runtime.errors import SettingsError
from dga2d.runtime.inspection.call_views import search_view, trials_view
from dga2d.runtime.runs.config import make_settings

if TYPE_CHECKING:
    from tests.agents.memory_log import MemoryLog

    Run = tuple[Simulation, RunState, MemoryLog]

TWO_OFTEN = [
    pytest.param(method, marks=() if method in ("eoh", "tree") else pytest.mark.slow) for method in METHODS
]
"""Methods, of which one with a population and the tree search are tried each time, the others if slow."""


def digests(state: RunState) -> list[str]:
    return [state.history[number].state_digest for number in sorted(state.history)]


def test_a_run_ends_with_its_calls_and_validates_its_best_program(method_run: Run) -> None:
    _, state, log = method_run
    assert state.status == "completed"
    assert state.ledger.used <= CALLS
    assert sum(isinstance(event.payload, LLMCallReserved) for event in log.events) == state.ledger.used
    assert state.best is not None
    assert [step.operator for step in state.best.steps] == [PROGRAM]
    assert state.checkpoint is not None
    decoded = [e.payload.pipelines for e in log.events if isinstance(e.payload, PipelinesDecoded)]
    assert len(decoded) > 1
    assert state.best.steps in decoded[-1]
    assert state.header.baseline in decoded[0]


def test_every_decision_is_made_again(method_run: Run) -> None:
    simulation, state, log = method_run
    assert simulation.made_again(log) > state.ledger.used


def test_a_state_survives_its_snapshot(method_run: Run) -> None:
    _, state, _ = method_run
    assert decode_state(encode_state(state)) == state


def test_every_program_is_evaluated_once_and_every_text_is_another(method_run: Run) -> None:
    _, state, log = method_run
    written = [e.payload.implementation for e in log.events if isinstance(e.payload, ProgramWritten)]
    assert set(written) == set(state.search.programs)
    numbers = sorted(program.number for program in state.search.programs.values())
    assert numbers[0] == 1
    assert len(set(numbers)) == len(numbers)


def test_what_a_method_works_on_is_its_pool(method_run: Run) -> None:
    _, state, log = method_run
    last = [e.payload for e in log.events if isinstance(e.payload, PopulationUpdated)][-1]
    assert state.search.population == last.population == state.pools[PROGRAM]


@pytest.mark.parametrize("method", TWO_OFTEN)
def test_the_order_in_which_answers_come_changes_no_decision(method: str) -> None:
    runs = [replace(small(method, 13, 2), order=order).run()[0] for order in range(2)]
    assert len({tuple(digests(state)) for state in runs}) == 1


@pytest.mark.parametrize("method", TWO_OFTEN)
def test_a_killed_run_goes_on_to_the_same_end(method: str) -> None:
    simulation = small(method, 13, 2)
    whole, log = simulation.run()
    for seq in range(20, len(log.events), len(log.events) // 2):
        _, cut = simulation.run(log.until(seq))
        state = fold_all(cut.events)
        assert state.status == "completed"
        assert state.ledger.used <= 13
        lost = [call for call in state.ledger.calls.values() if call.status == "abandoned"]
        if not lost:
            assert set(state.search.programs) == set(whole.search.programs)
            assert digests(state)[-1] == digests(whole)[-1]
        simulation.made_again(cut)


def test_every_prefix_folds_to_the_state_it_was_folded_to(method_run: Run) -> None:
    _, _, log = method_run
    state = RunState()
    for event in log.events:
        state = fold(state, event)
        if event.seq % 41 == 0:
            assert state_digest(fold_all(log.events[: event.seq])) == state_digest(state)


def test_rounds_go_as_their_table_says(method_run: Run) -> None:
    _, _, log = method_run
    table = {(row.event, row.writer, cause) for row in ROUND for cause in row.after}
    seen = set()
    for event in log.events:
        cause = None if event.caused_by is None else log.events[event.caused_by - 1]
        if event.generation is None or cause is None or event.type in ELSEWHERE:
            continue
        if isinstance(event.payload, EvaluationRecorded) and event.payload.split != "train":
            continue
        seen.add((named(event), event.agent, named(cause)))
    assert seen <= table


ELSEWHERE = ("GenerationStarted", "CheckpointSelected", "ValidationScored", "ChallengersCompared")


def named(event: RecordedEvent) -> str:
    payload = event.payload
    return f"{event.type} ({payload.split})" if isinstance(payload, EvaluationRecorded) else event.type


def test_an_answer_that_is_no_program_is_repaired_at_the_cost_of_a_call() -> None:
    bad = ["no code", "```python\nx = 1\n```"]
    simulation = replace(small("random", 9), model=Answers({"ProgramTask": bad}))
    state, log = simulation.run()
    rejected = [e.payload for e in log.events if isinstance(e.payload, ProgramRejected)]
    assert [r.stage for r in rejected if r.slot == 0][:2] == ["code_block", "signature"]
    assert state.ledger.used == 9
    assert isinstance(simulation.model, Answers)
    assert len(simulation.model.requests) == 9  # by the endpoint's own count
    assert len(state.search.programs) == 1 + 3
    assert "signature" in model_prompt(simulation)
    simulation.made_again(log)


def model_prompt(simulation: Simulation) -> str:
    assert isinstance(simulation.model, Answers)
    return simulation.model.requests[-1].prompt.text


def test_what_fails_when_it_is_evaluated_does_not_survive() -> None:
    def fails(request: EvaluationRequest) -> bool:
        return request.key.endswith("/1/" + request.instance.key) and "train/2" in request.key

    simulation = replace(small("eoh", 6), fails=fails)
    state, _ = simulation.run()
    failed = [program for program in state.search.programs.values() if program.failed]
    assert [(program.round, program.slot) for program in failed] == [(2, 1)]
    assert failed[0].id not in state.search.population
    assert failed[0].score == state.settings.failure_reward


@pytest.mark.parametrize("calls", [0, 1, 2])
def test_a_run_with_hardly_any_call_ends_in_order(calls: int) -> None:
    state, _ = small("eoh", calls).run()
    assert state.status == "completed"
    assert state.ledger.used == calls
    assert state.checkpoint is not None
    assert state.reason == f"all {calls} calls made"


def test_there_is_no_method_of_that_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingsError, match=r"setting method 'nope': expected dga2d, eoh"):
        make_settings({}, {"method": "nope"})
    with pytest.raises(SettingsError, match="allow it with DGA2D_METHODS=os:abort"):
        make_settings({}, {"method": "os:abort"})
    monkeypatch.setenv("DGA2D_METHODS", "mine:Method,nope:Class")
    with pytest.raises(SettingsError, match="No module named"):
        make_settings({}, {"method": "nope:Class"})


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_run_killed_at_any_of_twenty_moments_makes_the_same_decisions(method: str) -> None:
    simulation = small(method, 13, 2)
    whole, log = simulation.run()
    for seq in range(3, len(log.events), max(1, len(log.events) // 20)):
        _, cut = simulation.run(log.until(seq))
        state = fold_all(cut.events)
        assert state.ledger.used <= 13
        simulation.made_again(cut)
        if all(call.status == "settled" for call in state.ledger.calls.values()):
            assert set(state.search.programs) == set(whole.search.programs)
            assert state.search == whole.search


@pytest.mark.slow
@pytest.mark.parametrize(
    "method",
    [
        pytest.param(method, marks=() if method in ("reevo", "tree") else pytest.mark.long)
        for method in METHODS
    ],
)
def test_no_method_makes_more_than_500_calls_by_the_endpoints_own_count(method: str) -> None:
    """With an endpoint that answers every seventh call with nonsense."""
    endpoint = Unreliable()
    state, _ = replace(small(method, 500, 0), model=endpoint).run()
    assert len(endpoint.requests) == state.ledger.used <= 500
    assert state.ledger.used > 480 or state.reason.startswith("no further round fits")
    assert state.status == "completed"


class Unreliable(Answers):
    """Offline answers, every seventh of which is none."""

    def __init__(self) -> None:
        super().__init__({})

    async def complete(self, request: CompletionRequest) -> Completion:
        answer = await super().complete(request)
        return replace(answer, text="") if len(self.requests) % 7 == 0 else answer


def test_a_run_is_shown_with_its_programs_and_reported(method_run: Run) -> None:
    _, state, _ = method_run
    view = search_view(state)
    assert view is not None
    assert len(view["programs"]) == len(state.search.programs)
    assert [row["id"] for row in view["programs"] if row["is_in_population"]] == [
        p.id
        for p in sorted(state.search.programs.values(), key=lambda p: p.number)
        if p.id in state.search.population
    ]
    assert trials_view(state)["tried"] == len(state.search.programs) - 1


@dataclass(frozen=True)
class ComponentRun(Simulation):
    """A run whose programs differ in one function."""

    @property
    def first_operators(self) -> tuple[Operator, ...]:
        (component,) = components_of(get_domain("tsp"))
        program = made_up_operator(PROGRAM, "program", "none")
        code = replace(program.implementations[0], source=component.source)
        return (*self.operators, replace(program, implementations=(code,)))


@pytest.mark.parametrize(
    "method", [pytest.param(m, marks=() if m == "eoh" else pytest.mark.slow) for m in METHODS if m != "tree"]
)
def test_a_component_is_evolved_within_its_skeleton(method: str) -> None:
    settings = small(method, 13, 2).changed(space="component").settings
    simulation = ComponentRun(settings)
    state, log = simulation.run()
    assert state.status == "completed"
    assert len(state.search.programs) > 1
    assert state.ledger.used <= 13
    texts = [log.blobs[state.sources[name]].decode() for name in state.search.programs]
    assert len({split_component(text)[1] for text in texts}) == 1
    assert len({split_component(text)[0] for text in texts}) == len(texts)
    assert simulation.made_again(log) > state.ledger.used


def test_a_component_needs_a_method_that_evolves_programs() -> None:
    for method in ("dga2d", "tree"):
        with pytest.raises(SettingsError, match=f"space = component needs another method than {method}"):
            make_settings({}, {"method": method, "space": "component"})
