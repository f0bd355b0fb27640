"""``checkpoint_rule = "pooled"``: a test over all validations of a pair, at one error rate for the run."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.agents.outside_world import HashEvaluator
from tests.agents.simulation import Simulation

from dga2d.agents.comparison import clearly_better, compare_gains, error_weights, pooled_gains, signed_rank_p
from dga2d.agents.conductor import validation_instances
from dga2d.agents.ports import EvaluationReply, EvaluationRequest
from dga2d.agents.validator import decide, duties
from dga2d.events import InstanceKey, copy_of, instance_and_copy
from dga2d.events.payloads import ChallengersCompared, CheckpointSelected, ValidationScored, ValidationStarted
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.fold import fold, fold_all
from dga2d.replay.state.run_state import RunState


class LuckEvaluator(HashEvaluator):
    """Objectives from a hash of the random stream as well: no pipeline is better than another."""

    async def evaluate(self, request: EvaluationRequest) -> EvaluationReply:
        reply = await super().evaluate(request)
        text = f"{request.seed}|{[step.digest for step in request.steps]}"
        draw = int.from_bytes(hashlib.sha256(text.encode()).digest()[:2])
        return replace(reply, objective=None if reply.objective is None else 100.0 + draw / 655.36)


class LongerIsBetter(LuckEvaluator):
    """The same, but what has more steps than the baseline is better by 60."""

    async def evaluate(self, request: EvaluationRequest) -> EvaluationReply:
        reply = await super().evaluate(request)
        assert reply.objective is not None
        return replace(reply, objective=reply.objective - 60.0 * (len(request.steps) > 2))


@pytest.fixture(autouse=True)
def luck(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.agents.simulation.HashEvaluator", LuckEvaluator)


@pytest.fixture(scope="module")
def pooled(simulation: Simulation) -> Simulation:
    return simulation.changed(
        validation_interval=1, generations=4, checkpoint_rule="pooled", validation_instances=9
    )


def test_gains_are_tested_in_the_mean_and_by_rank() -> None:
    found = compare_gains([1.0, 2.0, 3.0])
    assert (found.pairs, found.mean_gain, found.won, found.lost) == (3, 2.0, 3, 0)
    assert found.interval == pytest.approx((2.0 - 4.302653 / 3**0.5, 2.0 + 4.302653 / 3**0.5), abs=1e-5)
    assert found.p_value == pytest.approx(2 * 0.037090, abs=1e-5)  # Student; the ranks give 1/8
    spread = compare_gains([1e-6 * 10**i for i in range(10)])
    assert spread.p_value == pytest.approx(2 / 2**10, rel=1e-4)  # won everywhere; the mean shows nothing
    assert compare_gains([0.0, 0.0]).p_value == 1.0
    assert compare_gains([-1.0, -2.0, -3.0]).p_value == 1.0
    assert compare_gains([0.5]) == (1, 0.5, None, 1, 0, 1.0)


@given(gains=st.lists(st.integers(-60, 60).filter(bool), min_size=1, max_size=70))
@example(gains=[3])
@example(gains=list(range(1, 51)))
@example(gains=list(range(-8, 43))[:8] + list(range(9, 52)))
@example(gains=[1, -1] * 7)
@example(gains=[5] * 13)
@example(gains=[5] * 14)
def test_the_rank_test_is_scipys(gains: list[int]) -> None:
    from scipy.stats import wilcoxon  # a second, which the workers that run other tests need not wait

    expected = float(wilcoxon(gains, alternative="greater").pvalue)
    assert signed_rank_p([gain / 7.0 for gain in gains]) == pytest.approx(expected, rel=1e-12)


def test_students_figures_are_scipys() -> None:
    from scipy.stats import ttest_1samp

    gains = [0.25, -0.125, 0.5, 0.0, 0.75]
    found = compare_gains(gains)
    p_value = ttest_1samp(gains, 0.0, alternative="greater").pvalue
    assert found.p_value == pytest.approx(2.0 * p_value, rel=1e-5)  # less than the ranks' 1/8
    assert found.interval == pytest.approx(ttest_1samp(gains, 0.0).confidence_interval(0.95), rel=1e-5)


def test_challengers_share_an_error_rate_by_holms_procedure() -> None:
    assert clearly_better([0.03, 0.011, 0.012], 0.04) == [1, 2, 0]  # ≤ 0.04/3, 0.04/2, 0.04
    assert clearly_better([0.03, 0.014, 0.0119], 0.036) == [2, 1, 0]
    assert clearly_better([0.03, 0.014, 0.0121], 0.036) == []
    assert clearly_better([], 0.05) == []
    assert clearly_better([0.03, 0.039], 0.05, [0.2, 0.8]) == [1, 0]  # 0.039 ≤ 0.8 · 0.05, then 0.03 ≤ 0.05
    assert clearly_better([0.03, 0.041], 0.05, [0.2, 0.8]) == []


def test_the_champion_of_the_races_has_its_part_of_the_error_rate(pooled: Simulation) -> None:
    state, _ = pooled.changed(race_contenders=4, champion_share=0.8).run()
    assert state.champion is not None
    champion = state.champion.steps
    one, other = champion[:1], champion[:1] * 2
    assert error_weights(state, [one, champion, other]) == pytest.approx([0.1, 0.8, 0.1])
    assert error_weights(state, [one, other]) == [1.0, 1.0]
    assert error_weights(state, [champion]) == [1.0]


def test_an_instance_under_another_stream_has_a_name() -> None:
    key = InstanceKey("group/name")
    assert instance_and_copy(key) == (key, 1)
    assert instance_and_copy(copy_of(key, 3)) == (key, 3)
    assert instance_and_copy(InstanceKey("group/a # b")) == ("group/a # b", 1)


def test_a_small_split_is_used_under_several_streams(pooled: Simulation) -> None:
    state = pooled.run()[0]
    split = [entry.key for entry in state.header.splits.validation]
    chosen = validation_instances(state)
    assert len(chosen) == len(set(chosen)) == 9 > len(split)
    assert {instance_and_copy(key)[0] for key in chosen} == set(split)
    unset = state.settings.model_copy(update={"validation_instances": None})
    assert len(validation_instances(replace(state, settings=unset))) == 33


@pytest.mark.parametrize("rule", ["pooled", "pairs"])
def test_the_last_planned_validation_compares_on_more_pairs(pooled: Simulation, rule: str) -> None:
    """Under the other rule a score says nothing beside one of other instances, so all have the same."""
    run = pooled.changed(last_validation=3, checkpoint_rule=rule, validation_interval=2, generations=5)
    state, log = run.run()
    sizes = {
        event.generation: len(event.payload.instances)
        for event in log.events
        if isinstance(event.payload, ValidationStarted)
    }
    split = len(state.header.splits.validation)
    assert sizes == ({2: 9, 4: 9, 5: 27} if rule == "pooled" else {2: split, 4: split, 5: split})
    assert run.made_again(log)


def comparisons(simulation: Simulation) -> Iterator[tuple[RunState, ChallengersCompared]]:
    state = RunState()
    for event in simulation.run()[1].events:
        if isinstance(event.payload, ChallengersCompared):
            yield state, event.payload
        state = fold(state, event)


def test_gains_are_pooled_over_all_validations_of_a_pair(pooled: Simulation) -> None:
    found = list(comparisons(pooled))
    assert len(found) == 4
    pairs = [row.pairs for _, compared in found for row in compared.comparisons]
    assert {9, 18} <= set(pairs)
    for state, compared in found:
        assert state.generation is not None
        assert state.generation.validation is not None
        pipelines = state.generation.validation.pipelines or ()
        kept = pipelines[compared.checkpoint]
        for row in compared.comparisons:
            earlier = pooled_gains(state, pipelines[row.candidate], kept, state.validated)
            assert row.pairs == 9 + len(earlier)


def test_an_instance_is_one_observation_where_there_are_enough(
    pooled: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = pooled.changed(checkpoint_unit="instance")
    few = [row.pairs for _, compared in comparisons(run) for row in compared.comparisons]
    assert few
    assert min(few) == 9
    monkeypatch.setattr("dga2d.agents.comparison.LEAST_INSTANCES", 2)
    enough = [row.pairs for _, compared in comparisons(run) for row in compared.comparisons]
    assert set(enough) == {2}
    state, log = run.run()
    assert run.made_again(log)
    (first, *_), kept = state.validated, state.header.baseline
    settings = state.settings.model_copy(update={"checkpoint_unit": "pair"})
    for steps in first.pipelines:
        means = pooled_gains(state, steps, kept, [first])
        pairs = pooled_gains(replace(state, settings=settings), steps, kept, [first])
        parts: dict[InstanceKey, list[float]] = {}
        for (key, *_), gain in pairs.items():
            parts.setdefault(key, []).append(gain)
        assert {key: gain for (key, *_), gain in means.items()} == pytest.approx(
            {key: sum(part) / len(part) for key, part in parts.items()}
        )


def test_the_same_pair_meets_new_streams(pooled: Simulation) -> None:
    state, _ = pooled.run()
    first, *_, last = [r for r in state.validated if state.header.baseline in r.pipelines]
    assert first.row(state.header.baseline) != last.row(state.header.baseline)
    assert len(set(first.row(state.header.baseline))) > len(state.header.splits.validation)


def test_the_error_rate_of_a_run_is_never_spent_twice(pooled: Simulation) -> None:
    rates = [compared.error for _, compared in comparisons(pooled)]
    assert all(rate > 0.0 for rate in rates)
    assert 0.9 * 0.05 < sum(rates) < 0.05
    assert max(rates) < 0.45 * sum(rates)


def test_most_of_the_error_rate_can_be_left_for_the_last_validation(pooled: Simulation) -> None:
    run = pooled.changed(error_spending="late")
    state, log = run.run()
    rates = [r.comparison.error for r in state.validated if r.comparison is not None]
    assert rates[0] == pytest.approx(0.9 * 0.05 / 4**3, abs=1e-7)
    assert rates == sorted(rates)
    assert sum(rates[:-1]) < rates[-1] < sum(rates) < 0.05
    assert run.made_again(log) > 50
    short, _ = run.changed(generations=1).run()
    assert [r.comparison.error for r in short.validated if r.comparison is not None] == [0.045]


def test_what_beats_the_baseline_need_only_be_ahead_of_the_checkpoint(pooled: Simulation) -> None:
    """Of programs that differ by luck alone a test against the checkpoint takes none after the first; one
    against the baseline lets each follow that was luckier than the one before in their common validations."""
    longer = replace(pooled, evaluator=LongerIsBetter)
    run, followers = longer.changed(checkpoint_against="baseline", generations=6), 0
    for state, compared in comparisons(run):
        assert state.generation is not None
        assert state.generation.validation is not None
        pipelines, start = state.generation.validation.pipelines or (), state.header.baseline
        assert start in pipelines
        is_first = pipelines[compared.checkpoint] == start
        assert (compared.over_baseline is None) == is_first
        tested = compared.comparisons if compared.over_baseline is None else compared.over_baseline
        assert {row.candidate for row in tested} == set(range(len(pipelines))) - {
            compared.checkpoint,
            pipelines.index(start),
        }
        gains = {row.candidate: row.mean_gain for row in compared.comparisons}
        p_values = {row.candidate: row.p_value for row in tested}
        assert all(gains[j] > 0.0 and p_values[j] <= compared.error for j in compared.better)
        assert list(compared.better) == sorted(compared.better, key=lambda j: -gains[j])
        beside = {row.candidate: row.p_value for row in compared.comparisons}
        followers += not is_first and any(beside[j] > compared.error for j in compared.better[:1])
    assert followers > 0
    state, log = run.run()
    assert state.checkpoint is not None
    assert len(state.checkpoint.steps) > 2
    assert run.made_again(log)
    usual = comparisons(longer.changed(generations=6))
    assert sum(bool(compared.better) for _, compared in usual) == 1


@pytest.mark.slow
@pytest.mark.parametrize("spending", ["even", "late"])
@pytest.mark.parametrize("against", ["checkpoint", "baseline"])
def test_luck_alone_replaces_no_checkpoint(pooled: Simulation, spending: str, against: str) -> None:
    """All objectives of this problem are drawn from one distribution; 20 runs at 5 % expect one mistake."""
    replaced = 0
    for seed in range(20):
        run = replace(pooled, seed=seed).changed(error_spending=spending, checkpoint_against=against)
        state, _ = run.run()
        assert state.checkpoint is not None
        replaced += state.checkpoint.steps != state.header.baseline
    assert replaced <= 4  # more have a probability of 0.3 %


def test_decisions_on_pooled_validations_are_made_again(pooled: Simulation) -> None:
    _, log = pooled.run()
    assert pooled.made_again(log) > 50
    for index, event in enumerate(log.events):
        if isinstance(event.payload, ChallengersCompared):  # a process that ends here goes on behind it
            state = fold_all(log.events[: index + 1])
            (duty,) = duties(state)
            kinds = [type(draft.payload) for draft in decide(state, duty).drafts]
            first = state.checkpoint is None
            assert kinds == ([CheckpointSelected, ValidationScored] if first else [ValidationScored])


def test_only_a_margin_pools_validations() -> None:
    assert RunSettings(checkpoint_rule="pooled").pools_validations
    assert not RunSettings(checkpoint_rule="pooled", checkpoint_margin=0.0).pools_validations
    assert not RunSettings().pools_validations
