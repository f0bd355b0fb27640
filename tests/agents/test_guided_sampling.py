"""Walks are sampled close to the incumbent's, which takes part in the policy's updates if asked for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.agents.memory_log import MemoryLog
from tests.agents.simulation import Simulation

from dga2d.agents.pipeline_sampler import PolicyPromptContext, training_batch, update_context
from dga2d.agents.policy.walks import is_feasible
from dga2d.events.payloads import GenerationStarted, PipelineSampled, PolicyUpdated
from dga2d.replay.state.fold import fold
from dga2d.replay.state.incumbent import incumbent
from dga2d.replay.state.run_state import RunState

WORDS = PolicyPromptContext("D.", "n=1", {})


@pytest.fixture(scope="module")
def guided(simulation: Simulation) -> Simulation:
    return simulation.changed(policy_focus=0.3, policy_replay=0.5, generations=4)


@pytest.fixture(scope="module")
def log(guided: Simulation) -> MemoryLog:
    return guided.run()[1]


def test_the_walks_of_a_run_begin_at_the_baseline(simulation: Simulation) -> None:
    near = simulation.changed(policy_focus=0.99, generations=1, pipelines=4)
    plain = simulation.changed(generations=1, pipelines=4)
    found = []
    for seed in range(3):
        for run in (near, plain):
            state, log = replace(run, seed=seed).run()
            baseline = tuple(step.operator for step in state.header.baseline)
            walks = [p.steps for p in (e.payload for e in log.events) if isinstance(p, PipelineSampled)]
            found.append([tuple(s.operator for s in steps) for steps in walks].count(baseline))
    assert sum(found[::2]) >= 10 > sum(found[1::2])  # of 12


def test_the_guide_of_a_generation_is_the_incumbent_at_its_start(log: MemoryLog) -> None:
    state, guides = RunState(), set()
    for event in log.events:
        before, state = state, fold(state, event)
        if isinstance(event.payload, GenerationStarted):
            wanted = tuple(step.operator for step in incumbent(before))
        if isinstance(event.payload, PolicyUpdated):
            assert before.generation is not None
            assert before.generation.guide == wanted
            guides.add(wanted)
    assert len(guides) > 1


def test_the_incumbent_takes_part_in_an_update_while_the_graph_has_its_walk(log: MemoryLog) -> None:
    state, found = RunState(), []
    for event in log.events:
        if isinstance(event.payload, PolicyUpdated):
            assert state.generation is not None
            context = update_context(state, WORDS)
            walks, rewards = training_batch(state, context)
            has_walk = is_feasible(context, state.generation.guide)
            assert len(walks) == len(rewards) == state.generation.size + has_walk
            if has_walk:
                assert (walks[-1], rewards[-1]) == (state.generation.guide, 0.5)
            found.append(has_walk)
            gone = replace(state, generation=replace(state.generation, guide=walks[0][:1] * 2))
            assert len(training_batch(gone, context)[0]) == state.generation.size
        state = fold(state, event)
    assert any(found)


def test_guided_runs_are_decided_again(guided: Simulation, log: MemoryLog) -> None:
    assert guided.made_again(log) > 50
