"""The held-out test as the agents run it: once, beside a run that is over, stopped or killed."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio
import pytest
from anyio import to_thread

from dga2d.agents.agent import Duty, run_agent
from dga2d.agents.conductor import held_out_test
from dga2d.agents.decision_replay import DecisionVerifier
from dga2d.agents.evaluator_pool import evaluation_stream
from dga2d.events import AgentName, Draft, ImplementationId, OperatorId, RecordedEvent, RunId, blob_digest
from dga2d.events.payloads import LibraryImplementation, LibraryOperator, RunPaused, SplitName, TestScored
from dga2d.replay.errors import InvariantError
from dga2d.replay.projection import project
from dga2d.replay.state.fold import fold, fold_all
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.inspection.verdict import gaps_by_seconds, held_out_gaps

if TYPE_CHECKING:
    from tests.agents.memory_log import MemoryLog
    from tests.agents.simulation import Simulation

RUN = RunId("simulated")
SPLITS: tuple[SplitName, ...] = ("train", "validation", "test")


TEXT = b"def run(env_data, state, calc_makespan_fn):\n    return state\n"
HAND_TUNED = (
    LibraryOperator(
        id=OperatorId("polish"),
        category="initialisation",
        requires="none",
        provides="complete",
        tier="advanced",
        implementations=(LibraryImplementation(id=ImplementationId("polish.1"), source=blob_digest(TEXT)),),
    ),
)
"""A baseline of one operator that the run's library lacks."""


def after_test(
    simulation: Simulation, before: MemoryLog, hand_tuned: Sequence[LibraryOperator] = ()
) -> tuple[RunState, MemoryLog]:
    """The log after a process that only tests."""
    log = before.until(len(before.events))

    async def process() -> None:
        state = fold_all(log.events)
        started = Draft("conductor", held_out_test(state, hand_tuned))
        state = fold(state, (await log.append([started], [TEXT]))[0])
        async with project(log, RUN, state) as run, anyio.create_task_group() as tasks:
            for agent in simulation.agents(log, log, state):
                tasks.start_soon(run_agent, agent, run)

    anyio.run(process)
    return fold_all(log.events), log


def with_another_checkpoint(simulation: Simulation) -> tuple[Simulation, RunState, MemoryLog]:
    """A run that has found something better than its baseline: the first of some seeds."""
    for seed in range(20):
        chosen = replace(simulation.changed(checkpoint_margin=0.0), baseline=("build",), seed=seed)
        state, log = chosen.run()
        if state.checkpoint is not None and state.checkpoint.steps != state.header.baseline:
            return chosen, state, log
    raise AssertionError("no run has taken another checkpoint")


def test_a_test_evaluates_the_checkpoint_and_the_baseline_on_every_held_out_instance(
    simulation: Simulation,
) -> None:
    chosen, before, log = with_another_checkpoint(simulation)
    state, log = after_test(chosen, log)
    assert state.status == "completed"
    assert before.checkpoint is not None
    assert before.checkpoint.steps != before.header.baseline
    assert state.test is not None
    assert [c.pipeline for c in state.test.candidates] == [before.checkpoint.steps, before.header.baseline]
    assert len(state.test.outcomes) == 2 * 2
    scored = log.events[-1].payload
    assert isinstance(scored, TestScored)
    gaps = [[state.test.outcomes[j, key].objective for key in state.test.instances] for j in range(2)]
    expected = [sum((y or 0.0) - 100 for y in row) / 200 for row in gaps]
    assert scored.mean_gaps == pytest.approx(expected)
    assert scored.failures == (0, 0)


@pytest.mark.parametrize("repeats", [False, True], ids=["today", "an earlier version"])
async def test_a_checkpoint_that_is_the_baseline_is_evaluated_once(
    simulation: Simulation, repeats: bool
) -> None:
    """Earlier versions evaluated it under both names; their logs still verify."""
    _, state, log = await to_thread.run_sync(with_another_checkpoint, simulation)
    assert state.checkpoint is not None
    kept = replace(state, checkpoint=replace(state.checkpoint, steps=state.header.baseline))
    recorded = held_out_test(kept, repeats_baseline=repeats)
    assert [c.label for c in recorded.candidates] == (["evolved"] if repeats else []) + ["baseline"]
    verifier = DecisionVerifier(simulation.prompt_context, log)
    expected = await verifier.replays["TestStarted"](kept, recorded)
    assert expected is not None
    assert expected.draft.payload == recorded
    expected = await verifier.replays["TestStarted"](state, recorded)
    assert expected is not None
    assert expected.draft.payload != recorded, "another algorithm was to be compared with the baseline"


def test_hand_tuned_code_is_tested_without_becoming_part_of_the_run(simulation: Simulation) -> None:
    """The run that goes on afterwards knows nothing of it."""
    state, log = after_test(simulation, simulation.run()[1], HAND_TUNED)
    assert state.test is not None
    assert [c.label for c in state.test.candidates][-1] == "hand_tuned"
    assert len(state.test.outcomes) == 2 * len(state.test.candidates)
    assert state.source_of(HAND_TUNED[0].implementations[0].id) == HAND_TUNED[0].implementations[0].source
    assert not {*state.sources, *state.operator_of} & {HAND_TUNED[0].implementations[0].id}
    simulation.made_again(log)


