"""Events that contradict the state before them are refused by number, type and reason."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from dga2d.events import AGENT_NAMES, PAYLOAD_TYPES, Draft, RecordedEvent
from dga2d.events import payloads as p
from dga2d.replay.errors import DigestMismatchError, InvariantError, ReplayError
from dga2d.replay.state.digest import state_digest
from dga2d.replay.state.fold import fold, fold_all, fold_page

if TYPE_CHECKING:
    from tests.agents.memory_log import MemoryLog
    from tests.agents.simulation import Simulation

Recorder = Callable[[int, Draft], RecordedEvent]
Change = Callable[[Any], dict[str, Any]]


@pytest.fixture(scope="module")
def log(simulation: Simulation) -> MemoryLog:
    """A whole run."""
    return simulation.run()[1]


CHANGED: list[tuple[str, Change, str]] = [
    ("RunStarted", lambda e: {"batch": ("g/test0",)}, "not of the training split"),
    ("RunStarted", lambda e: {"settings": {**e.settings, "pipelines": 0}}, "setting pipelines"),
    ("RunStarted", lambda e: {"settings": {**e.settings, "pipes": 1}}, "setting pipes"),
    ("RunStarted", lambda e: {"baseline": (p.Step(operator="climb", implementation="?"),)}, "baseline"),
    ("GraphInitialized", lambda e: {"call": 9}, "call 9 was never reserved"),
    ("GraphInitialized", lambda e: {"operators": (*e.operators, "zap")}, "not in the library: zap"),
    ("GraphInitialized", lambda e: {"edges": (*e.edges, ("zap", "END"))}, "leads out of the graph"),
    ("GraphInitialized", lambda e: {"edges": (*e.edges, ("climb", "START"))}, "enters START"),
    ("GraphInitialized", lambda e: {"edges": ()}, "no route"),
    ("GraphInitialized", lambda e: {"pools": {}}, "pools and operators differ"),
    ("GraphInitialized", lambda e: {"pools": dict.fromkeys(e.pools, ())}, "has 0 members"),
    ("GraphInitialized", lambda e: {"pools": dict.fromkeys(e.pools, ("x",))}, "another operator's"),
    ("GenerationStarted", lambda e: {"generation": 2}, "generation 1 is next, not 2"),
    ("GenerationStarted", lambda e: {"graph_digest": "0"}, "the graph is another one"),
    ("GenerationStarted", lambda e: {"pools_digest": "0"}, "the pools are others"),
    ("PipelineSampled", lambda e: {"generation": 2}, "generation 2 while generation 1 is open"),
    ("PipelineSampled", lambda e: {"candidate": 3}, "candidate number out of range"),
    ("PipelineSampled", lambda e: {"steps": e.steps[:-1]}, "one decision per operator"),
    ("PipelineSampled", lambda e: {"steps": _swapped(e.steps)}, "leaves the graph"),
    ("PipelineSampled", lambda e: {"steps": _unknown(e.steps)}, "not in the pool"),
    ("PipelineSampled", lambda e: {"policy_steps": _unnormalised(e.policy_steps)}, "no distribution"),
    ("EvaluationRecorded", lambda e: {"generation": 7}, "while generation 1 is open"),
    ("EvaluationRecorded", lambda e: {"candidate": 8}, "never sampled"),
    ("EvaluationRecorded", lambda e: {"instance": "g/test0"}, "not in the shared batch"),
    ("EvaluationRecorded", lambda e: {"objective": None}, "objective xor failure"),
    ("EvaluationRecorded", lambda e: {"split": "test"}, "no such test is open"),
    ("EvaluationRecorded", lambda e: {"split": "validation"}, "no validation is open"),
    ("CandidateScored", lambda e: {"score": -5.1}, "below R_fail"),
    ("CandidateScored", lambda e: {"candidate": 7}, "never sampled"),
    ("GenerationScored", lambda e: {"rewards": e.rewards[1:]}, "one reward per candidate"),
    ("CreditsUpdated", lambda e: {"generation": 3}, "while generation 1 is open"),
    ("LLMCallReserved", lambda e: {"call": 2}, "call 1 is next, not 2"),
    ("LLMCallSettled", lambda e: {"call": 2}, "call 2 was never reserved"),
    ("ImplementationAdded", lambda e: {"call": 1}, "belongs to initializer"),
    ("ImplementationAdded", lambda e: {"slot": 1}, "there is no slot 1"),
    ("ImplementationAdded", lambda e: {"operator": "zap"}, "zap is not in the graph"),
    ("ImplementationAdded", lambda e: {"implementation": "zap.1"}, "belongs elsewhere"),
    ("EdgeReplaced", lambda e: {"call": 99}, "call 99 was never reserved"),
    ("EdgeReplaced", lambda e: {"removed": e.added}, "not in the graph"),
    ("EdgeReplaced", lambda e: {"added": e.removed}, "in the graph already"),
    ("EdgeReplaced", lambda e: {"added": (("climb", "zap"),)}, "leads out of the graph"),
    ("EdgeReplaced", lambda e: {"added": (), "removed": ()}, "the edit is empty"),
    ("ValidationStarted", lambda e: {"instances": ("g/test0",)}, "not of the validation split"),
    ("PipelinesDecoded", lambda e: {"pipelines": ()}, "unknown implementation"),
    ("PipelinesDecoded", lambda e: {"pipelines": (_unknown(e.pipelines[0]),)}, "unknown implementation"),
    ("ValidationScored", lambda e: {"scores": e.scores[1:]}, "one score per pipeline"),
    ("CheckpointSelected", lambda e: {"generation": 9}, "while generation 2 is open"),
    ("GenerationCompleted", lambda e: {"generation": 2}, "while generation 1 is open"),
]


def _swapped(steps: Sequence[p.Step]) -> tuple[p.Step, ...]:
    return tuple(reversed(steps))


def _unknown(steps: Sequence[p.Step]) -> tuple[p.Step, ...]:
    return (steps[0].model_copy(update={"implementation": "build.zap"}), *steps[1:])


def _unnormalised(steps: Sequence[p.PolicyStep]) -> tuple[p.PolicyStep, ...]:
    doubled = tuple(2 * x for x in steps[0].probabilities)
    return (steps[0].model_copy(update={"probabilities": doubled}), *steps[1:])


@pytest.mark.parametrize(
    ("name", "change", "reason"), CHANGED, ids=lambda value: None if callable(value) else str(value)[:40]
)
def test_a_changed_event_is_refused(
    log: MemoryLog, record: Recorder, name: str, change: Change, reason: str
) -> None:
    event = next(e for e in log.events if e.type == name and (name != "PipelineSampled" or _is_long(e)))
    forged = event.payload.model_copy(update=change(event.payload))
    again = record(event.seq, Draft(event.agent, forged, event.generation, event.caused_by))  # type: ignore[arg-type]
    with pytest.raises(InvariantError) as caught:
        fold(fold_all(log.events[: event.seq - 1]), again)
    assert (caught.value.seq, caught.value.event_type) == (event.seq, name)
    assert str(caught.value).startswith(f"event {event.seq} ({name}): ")
    assert reason in str(caught.value)


def _is_long(event: RecordedEvent) -> bool:
    return len({step.operator for step in event.payload.steps}) > 1  # type: ignore[attr-defined]


def moved(event: RecordedEvent, seq: int) -> RecordedEvent:
    return event._replace(seq=seq)


ONCE = (
    "CandidateScored",
    "CheckpointSelected",
    "CreditsUpdated",
    "EdgeReplaced",
    "EvaluationRecorded",
    "GenerationCompleted",
    "GenerationScored",
    "GenerationStarted",
    "GraphInitialized",
    "ImplementationAdded",
    "LLMCallReserved",
    "LLMCallSettled",
    "PipelineSampled",
    "PipelinesDecoded",
    "PolicyUpdated",
    "RunCompleted",
    "RunStarted",
    "ValidationScored",
    "ValidationStarted",
)


@pytest.mark.parametrize("name", ONCE)
def test_no_event_follows_itself(log: MemoryLog, name: str) -> None:
    event = next(e for e in log.events if e.type == name)
    with pytest.raises(ReplayError, match=rf"event {event.seq + 1} \({name}\)"):
        fold(fold_all(log.events[: event.seq]), moved(event, event.seq + 1))


def test_every_event_but_the_first_needs_a_run(log: MemoryLog) -> None:
    for event in log.events[1:]:
        with pytest.raises(InvariantError, match="has not started"):
            fold_all([moved(event, 1)])


def test_a_skipped_or_repeated_number_is_refused(log: MemoryLog) -> None:
    for event in log.events[1:]:
        with pytest.raises(InvariantError, match=f"event {event.seq - 1} is next"):
            fold(fold_all(log.events[: event.seq - 2]), event)
        break
    with pytest.raises(InvariantError, match="event 2 is next"):
        fold(fold_all(log.events[:1]), log.events[0])


def test_an_event_moved_before_its_cause_is_refused_or_changes_the_digest(simulation: Simulation) -> None:
    """Exchanging two neighbours is harmless only where neither needs the other."""
    _, log = simulation.changed(edits_per_generation=2).run()
    whole = state_digest(fold_all(log.events))
    refused = 0
    for seq in range(2, len(log.events)):
        swapped = [*log.events]
        swapped[seq - 1], swapped[seq] = moved(log.events[seq], seq), moved(log.events[seq - 1], seq + 1)
        try:
            assert state_digest(fold_all(swapped)) == whole
        except ReplayError:
            refused += 1
        else:
            assert log.events[seq].caused_by != seq, f"event {seq + 1} folds before its cause"
    assert refused > len(log.events) // 3


def test_a_dropped_event_never_goes_unnoticed(log: MemoryLog) -> None:
    for gone in range(1, len(log.events)):
        left = [e for e in log.events if e.seq != gone]
        renumbered = [moved(e, n) for n, e in enumerate(left, start=1)]
        with pytest.raises(ReplayError):
            fold_all(renumbered)


def test_a_call_over_the_limit_is_refused(simulation: Simulation, record: Recorder) -> None:
    state, log = simulation.changed(llm_calls=3).run()
    assert state.ledger.used == 3
    before = fold_all(log.events[: log.events[-1].seq - 1])
    fourth = next(e for e in log.events if e.type == "LLMCallReserved").payload.model_copy(update={"call": 4})
    with pytest.raises(InvariantError, match="the limit is 3 calls"):
        fold(before, record(before.seq + 1, Draft("initializer", fourth)))


def refused_alone_and_in_a_page(log: MemoryLog, forged: RecordedEvent, why: str) -> None:
    """The event cannot stand in place of that of its number."""
    before = fold_all(log.events[: forged.seq - 1])
    reason = rf"event {forged.seq} \({forged.type}\): {why}"
    with pytest.raises(InvariantError, match=reason):
        fold(before, forged)
    with pytest.raises(InvariantError, match=reason):
        fold_page(before, [forged, *log.events[forged.seq :]])


def test_an_event_of_another_writer_is_refused_alone_and_in_a_page(log: MemoryLog) -> None:
    for event in log.events:
        stranger = next(name for name in AGENT_NAMES if name not in PAYLOAD_TYPES[event.type].owners)
        refused_alone_and_in_a_page(log, event._replace(agent=stranger), f"{stranger} may not write it")


def test_an_event_filed_under_another_generation_is_refused_alone_and_in_a_page(log: MemoryLog) -> None:
    filed = [e for e in log.events if e.generation is not None and hasattr(e.payload, "generation")]
    assert {"EvaluationRecorded", "PipelineSampled", "CandidateScored"} <= {event.type for event in filed}
    for event in filed:
        assert event.generation is not None
        other = event.generation + 1
        refused_alone_and_in_a_page(
            log, event._replace(generation=other), f"it is filed under generation {other}"
        )


@pytest.mark.parametrize("name", ["GenerationCompleted", "RunCompleted"])
def test_a_forged_state_digest_is_named(log: MemoryLog, record: Recorder, name: str) -> None:
    event = next(e for e in log.events if e.type == name)
    forged = event.payload.model_copy(update={"state_digest": "0" * 64})
    with pytest.raises(DigestMismatchError, match=rf"event {event.seq} \({name}\)"):
        fold(fold_all(log.events[: event.seq - 1]), record(event.seq, Draft("conductor", forged)))


def test_nothing_but_tests_and_resumes_follows_the_end(simulation: Simulation) -> None:
    state, log = simulation.run()
    for event in log.events[1:]:
        with pytest.raises(ReplayError):
            fold(state, moved(event, state.seq + 1))


def test_a_pause_stops_everything_until_the_run_is_resumed(log: MemoryLog, record: Recorder) -> None:
    rng = random.Random(1)
    others = [n for n in range(2, len(log.events) - 1) if log.events[n].type != "WorkRateMeasured"]
    for seq in rng.sample(others, 10):  # a rate belongs to the process that measured it
        paused = fold(
            fold_all(log.events[:seq]), record(seq + 1, Draft("conductor", p.RunPaused(reason="stop")))
        )
        with pytest.raises(InvariantError, match="the run is paused"):
            fold(paused, moved(log.events[seq], seq + 2))
        resumed = p.RunResumed(code_version="v", epoch=2, changed={})
        again = fold(paused, record(seq + 2, Draft("conductor", resumed)))
        assert fold(again, moved(log.events[seq], seq + 3)).status in ("running", "completed")


def test_a_resume_cannot_change_the_limit_of_calls(simulation: Simulation, record: Recorder) -> None:
    state, _ = simulation.run()
    for changed, reason in [
        ({"llm_calls": 9}, "llm_calls"),
        ({"pipelines": -1}, "setting pipelines"),
    ]:
        resumed = p.RunResumed(code_version="v", epoch=2, changed=changed)
        with pytest.raises(InvariantError, match=reason):
            fold(state, record(state.seq + 1, Draft("conductor", resumed)))
