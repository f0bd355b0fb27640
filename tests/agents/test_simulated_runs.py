"""Whole runs of the real agents on a log in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.agents.simulation import EVERY_RULE

from dga2d.events import Draft, RecordedEvent
from dga2d.events.payloads import PipelinesDecoded, RunResumed
from dga2d.replay.state.digest import state_digest
from dga2d.replay.state.fold import fold, fold_all
from dga2d.replay.state.run_state import RunState

if TYPE_CHECKING:
    from tests.agents.simulation import Simulation


def digests(state: RunState) -> list[str]:
    return [state.history[t].state_digest for t in sorted(state.history)]


def test_a_run_reaches_its_last_generation(simulation: Simulation) -> None:
    state, log = simulation.run()
    assert state.status == "completed"
    assert state.reason == "all 3 generations done"
    counts = Counter(event.type for event in log.events)
    decoded = [e.payload for e in log.events if isinstance(e.payload, PipelinesDecoded)]
    assert counts["EvaluationRecorded"] == 3 * 3 * 2 + sum(2 * len(p.pipelines) for p in decoded)
    assert counts["CandidateScored"] == counts["PipelineSampled"] == 9
    assert counts["PolicyUpdated"] == counts["CreditsUpdated"] == counts["GenerationCompleted"] == 3
    assert counts["ValidationScored"] == 2
    assert state.checkpoint is not None
    assert state.best is not None
    assert all(call.verdict == "accepted" for call in state.ledger.calls.values())


@pytest.mark.parametrize("changed", [{}, {"edits_per_generation": 2}, EVERY_RULE], ids=len)
def test_the_order_in_which_answers_come_changes_no_decision(
    simulation: Simulation, changed: dict[str, Any]
) -> None:
    runs = [replace(simulation.changed(**changed), order=order).run()[0] for order in range(3)]
    assert len({tuple(digests(state)) for state in runs}) == 1


def test_another_seed_decides_otherwise(simulation: Simulation) -> None:
    assert digests(simulation.run()[0]) != digests(replace(simulation, seed=2).run()[0])


def test_every_prefix_folds_to_the_state_it_was_folded_to(simulation: Simulation) -> None:
    _, log = simulation.changed(edits_per_generation=2).run()
    state = RunState()
    for event in log.events:
        state = fold(state, event)
        if event.seq % 7 == 0:
            assert state_digest(fold_all(log.events[: event.seq])) == state_digest(state)


@pytest.fixture(scope="module")
def punctual(simulation: Simulation) -> tuple[Simulation, list[str]]:
    """A run in which all agents start together, and its states."""
    small = simulation.changed(generations=2, race_contenders=2, race_instances=2)
    return small, digests(small.run()[0])


@pytest.mark.parametrize(
    "late",
    [
        *("conductor", "evaluator_pool", "implementation_evolver"),
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in (
                *("initializer", "pipeline_sampler", "credit_keeper", "edge_evolver", "validator", "racer"),
            )
        ),
    ],
)
def test_an_agent_that_starts_late_misses_nothing(punctual: tuple[Simulation, list[str]], late: str) -> None:
    small, expected = punctual
    assert digests(small.run(late=late)[0]) == expected


@pytest.mark.parametrize(
    ("changed", "step"),
    [
        ({"race_contenders": 1}, 6),
        ({"race_contenders": 2, "edits_per_generation": 2}, 11),
        (EVERY_RULE, 9),
        pytest.param({"race_contenders": 1}, 1, marks=pytest.mark.slow),
        pytest.param({"race_contenders": 2, "edits_per_generation": 2}, 3, marks=pytest.mark.slow),
        pytest.param(EVERY_RULE, 2, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_a_run_stopped_after_any_event_reaches_the_same_end(
    simulation: Simulation, changed: dict[str, Any], step: int
) -> None:
    brief = {"generations": 2, "pipelines": 2, "batch_size": 1, "validation_interval": 1, "race_instances": 2}
    small = simulation.changed(**brief, **changed)
    whole, log = small.run()
    call = next(event.seq for event in log.events if event.type == "LLMCallReserved")
    spent = 0
    for seq in sorted({call, *range(1, len(log.events), step)}):
        before = fold_all(log.events[:seq])
        again, resumed = replace(small, order=seq).run(log.until(seq))
        assert again.status == "completed", f"stopped after event {seq}"
        lost = [call.number for call in before.ledger.calls.values() if call.status == "reserved"]
        abandoned = [call.number for call in again.ledger.calls.values() if call.status == "abandoned"]
        assert abandoned == lost, f"stopped after event {seq}"
        spent += len(lost)
        if not lost:
            assert digests(again) == digests(whole), f"stopped after event {seq}"
        results = [e.payload.operation() for e in resumed.events if e.type == "EvaluationRecorded"]
        assert len(results) == len(set(results))
    assert spent > 0


@pytest.mark.parametrize(
    "step", [37, pytest.param(10, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.long)]
)
@pytest.mark.parametrize(
    "changed",
    [
        {"pool_limit": 1},
        {"evolution": False},
        EVERY_RULE,
        *(
            pytest.param(changed, marks=pytest.mark.slow)
            for changed in (
                {"pipelines": 2},
                {"generations": 1},
                {"race_contenders": 4, "race_returns": 2, "race_growth": 1.5, "champion_share": 0.8},
                {"race_contenders": 4, "race_returns": 2, "race_growth": 1.5, "race_memory": 2},
                {"edits_per_generation": 1},
                {"edits_per_generation": 3},
                {"pipelines": 5},
                {"attempts_per_edit": 1},
                {"edge_edit": "delta"},
                {"generations": 5},
                {"validation_interval": 1},
                {"race_contenders": 0},
                {"race_contenders": 3, "race_growth": 2.0, "race_instances": 3, "race_moves": "walk"},
            )
        ),
    ],
    ids=str,
)
def test_settings_may_change_at_any_resume(
    simulation: Simulation, record: Callable[[int, Draft], RecordedEvent], changed: dict[str, Any], step: int
) -> None:
    races = {"race_contenders": 2, "race_instances": 2}
    small = simulation.changed(generations=2, edits_per_generation=2, batch_size=1, **races)
    _, log = small.run()
    for seq in range(3, len(log.events), step):
        cut = log.until(seq)
        resumed = RunResumed(code_version="test", epoch=2, changed=changed)
        cut.events.append(record(seq + 1, Draft("conductor", resumed)))
        state, _ = small.run(cut)
        assert state.status == "completed", f"resumed after event {seq}"


@pytest.mark.parametrize("step", [7, *(pytest.param(step, marks=pytest.mark.slow) for step in (3, 20))])
def test_a_run_that_dies_again_and_again_still_reaches_its_end(simulation: Simulation, step: int) -> None:
    small = simulation.changed(generations=2, pipelines=2, edits_per_generation=2)
    whole, log = small.run()[0], small.log()
    state, order = RunState(), 0
    while state.status != "completed":
        order += 1
        state, log = replace(small, order=order).run(log, stop_after=len(log.events) + 1 + step)
        assert order < 60
    assert order > 2
    abandoned = [call for call in state.ledger.calls.values() if call.status == "abandoned"]
    assert all(call.status != "reserved" for call in state.ledger.calls.values())
    if not abandoned:
        assert digests(state) == digests(whole)


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 5, 8])
@pytest.mark.parametrize("edits", [1, 2])
def test_the_ledger_never_exceeds_its_limit_and_the_run_ends_with_its_calls(
    simulation: Simulation, limit: int, edits: int
) -> None:
    small = simulation.changed(
        generations=8, pipelines=2, batch_size=1, llm_calls=limit, edits_per_generation=edits
    )
    state, log = small.run()
    assert state.status == "completed"
    assert state.ledger.used <= limit
    if limit <= 3:
        assert state.reason == f"all {limit} model calls spent"
        assert log.events[-2].type == "GenerationCompleted"
    last = state.history[state.completed]
    assert last.validation is not None
