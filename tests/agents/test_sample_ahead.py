"""Generations that are sampled, and evaluated, before they start."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio
import pytest
import tests.agents.simulation as simulated
from pydantic import ValidationError
from tests.agents.memory_log import MemoryLog
from tests.agents.outside_world import Fails, HashEvaluator
from tests.agents.simulation import EVERY_RULE

from dga2d.agents.ports import EvaluationReply, EvaluationRequest
from dga2d.events import encode_payload
from dga2d.events.payloads import CreditsUpdated, EvaluationRecorded, GenerationStarted, PipelineSampled
from dga2d.replay.errors import InvariantError
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.fold import fold, fold_all
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.evaluation.worker_pool import SlotQueue, Urgency

if TYPE_CHECKING:
    from tests.agents.simulation import Simulation

BRIEF: dict[str, Any] = {"generations": 5, "pipelines": 4, "batch_size": 2, "llm_calls": 200}


def begun(log: MemoryLog) -> dict[int, int]:
    """Event with which each generation starts."""
    return {e.payload.generation: e.seq for e in log.events if isinstance(e.payload, GenerationStarted)}


def digests(state: RunState) -> list[str]:
    return [state.history[t].state_digest for t in sorted(state.history)]


@pytest.mark.parametrize(
    "changed",
    [
        {"sample_ahead": 1},
        {"sample_ahead": 2, "edit_lag": 2, "edits_per_generation": 2, "pool_limit": 1},
        {**EVERY_RULE, "sample_ahead": 2, "race_contenders": 2, "race_instances": 2},
    ],
    ids=["one", "stale edits", "every rule"],
)
def test_no_decision_depends_on_how_fast_evaluations_are(
    simulation: Simulation, changed: dict[str, Any]
) -> None:
    ahead = simulation.changed(**{**BRIEF, **changed})
    runs = [replace(ahead, order=order).run() for order in range(3)]
    assert len({tuple(digests(state)) for state, _ in runs}) == 1
    state, log = runs[0]
    assert state.completed == 5
    assert not state.ahead
    assert ahead.made_again(log)
    assert digests(fold_all(log.events)) == digests(state), "many at once as one by one"


def test_candidates_are_drawn_by_the_credits_of_the_generation_before(simulation: Simulation) -> None:
    _, log = simulation.changed(**BRIEF, sample_ahead=2).run()
    sampled = [e for e in log.events if isinstance(e.payload, PipelineSampled)]
    assert len(sampled) == 5 * 4, "none behind the last generation"
    credited = {e.generation: e.seq for e in log.events if isinstance(e.payload, CreditsUpdated)}
    starts = begun(log)
    for event in sampled:
        assert isinstance(event.payload, PipelineSampled)
        first = max(1, event.payload.generation - 2)
        assert starts[first] < event.seq < credited[first]
        assert event.payload.policy_updates == first - 1


class Straggler(HashEvaluator):
    """Its first candidate's evaluation in generation 1 ends when one of generation 2 has."""

    def __init__(self, order: random.Random, fails: Fails) -> None:
        super().__init__(order, fails)
        self._next = anyio.Event()

    async def evaluate(self, request: EvaluationRequest) -> EvaluationReply:
        if request.key.startswith("evaluation/train/1/0/"):
            await self._next.wait()
        reply = await super().evaluate(request)
        if request.key.startswith("evaluation/train/2/"):
            self._next.set()
        return reply


def test_a_straggler_keeps_nobody_waiting(simulation: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    ahead = simulation.changed(**{**BRIEF, "generations": 3}, sample_ahead=1)
    prompt = digests(ahead.run()[0])
    monkeypatch.setattr(simulated, "HashEvaluator", Straggler)
    state, log = ahead.run()
    assert digests(state) == prompt
    second = begun(log)[2]
    early = [e for e in log.events if isinstance(e.payload, EvaluationRecorded) and e.generation == 2]
    assert early[0].seq < second


def test_a_process_that_dies_anywhere_is_continued_with_the_same_states(simulation: Simulation) -> None:
    ahead = simulation.changed(**{**BRIEF, "generations": 3, "evolution": False}, sample_ahead=1)
    state, log = ahead.run()
    for seq in range(3, len(log.events), 9):
        again, there = replace(ahead, order=seq).run(log.until(seq))
        assert digests(again) == digests(state)
        operations = [op for e in there.events if (op := e.payload.operation()) is not None]
        assert len(operations) == len(set(operations))


def test_candidates_too_far_ahead_or_too_late_are_refused(simulation: Simulation) -> None:
    _, log = simulation.changed(**BRIEF, sample_ahead=1).run()
    far = next(e for e in log.events if isinstance(e.payload, PipelineSampled) and e.generation == 2)
    state = fold_all(log.events[: far.seq - 1])
    payload = encode_payload(far.payload.model_copy(update={"generation": 3}))
    with pytest.raises(InvariantError, match="speaks of generation 3 while generation 1 is open"):
        fold(state, far._replace(payload_bytes=payload))
    scored = next(e.seq for e in log.events if e.type == "GenerationScored")
    late = far._replace(seq=scored + 1)
    with pytest.raises(InvariantError, match="generation 1 was scored before"):
        fold(replace(fold_all(log.events[:scored]), ahead=state.ahead), late)


def test_methods_of_complete_programs_have_nothing_to_sample_ahead() -> None:
    with pytest.raises(ValidationError, match="needs method = dga2d"):
        RunSettings(method="eoh", sample_ahead=1)


async def test_evaluations_of_later_generations_come_last() -> None:
    slots, order = SlotQueue(["slot"]), []

    async def take(turn: int, seconds: float) -> None:
        slot = await slots.take(Urgency(turn, -seconds))
        order.append((turn, seconds))
        slots.give(slot)

    first = await slots.take(Urgency(1, 0.0))
    async with anyio.create_task_group() as group:
        for turn, seconds in ((2, 9.0), (1, 1.0), (1, 2.0), (2, 3.0)):
            group.start_soon(take, turn, seconds)
        await anyio.sleep(0)
        slots.give(first)
    assert order == [(1, 2.0), (1, 1.0), (2, 9.0), (2, 3.0)]
