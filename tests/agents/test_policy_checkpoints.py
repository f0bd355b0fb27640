"""Runs whose policy is saved to files: what the log says of them, what stays, what a resume takes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dga2d.agents.pipeline_sampler import (
    PipelineSampler,
    PolicyPromptContext,
    pipelines_to_validate,
    policy_context,
)
from dga2d.agents.policy.archive import PolicyArchive
from dga2d.agents.policy.contract import PipelinePolicy, PolicySettings
from dga2d.agents.policy.policies import make_policy
from dga2d.events.payloads import PipelineSampled, PipelinesDecoded, PolicyCheckpointed, PolicyUpdated
from dga2d.replay.state.fold import fold, fold_all
from dga2d.replay.state.run_state import RunState

if TYPE_CHECKING:
    from tests.agents.memory_log import MemoryLog
    from tests.agents.simulation import Simulation

pytestmark = pytest.mark.timeout(300)  # the first test imports torch, which takes a loaded machine a minute

Learning = Callable[[PipelinePolicy], Any]
WORDS = PolicyPromptContext("imaginary", "small", {})


def embedded() -> PipelinePolicy:
    """The embedded policy, a quarter as wide."""
    from dga2d.agents.policy.loading import build_policy, code_tokenizer, random_model, small_qwen2_config

    tokenizer = code_tokenizer()
    config = small_qwen2_config(len(tokenizer))
    config.hidden_size, config.intermediate_size = 32, 64
    return build_policy("narrow", random_model(config, 1), tokenizer, 1, PolicySettings(threads=1))


@pytest.fixture
def archive(tmp_path: Path) -> PolicyArchive:
    return PolicyArchive(tmp_path / "policies")


@pytest.fixture
def learning(simulation: Simulation, archive: PolicyArchive) -> Learning:
    """The small simulation with a given policy, saved to `archive`."""

    class _Learning(type(simulation)):  # type: ignore[misc]
        policy: PipelinePolicy

        def agents(self, log: Any, source: Any, state: RunState) -> Any:
            sampler = PipelineSampler(log, self.policy, WORDS, archive)
            return tuple(
                sampler if agent.name == sampler.name else agent
                for agent in super().agents(log, source, state)
            )

    def build(policy: PipelinePolicy) -> Any:
        settings = simulation.changed(generations=5, validation_interval=3).settings
        built = _Learning(**{**vars(simulation), "settings": settings})
        object.__setattr__(built, "policy", policy)
        return built

    return build


def saved(log: MemoryLog) -> list[PolicyCheckpointed]:
    return [e.payload for e in log.events if isinstance(e.payload, PolicyCheckpointed)]


def sampled(log: MemoryLog) -> dict[str, bytes]:
    return {
        str(e.payload.operation()): e.payload_bytes
        for e in log.events
        if isinstance(e.payload, PipelineSampled)
    }


def test_every_update_is_saved_and_the_last_two_and_the_best_stay(
    learning: Learning, archive: PolicyArchive
) -> None:
    """The best one as known at the last save; a later validation prunes nothing."""
    _, log = learning(embedded()).run()
    digests = {e.payload.parameters_digest for e in log.events if isinstance(e.payload, PolicyUpdated)}
    events = saved(log)
    assert [event.policy_updates for event in events] == [1, 2, 3, 4, 5]
    assert {event.parameters_digest for event in events} == digests
    last_save = max(e.seq for e in log.events if isinstance(e.payload, PolicyCheckpointed))
    then = fold_all(log.events[: last_save - 1])
    assert then.checkpoint is not None
    best = next(s.digest for s in then.saved_policies if s.updates == then.checkpoint_updates)
    kept = {path.name for path in archive.folder.iterdir()}
    assert kept == {events[-1].files_digest, events[-2].files_digest, best}


def test_saves_come_at_the_interval_and_before_validations(learning: Learning) -> None:
    simulation = learning(embedded())
    settings = simulation.settings.model_copy(update={"policy_checkpoint_interval": 4})
    object.__setattr__(simulation, "settings", settings)
    _, log = simulation.run()
    assert [event.generation for event in saved(log)] == [3, 4, 5]


def test_a_resumed_run_samples_what_the_uninterrupted_one_would_have(
    learning: Learning, archive: PolicyArchive
) -> None:
    """Stopped after any checkpoint: the policy comes from its files, the next samples are the same."""
    _, whole = learning(embedded()).run()
    policies = {event.policy_updates: event.files_digest for event in saved(whole)}
    restored = []
    for event in list(whole.events):
        if not isinstance(event.payload, PolicyCheckpointed) or event.payload.policy_updates not in (3, 4):
            continue
        log = whole.until(event.seq)
        state = fold_all(log.events)
        policy = embedded()
        if not (archive.folder / policies[state.policy_updates]).is_dir():  # pruned since
            continue
        restored.append(state.policy_updates)
        sampler = PipelineSampler(log, policy, WORDS, archive)
        assert sampler.restore(state) == state.policy_updates
        assert policy.digest() == state.policy_digest
        _, resumed = learning(policy).run(log)
        assert sampled(resumed) == sampled(whole)
    assert 4 in restored


def test_the_best_checkpoint_can_be_had_again_as_a_whole(learning: Learning, archive: PolicyArchive) -> None:
    """Its saved policy, on graph, pools and credits of that moment, decodes the pipelines it came from."""
    state, log = learning(embedded()).run()
    assert state.checkpoint is not None
    then = fold_all(log.events[: state.checkpoint_seq - 1])
    policy = embedded()
    (saved_then,) = (s.digest for s in state.saved_policies if s.updates == state.checkpoint_updates)
    archive.load(policy, saved_then)
    walks = policy.decode(policy_context(then, WORDS), then.settings.beam_width)
    decoded = pipelines_to_validate(then, walks)
    recorded = [e.payload for e in log.events if isinstance(e.payload, PipelinesDecoded)]
    assert decoded in recorded
    assert state.checkpoint.steps in decoded.pipelines


def test_the_policy_is_rebuilt_from_the_log_alone(learning: Learning) -> None:
    _, log = learning(embedded()).run()
    sampler = PipelineSampler(log, embedded(), WORDS)
    state = RunState()
    rebuilt = []
    for event in log.events:
        before, state = state, fold(state, event)
        if event.type == "PolicyUpdated":
            rebuilt.append(sampler.rebuild(before))
            assert rebuilt[-1] == state.policy_digest
    assert len(set(rebuilt)) == 5
    assert sampler.restore(state) == 0  # no archive, nothing to load


def test_a_stop_between_files_and_log_leaves_nothing_behind(
    learning: Learning, archive: PolicyArchive
) -> None:
    """Files that no event speaks of are removed with the next save."""
    _, whole = learning(embedded()).run()
    orphan = archive.save(make_policy("embedded", 9, PolicySettings()))
    cut = next(e.seq for e in whole.events if e.type == "PolicyUpdated") - 1
    _, log = learning(embedded()).run(whole.until(cut))
    assert not (archive.folder / orphan.digest).exists()
    assert dataclasses.asdict(fold_all(log.events).saved_policies[-1])["updates"] == 5
