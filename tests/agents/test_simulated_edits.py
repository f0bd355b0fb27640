"""What whole runs do with proposals: repairs, rejections, deltas, failures, and runs without evolution."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.agents.made_up_library import OPERATORS

from dga2d.agents.edge_evolver import NO_CHANGE
from dga2d.agents.ports import EvaluationRequest
from dga2d.agents.proposing.tasks import ImplementTask
from dga2d.events import OperatorId, RecordedEvent
from dga2d.replay.state.fold import fold_all

if TYPE_CHECKING:
    from tests.agents.outside_world import Answers
    from tests.agents.simulation import Simulation


def payloads(events: Sequence[RecordedEvent], *types: str) -> list[Any]:
    return [event.payload for event in events if event.type in types]


NONSENSE = "```python\nimport os\n```\n"
CODE = "```python\nX = {n}\n\n\ndef run(env_data, state, calc_makespan_fn):\n    return state\n```\n"


def test_a_rejected_answer_is_repaired_with_its_diagnostic_and_itself_in_the_prompt(
    simulation: Simulation, answers: type[Answers]
) -> None:
    model = answers({"ImplementTask": ["no code", NONSENSE]})
    state, log = replace(simulation.changed(generations=2), model=model).run()
    rejected = payloads(log.events, "ImplementationRejected")
    assert [(p.attempt, p.is_final) for p in rejected[:2]] == [(0, False), (1, False)]
    assert [p.stage for p in rejected[:2]] == ["code_block", "signature"]
    asked = [r for r in model.requests if type(r.task).__name__ == "ImplementTask"]
    assert asked[0].task.previous is None
    assert asked[0].task.diagnostic is None
    assert asked[1].task.previous == "no code"
    assert rejected[0].diagnostic in str(asked[1].task.diagnostic)
    assert asked[2].task.previous == NONSENSE
    assert "no code" in asked[1].prompt.text
    verdicts = payloads(log.events, "ImplementationAdded", "ImplementationReplaced")
    assert verdicts
    assert state.status == "completed"


def test_a_run_whose_every_answer_is_nonsense_keeps_what_it_has(
    simulation: Simulation, answers: type[Answers]
) -> None:
    model = answers({task: ["?"] * 9 for task in ("InitializeTask", "ImplementTask", "ConnectTask")})
    state, log = replace(simulation, model=model).run()
    assert state.status == "completed"
    graph = payloads(log.events, "GraphInitialized")[0]
    assert graph.origin == "library"
    assert len(payloads(log.events, "GraphRejected")) == 3
    assert not payloads(log.events, "ImplementationAdded", "ImplementationReplaced", "EdgeReplaced")
    by_subject = Counter(call.subject for call in state.ledger.calls.values())
    assert set(by_subject.values()) == {3}
    final = [p for p in payloads(log.events, "ImplementationRejected", "EdgeRejected") if p.is_final]
    assert len(final) == len(by_subject) - 1
    assert all(p.attempt == 2 for p in final)


def test_the_last_affordable_attempt_is_final(simulation: Simulation, answers: type[Answers]) -> None:
    model = answers({task: ["?"] * 9 for task in ("ImplementTask", "ConnectTask")})
    state, log = replace(simulation.changed(llm_calls=4), model=model).run()
    assert state.ledger.used <= 4
    final = [p for p in payloads(log.events, "ImplementationRejected", "EdgeRejected") if p.is_final]
    assert final
    assert all(p.attempt < 2 for p in final)
    assert state.status == "completed"


def test_code_that_fails_its_trial_is_rejected_by_stage(
    simulation: Simulation, answers: type[Answers]
) -> None:
    def fails(request: EvaluationRequest) -> bool:
        return request.key.startswith("isolated/") or (
            request.key.startswith("composed/") and len(request.steps) > 9
        )

    _, log = replace(simulation, fails=fails).run()
    rejected = payloads(log.events, "ImplementationRejected")
    assert rejected
    assert {p.stage for p in rejected} <= {"isolated", "no_variation"}
    assert any(p.diagnostic.startswith("runtime_error: ValueError: no") for p in rejected)


def test_answers_with_lone_surrogates_are_stored_and_rejected(
    simulation: Simulation, answers: type[Answers]
) -> None:
    model = answers({task: ["\ud800?\udfff"] for task in ("InitializeTask", "ImplementTask", "ConnectTask")})
    state, log = replace(simulation, model=model).run()
    assert state.status == "completed"
    answered = [call for call in state.ledger.calls.values() if call.attempt == 0]
    assert {log.blobs[call.response] for call in answered if call.response} == {b"???"}


@pytest.mark.parametrize("edits", [1, 2])
def test_deltas_change_at_most_two_edges_of_each_kind(simulation: Simulation, edits: int) -> None:
    state, log = simulation.changed(edge_edit="delta", edits_per_generation=edits, generations=4).run()
    assert state.status == "completed"
    replaced = payloads(log.events, "EdgeReplaced")
    assert replaced
    assert all(len(p.added) <= 2 and len(p.removed) <= 2 and p.added + p.removed for p in replaced)


def test_an_empty_delta_is_a_final_rejection_that_says_so(
    simulation: Simulation, answers: type[Answers]
) -> None:
    model = answers({"ConnectTask": [json.dumps({"add_edges": [], "delete_edges": []})]})
    state, log = replace(simulation.changed(edge_edit="delta"), model=model).run()
    assert state.status == "completed"
    assert not payloads(log.events, "EdgeReplaced")
    rejected = payloads(log.events, "EdgeRejected")
    assert rejected
    assert {(p.reason, p.is_final, p.attempt) for p in rejected} == {(NO_CHANGE, True, 0)}


def test_removing_the_last_route_is_refused(simulation: Simulation, answers: type[Answers]) -> None:
    chain = {
        "H": {"operator_limit": 5, "temperature": 0.7},
        "operators": ["build", "climb", "kick"],
        "entry_nodes": ["build"],
        "exit_nodes": ["climb"],
        "edges": [["build", "climb"], ["climb", "kick"], ["kick", "climb"]],
    }
    cut = json.dumps({"add_edges": [["kick", "END"]], "delete_edges": [["START", "build"]]})
    model = answers({"InitializeTask": [json.dumps(chain)], "ConnectTask": [cut, cut, cut]})
    simulated = replace(simulation.changed(edge_edit="delta", operator_limit=5, generations=12), model=model)
    state, log = simulated.run()
    assert state.graph is not None
    assert ("START", "build") in state.graph.edges
    rejected = payloads(log.events, "EdgeRejected")
    assert rejected
    assert all(p.reason.startswith("route: ") for p in rejected)


def test_no_call_is_spent_on_an_edge_where_no_other_fits(
    simulation: Simulation, answers: type[Answers]
) -> None:
    every = {
        "H": {"operator_limit": 5, "temperature": 0.7},
        "operators": ["build", "climb"],
        "entry_nodes": ["build"],
        "exit_nodes": ["build", "climb"],
        "edges": [["build", "climb"]],
    }
    model = answers({"InitializeTask": [json.dumps(every)]})
    simulated = replace(simulation.changed(operator_limit=5, generations=6, pipelines=4), model=model)
    state, log = simulated.run()
    reasons = {p.reason for p in payloads(log.events, "EdgesKept")}
    assert "no valid edit exists" in reasons
    assert not [call for call in state.ledger.calls.values() if call.purpose == "connect"]


def test_without_evolution_nothing_is_edited_and_no_call_is_made_after_the_graph(
    simulation: Simulation,
) -> None:
    state, log = simulation.changed(evolution=False, generations=4).run()
    assert state.status == "completed"
    assert state.completed == 4
    assert {call.purpose for call in state.ledger.calls.values()} == {"initialize"}
    assert not [e for e in log.events if e.type.startswith(("Implementation", "Edge"))]
    assert state.credits.records


def test_without_evolution_no_call_is_needed(simulation: Simulation) -> None:
    state, _ = simulation.changed(evolution=False, llm_calls=0, generations=2).run()
    assert (state.status, state.completed, state.ledger.used) == ("completed", 2, 0)


def test_candidates_that_fail_have_r_fail_and_the_run_goes_on(simulation: Simulation) -> None:
    def fails(request: EvaluationRequest) -> bool:
        return any(step.operator == "kick" for step in request.steps) and "train" in request.key

    state, log = replace(simulation.changed(generations=4), fails=fails).run()
    scored = payloads(log.events, "CandidateScored")
    failed = [p for p in scored if None in p.gaps]
    assert 0 < len(failed) < len(scored)
    assert {p.score for p in failed} == {-5.0}
    assert state.status == "completed"


def test_a_run_where_everything_fails_ends_without_rewards_or_edges_lost(simulation: Simulation) -> None:
    state, log = replace(simulation, fails=lambda request: True).run()
    assert state.status == "completed"
    assert {p.rewards for p in payloads(log.events, "GenerationScored")} == {(0.0, 0.0, 0.0)}
    assert {r.credit for r in state.credits.records.values()} <= {0.0}
    assert not payloads(log.events, "EdgeReplaced", "ImplementationAdded")
    assert state.best is not None
    assert state.best.score == -5.0
    assert state.checkpoint is not None
    assert state.checkpoint.score == -5.0


def test_a_validation_evaluates_each_algorithm_once(simulation: Simulation) -> None:
    _, log = simulation.changed(beam_width=50, validation_interval=1, generations=2).run()
    for decoded in payloads(log.events, "PipelinesDecoded"):
        assert len(set(decoded.pipelines)) == len(decoded.pipelines)
        assert list(decoded.log_probabilities) == sorted(decoded.log_probabilities, reverse=True)
    first = payloads(log.events, "PipelinesDecoded")[0]
    baseline = fold_all(log.events).header.baseline
    assert baseline in first.pipelines


def test_a_checkpoint_is_only_ever_replaced_by_a_better_one(simulation: Simulation) -> None:
    state, log = simulation.changed(validation_interval=1, generations=4).run()
    scores = [p.score for p in payloads(log.events, "CheckpointSelected")]
    assert scores == sorted(set(scores))
    best = max(max(p.scores) for p in payloads(log.events, "ValidationScored"))
    assert state.checkpoint is not None
    assert state.checkpoint.score == best == scores[-1]


@pytest.mark.parametrize("moves", ["all", "walk"])
def test_the_whole_library_may_be_made_use_of_and_races_set_constants(
    simulation: Simulation, answers: type[Answers], moves: str
) -> None:
    model = answers({})
    changed = simulation.changed(operator_limit=3, race_contenders=2, race_instances=2, race_moves=moves)
    state, _ = replace(changed, model=model).run()
    assert state.graph is not None
    assert len(state.graph.operators) == 3
    tasks = [r.task for r in model.requests if isinstance(r.task, ImplementTask)]
    library = {c.id for op in OPERATORS for c in op.implementations}
    for task in tasks:
        own = {c.id for op in OPERATORS if OperatorId(op.id) == task.operator.id for c in op.implementations}
        assert library - own <= {other.id for other in task.others}
        assert {str(c.operator) for c in task.intensifiers} == {"intensify"} - {str(task.operator.id)}
        assert task.structure_only == (moves == "all")
    assert tasks
