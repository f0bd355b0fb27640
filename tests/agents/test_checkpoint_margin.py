"""``checkpoint_margin``: what replaces the checkpoint must be better than it pair by pair, not by luck."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agents.simulation import Simulation

from dga2d.agents.scoring import CandidateScore, is_clearly_better
from dga2d.agents.validator import decide, duties
from dga2d.events import RecordedEvent, encode_payload
from dga2d.events.payloads import CheckpointSelected, PipelinesDecoded, RunStarted, ValidationScored
from dga2d.replay.errors import InvariantError
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.fold import fold
from dga2d.replay.state.run_state import RunState

gaps = st.lists(st.floats(0, 1), min_size=1, max_size=8)


def scored(values: Sequence[float | None]) -> CandidateScore:
    known = [value for value in values if value is not None]
    is_whole = len(known) == len(values)
    return CandidateScore(-sum(known) / len(known) if is_whole else -5.0, tuple(values))


def test_a_gain_counts_by_its_standard_error() -> None:
    kept = scored([0.30, 0.20, 0.10, 0.40])
    steady = scored([0.29, 0.19, 0.09, 0.39])  # 0.01 better everywhere
    lucky = scored([0.31, 0.21, 0.11, 0.29])  # better in the mean, by one instance
    assert lucky.score > steady.score > kept.score
    assert is_clearly_better(steady, kept, 100.0)
    assert not is_clearly_better(lucky, kept, 1.0)
    assert is_clearly_better(lucky, kept, 0.5)
    assert not is_clearly_better(kept, steady, 0.0)


def test_winning_everywhere_counts_where_gains_differ_by_orders_of_magnitude() -> None:
    kept = scored([0.001, 0.002, 0.003, 0.5])
    everywhere = scored([0.0, 0.0, 0.0, 0.0])
    once = scored([0.001, 0.002, 0.003, 0.0])
    mostly = scored([0.0, 0.0, 0.004, 0.0])
    assert is_clearly_better(everywhere, kept, 2.0)  # 4 won, none lost
    assert not is_clearly_better(everywhere, kept, 2.1)
    assert not is_clearly_better(once, kept, 1.1)
    assert not is_clearly_better(mostly, kept, 2.0)
    worse_in_the_mean = scored([0.0, 0.0, 0.0, 0.6])
    assert not is_clearly_better(worse_in_the_mean, kept, 0.0)


def test_a_failure_is_worse_than_anything_that_works() -> None:
    works, fails = scored([0.9, 0.9]), scored([0.1, None])
    assert is_clearly_better(works, fails, 3.0)
    assert not is_clearly_better(fails, works, 0.0)
    assert not is_clearly_better(fails, fails, 0.0)


@given(gaps, st.floats(0, 3))
def test_nothing_is_better_than_itself(values: list[float], margin: float) -> None:
    assert not is_clearly_better(scored(values), scored(values), margin)


@given(gaps, gaps, st.floats(0, 3), st.floats(0, 3))
def test_a_greater_margin_lets_less_through(a: list[float], b: list[float], one: float, two: float) -> None:
    n = min(len(a), len(b))
    first, second = scored(a[:n]), scored(b[:n])
    low, high = sorted((one, two))
    assert is_clearly_better(first, second, low) or not is_clearly_better(first, second, high)


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6))])
@pytest.mark.parametrize("margin", [0.5, 1e9])
def test_the_checkpoint_starts_at_the_baseline_and_is_compared_each_time(
    simulation: Simulation, seed: int, margin: float
) -> None:
    narrow = simulation.changed(validation_interval=1, generations=4, checkpoint_margin=margin)
    _, log = replace(narrow, seed=seed).run()
    baseline = simulation.run()[0].header.baseline
    state, checkpoints = RunState(), []
    for event in log.events:
        if isinstance(event.payload, PipelinesDecoded):
            kept = baseline if state.checkpoint is None else state.checkpoint.steps
            assert kept in event.payload.pipelines
        if isinstance(event.payload, CheckpointSelected):
            checkpoints.append(event.payload)
        state = fold(state, event)
    assert checkpoints
    if margin == 1e9:  # instances differ: no gain is that steady
        assert [c.pipeline for c in checkpoints] == [baseline]
    scores = [c.score for c in checkpoints]
    assert scores == sorted(set(scores))


def test_decisions_with_a_margin_are_made_again(simulation: Simulation) -> None:
    narrow = simulation.changed(validation_interval=1, generations=4, checkpoint_margin=0.5)
    _, log = narrow.run()
    assert narrow.made_again(log) > 50
    assert sum(e.type == "PipelinesDecoded" for e in log.events) == 4


@pytest.fixture(scope="module")
def succession(simulation: Simulation) -> tuple[RunState, RecordedEvent]:
    """An event with which one checkpoint follows another, and the state before it, in which the first was
    stored with a score by luck: better than all that it is compared with now.
    """
    narrow = simulation.changed(validation_interval=1, generations=4, checkpoint_margin=0.1)
    state = RunState()
    for event in replace(narrow, seed=3).run()[1].events:
        if isinstance(event.payload, CheckpointSelected) and state.checkpoint is not None:
            lucky = replace(state.checkpoint, score=event.payload.score + 1.0)
            return replace(state, checkpoint=lucky), event
        state = fold(state, event)
    raise AssertionError("expected two checkpoints")


def under(rule: str, state: RunState) -> RunState:
    settings = state.settings.model_copy(update={"checkpoint_rule": rule})
    return replace(state, settings=settings)


def test_a_stored_score_does_not_outlast_a_clear_loss_pair_by_pair(
    succession: tuple[RunState, RecordedEvent],
) -> None:
    state, event = succession
    (duty,) = duties(state)
    first = decide(state, duty).drafts[0]
    assert first.payload == event.payload
    assert fold(state, event).checkpoint != state.checkpoint


def test_a_log_of_the_former_rule_keeps_the_stored_score(
    succession: tuple[RunState, RecordedEvent],
) -> None:
    state, event = succession
    before = under("pairs_and_score", state)
    (duty,) = duties(before)
    assert [type(draft.payload) for draft in decide(before, duty).drafts] == [ValidationScored]
    with pytest.raises(InvariantError, match="no better than the one before"):
        fold(before, event)


def test_a_validation_selects_one_checkpoint(succession: tuple[RunState, RecordedEvent]) -> None:
    """A process that ends between checkpoint and scores does not select again when it goes on."""
    state, event = succession
    after = fold(state, event)
    (duty,) = duties(after)
    assert [type(draft.payload) for draft in decide(after, duty).drafts] == [ValidationScored]
    with pytest.raises(InvariantError, match="selected a checkpoint before"):
        fold(after, event._replace(seq=event.seq + 1))


def test_a_log_that_does_not_name_the_rule_was_decided_by_the_former_one(simulation: Simulation) -> None:
    _, log = simulation.run()
    first = log.events[0]
    started = first.payload
    assert isinstance(started, RunStarted)
    unnamed = {key: value for key, value in started.settings.items() if key != "checkpoint_rule"}
    event = first._replace(payload_bytes=encode_payload(started.model_copy(update={"settings": unnamed})))
    assert fold(RunState(), event).settings.checkpoint_rule == "pairs_and_score"
    assert fold(RunState(), first).settings.checkpoint_rule == RunSettings().checkpoint_rule == "pairs"


def test_a_log_that_does_not_name_the_margin_was_decided_without_a_margin(simulation: Simulation) -> None:
    """Such logs were written before there was one."""
    _, log = simulation.changed(checkpoint_margin=0.0).run()
    first = log.events[0]
    started = first.payload
    assert isinstance(started, RunStarted)
    unnamed = {key: value for key, value in started.settings.items() if key != "checkpoint_margin"}
    older = started.model_copy(update={"settings": unnamed})
    event = first._replace(payload_bytes=encode_payload(older))
    assert fold(RunState(), event).settings == fold(RunState(), first).settings
    assert RunSettings().checkpoint_margin > 0.0