def test_a_test_refuses_a_hand_tuned_algorithm_of_unknown_code(
    simulation: Simulation, record: Callable[[int, Draft], RecordedEvent]
) -> None:
    state, _ = simulation.run()
    started = held_out_test(state, HAND_TUNED)
    without_code = HAND_TUNED[0].model_copy(update={"implementations": ()})
    for brought, reason in (((), "unknown implementation"), ((without_code,), "one implementation per op")):
        forged = started.model_copy(update={"hand_tuned": brought})
        event = record(state.seq + 1, Draft("conductor", forged))
        with pytest.raises(InvariantError, match=reason):
            fold(state, event)


def test_what_is_compared_draws_common_random_numbers() -> None:
    """Candidates of a test, and of all validations, have one stream per instance; training has many."""
    places = list(itertools.product((1, 2), (0, 1, 2), (0, 1)))  # generation or attempt, candidate, instance
    train, validation, test = (
        {place: evaluation_stream(split, *place) for place in places} for split in SPLITS
    )
    assert len(set(train.values())) == len(places)
    assert len(set(validation.values())) == 2
    assert all(validation[number, j, i] == validation[1, 0, i] for number, j, i in places)
    assert len(set(test.values())) == 4
    assert all(test[number, j, i] == test[number, 0, i] for number, j, i in places)
    assert len({*train.values(), *validation.values(), *test.values()}) == len(places) + 2 + 4


def test_a_test_of_a_run_that_was_killed_does_not_go_on_with_the_run(simulation: Simulation) -> None:
    _, log = simulation.changed(validation_interval=1).run()
    middle = next(
        e.seq for e in log.events if e.type == "GenerationStarted" and e.generation != 1 and e.seq > 40
    )
    assert fold_all(log.events[:middle]).checkpoint is not None
    state, after = after_test(simulation, log.until(middle))
    assert state.status == "paused"
    assert {e.type for e in after.events[middle:]} == {"TestStarted", "EvaluationRecorded", "TestScored"}
    resumed, _ = simulation.changed(validation_interval=1).run(after)
    assert resumed.status == "completed"
    assert resumed.completed == 3


def test_every_decision_of_a_test_is_made_again(simulation: Simulation) -> None:
    _, log = after_test(simulation, after_test(simulation, simulation.run()[1])[1])
    simulation.made_again(log)
    assert sum(e.type == "TestScored" for e in log.events) == 2


def test_a_test_in_further_seconds_leaves_the_comparison_in_the_own_budget_alone(
    simulation: Simulation,
) -> None:
    chosen, _, log = with_another_checkpoint(simulation)
    alone, _ = after_test(chosen, log)
    further = chosen.changed(test_seconds="0.5,3")
    state, log = after_test(further, further.run()[1])
    assert state.test is not None
    assert [(c.label, c.time_limit_s) for c in state.test.candidates] == [
        (label, limit) for limit in (None, 0.5, 3.0) for label in ("evolved", "baseline")
    ]
    assert held_out_gaps(state) == held_out_gaps(alone)
    assert held_out_gaps(state, is_timed=True) is None
    found = gaps_by_seconds(state)
    assert list(found) == [0.5, 3.0]
    assert found[3.0].keys() == {"evolved", "baseline"}
    assert found[3.0]["evolved"].keys() == set(state.test.instances)
    further.made_again(log)


class Endless:
    """An agent that owes one thing for ever, and counts how often it begins and is cancelled."""

    name: AgentName = "validator"

    def __init__(self) -> None:
        self.begun = 0
        self.cancelled = 0

    def duties(self, state: RunState) -> Sequence[Duty]:
        return (Duty(1),)

    async def perform(self, duty: Duty, state: RunState) -> None:
        self.begun += 1
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            self.cancelled += 1
            raise


def test_a_duty_is_begun_once_and_cancelled_when_the_run_is_paused(
    simulation: Simulation, record: Callable[[int, Draft], RecordedEvent]
) -> None:
    _, whole = simulation.run()
    agent, log = Endless(), whole.until(1)

    async def process() -> None:
        state = fold_all(log.events)
        async with project(log, RUN, state) as run, anyio.create_task_group() as tasks:
            tasks.start_soon(run_agent, agent, run)
            await anyio.sleep(0.01)
            drafts = [
                Draft(e.agent, e.payload, e.generation, e.caused_by)  # type: ignore[arg-type]
                for e in whole.events[1:20]
            ]
            await log.append(drafts)
            await anyio.sleep(0.01)
            await log.append([Draft("conductor", RunPaused(reason="stop"))])

    anyio.run(process)
    assert (agent.begun, agent.cancelled) == (1, 1)
