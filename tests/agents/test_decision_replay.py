"""Decisions made again from recorded inputs: all of a true log, the first that differs of a forged one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from tests.agents.simulation import EVERY_RULE

from dga2d.agents.decision_replay import UNDECIDED, DecisionVerifier
from dga2d.events import PAYLOAD_TYPES, Draft, Payload, RecordedEvent
from dga2d.replay.errors import DecisionMismatchError, ReplayError
from dga2d.replay.state.fold import fold, fold_all
from dga2d.replay.state.run_state import RunState

if TYPE_CHECKING:
    from tests.agents.memory_log import MemoryLog
    from tests.agents.outside_world import Answers
    from tests.agents.simulation import Simulation

    from dga2d.domains.core.contract import Operator

Recorder = Callable[[int, Draft], RecordedEvent]


def test_every_event_type_is_made_again_or_known_to_be_undecided(simulation: Simulation) -> None:
    replays = DecisionVerifier(simulation.prompt_context, simulation.log()).replays
    assert {*replays, *UNDECIDED} == set(PAYLOAD_TYPES)
    assert len(replays) + len(UNDECIDED) == len(PAYLOAD_TYPES)


@pytest.mark.parametrize(
    "settings",
    [
        {"edge_edit": "delta", "edits_per_generation": 2},
        {"llm_calls": 3},
        {"validation_interval": 1},
        {"work": None},
        {"race_contenders": 5, "race_instances": 2, "structure": "dag", "evolution": False},
        *(
            pytest.param(settings, marks=pytest.mark.slow)
            for settings in (
                {},
                {"edits_per_generation": 2},
                {"evolution": False},
                {"llm_calls": 0},
                {"race_contenders": 5, "race_instances": 4},
            )
        ),
    ],
    ids=str,
)
def test_all_decisions_of_a_run_are_made_again(simulation: Simulation, settings: dict[str, Any]) -> None:
    small = simulation.changed(**settings)
    _, log = small.run()
    observed = {"WorkRateMeasured", "EvaluationRecorded", "PolicyUpdated", "LLMCallSettled"}
    assert small.made_again(log) == sum(event.type not in observed for event in log.events)


def test_rejections_and_repairs_are_made_again(simulation: Simulation, answers: type[Answers]) -> None:
    bad = ["?", "```python\nimport os\n```"]
    tasks = ("InitializeTask", "ImplementTask", "ConnectTask")
    small = replace(simulation.changed(generations=2), model=answers(dict.fromkeys(tasks, bad)))
    _, log = small.run()
    assert {"GraphRejected", "ImplementationRejected", "EdgeRejected"} <= {e.type for e in log.events}
    assert small.made_again(log) > 0


def test_rejections_in_trials_and_failed_candidates_are_made_again(simulation: Simulation) -> None:
    small = replace(
        simulation, fails=lambda r: r.key.startswith("composed/") or r.key.endswith("/0/g/train1")
    )
    _, log = small.run()
    stages = [json.loads(e.payload_bytes).get("stage") for e in log.events]
    assert "composed" in stages
    assert small.made_again(log) > 0


def test_a_run_that_was_stopped_and_resumed_is_made_again(simulation: Simulation) -> None:
    small = simulation.changed(generations=2)
    _, log = small.run()
    reserved = [e.seq for e in log.events if e.type == "LLMCallReserved"]
    for seq in (reserved[0], reserved[-1], reserved[-1] + 3, len(log.events) // 2):
        _, resumed = small.run(log.until(seq))
        assert small.made_again(resumed) > 0


@pytest.fixture(scope="module")
def every_edit(simulation: Simulation) -> tuple[Simulation, MemoryLog]:
    """A run in which all operators and edges are treated in each generation."""
    races = {"race_contenders": 4, "race_instances": 2}
    small = simulation.changed(generations=3, edits_per_generation=5, llm_calls=500, **races)
    return small, small.run()[1]


FORGERIES: list[tuple[str, Callable[[Any], dict[str, Any]], str]] = [
    ("RunStarted", lambda p: {"batch": p.batch[::-1]}, "payload.batch[0]"),
    ("GraphInitialized", lambda p: {"operator_limit": p.operator_limit + 1}, "payload.operator_limit"),
    ("LLMCallReserved", lambda p: {"prompt": "0" * 64}, "payload.prompt"),
    ("LLMCallReserved", lambda p: {"template": "initialize@9"}, "payload.template"),
    ("LLMCallReserved", lambda p: {"attempt": p.attempt + 1}, "payload.attempt"),
    ("CandidateScored", lambda p: {"score": p.score + 1e-9}, "payload.score"),
    ("CandidateScored", lambda p: {"candidate": p.candidate + 1}, "payload.candidate"),
    ("GenerationScored", lambda p: {"deviation": p.deviation * 1.0001}, "payload.deviation"),
    ("GenerationScored", lambda p: {"rewards": p.rewards[::-1]}, "payload.rewards[0]"),
    ("CreditsUpdated", lambda p: {"transitions": p.transitions[:-1]}, "payload.transitions["),
    ("ValidationStarted", lambda p: {"instances": p.instances[:1]}, "payload.instances[1]"),
    ("ValidationScored", lambda p: {"scores": tuple(s - 1 for s in p.scores)}, "payload.scores[0]"),
    ("CheckpointSelected", lambda p: {"policy_updates": 77}, "payload.policy_updates"),
    ("ImplementationDeleted", lambda p: {"implementation": "climb.x"}, "payload.implementation"),
    ("ImplementationAdded", lambda p: {"source": "0" * 64}, "payload.source"),
    ("EdgeReplaced", lambda p: {"added": (), "removed": p.added}, "payload.added[0]"),
    ("RaceStarted", lambda p: {"instances": p.instances[::-1]}, "payload.instances[0]"),
    ("RaceStarted", lambda p: {"selecting": p.selecting - 1}, "payload.selecting"),
    ("RaceRoundScored", lambda p: {"standings": p.standings[::-1]}, "payload.standings[0]"),
    ("IncumbentSelected", lambda p: {"contender": p.contender + 1}, "payload.contender"),
]


@pytest.mark.parametrize(
    ("name", "change", "field"), FORGERIES, ids=lambda value: None if callable(value) else str(value)[:30]
)
def test_a_forged_decision_is_found_at_its_event_and_field(
    every_edit: tuple[Simulation, MemoryLog],
    record: Recorder,
    name: str,
    change: Callable[[Any], dict[str, Any]],
    field: str,
) -> None:
    small, log = every_edit
    event = next(e for e in log.events if e.type == name)
    forged = event.payload.model_copy(update=change(event.payload))
    before = fold_all(log.events[: event.seq - 1])
    with pytest.raises(DecisionMismatchError) as caught:
        check(small, log, before, event, forged, record)
    assert caught.value.seq == event.seq
    assert caught.value.agent == event.agent
    assert caught.value.field.startswith(field)
    assert caught.value.expected != caught.value.got
    assert str(caught.value).startswith(f"event {event.seq} ({name}) of {event.agent}: {field}")


def check(
    simulation: Simulation,
    log: MemoryLog,
    before: RunState,
    event: RecordedEvent,
    payload: Payload,
    record: Recorder,
    caused_by: int | None = None,
) -> None:
    cause = event.caused_by if caused_by is None else caused_by
    draft = Draft(event.agent, payload, event.generation, cause)  # type: ignore[arg-type]
    verifier = DecisionVerifier(simulation.prompt_context, log)
    anyio.run(verifier.check, before, record(event.seq, draft))


def test_another_walk_or_implementation_than_the_streams_give_is_found(
    simulation: Simulation, record: Recorder
) -> None:
    _, log = simulation.run()
    for event in (e for e in log.events if e.type == "PipelineSampled"):
        before = fold_all(log.events[: event.seq - 1])
        payload: Any = event.payload
        for position, step in enumerate(payload.steps):
            for other in before.pools[step.operator]:
                if other != step.implementation:
                    steps = list(payload.steps)
                    steps[position] = step.model_copy(update={"implementation": other})
                    forged = payload.model_copy(update={"steps": tuple(steps)})
                    with pytest.raises(DecisionMismatchError, match=rf"payload.steps\[{position}\]"):
                        check(simulation, log, before, event, forged, record)
        for position, decision in enumerate(payload.policy_steps):
            for chosen in set(decision.actions) - {decision.chosen}:
                decisions = list(payload.policy_steps)
                decisions[position] = decision.model_copy(update={"chosen": chosen})
                forged = payload.model_copy(update={"policy_steps": tuple(decisions)})
                with pytest.raises(DecisionMismatchError, match=rf"policy_steps\[{position}\].chosen"):
                    check(simulation, log, before, event, forged, record)


def test_every_wrong_cause_is_found(simulation: Simulation, record: Recorder) -> None:
    small = simulation.changed(generations=2)
    _, log = small.run()
    for event in log.events[1:]:
        before = fold_all(log.events[: event.seq - 1])
        assert event.caused_by is not None
        assert event.caused_by < event.seq
        with pytest.raises(DecisionMismatchError, match="caused_by: expected"):
            check(small, log, before, event, event.payload, record, event.caused_by + 1)


def test_a_decision_that_is_not_owed_is_found(simulation: Simulation, record: Recorder) -> None:
    _, log = simulation.run()
    wrong = 0
    for event in log.events[2:]:
        before = fold_all(log.events[: event.seq - 3])
        try:
            fold(before, record(before.seq + 1, draft_of(event)))
        except ReplayError:
            continue  # the fold refuses it already
        wrong += 1
        if event.caused_by is not None and event.caused_by > before.seq:
            with pytest.raises(DecisionMismatchError):
                check(simulation, log, before, event, event.payload, record)
    assert wrong > 0


def draft_of(event: RecordedEvent) -> Draft:
    return Draft(event.agent, event.payload, event.generation, event.caused_by)  # type: ignore[arg-type]


def test_verification_imports_no_torch() -> None:
    modules = "dga2d.agents.decision_replay, dga2d.runtime.inspection.runs, dga2d.domains.core.registry"
    loads = f"import sys, {modules}; dga2d.domains.core.registry.get_domain('tsp')"
    code = f"{loads}; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=50)


@pytest.mark.parametrize("rules", [{"prompt_edition": 3}, EVERY_RULE], ids=["facts", "every rule"])
def test_decisions_do_not_depend_on_the_texts_that_the_library_holds_by_now(
    simulation: Simulation, rules: dict[str, Any]
) -> None:
    """A prompt names what the other operators of the run's library are built of, in its graph or not."""

    def rewritten(operator: Operator, block: str) -> Operator:
        added = f"# exchangeable: {block}\ndef {block}(sequence):\n    return sequence\n"
        texts = (replace(c, source=f"{c.source}\n\n{added}") for c in operator.implementations)
        return replace(operator, implementations=tuple(texts))

    small = simulation.changed(**rules, operator_limit=3, generations=4, llm_calls=30)
    small = replace(small, operators=tuple(rewritten(op, f"walk_{op.id}") for op in small.operators))
    _, log = small.run()
    later = replace(small, operators=tuple(rewritten(op, "revised") for op in small.operators))
    assert later.made_again(log) == small.made_again(log) > 20
