"""On a domain with a known best algorithm, what is learned helps to find it."""

from __future__ import annotations

from statistics import fmean

import pytest
from tests.agents.planted import chain_domain, complete_domain, ratio_of_means, search

from dga2d.agents.policy.contract import PolicySettings
from dga2d.agents.policy.policies import UniformPolicy, make_policy
from dga2d.events.payloads import Step
from dga2d.replay.settings import CreditContext
from dga2d.replay.streams import stream

SEEDS = range(12)


def test_only_the_planted_algorithm_has_no_loss() -> None:
    """All walks of the small domain, with all their implementations."""
    domain = complete_domain(2, 3, 4)
    perfect = []
    for seed in range(300):
        (walk,) = UniformPolicy().sample(domain.context, [stream(seed, "pipeline", 1, 0)])
        steps = [Step(operator=o, implementation=domain.pools[o][0]) for o in walk.operators]
        assert -1.0 <= domain.score(steps) <= 0.0
        if domain.score(steps) == 0.0:
            perfect.append(walk.operators)
    assert set(perfect) == {domain.planted}
    # START: 1 of 2, then 1 of 2, then 1 of 2, then END of 2
    assert len(perfect) / 300 == pytest.approx(1 / 16, abs=0.05)


def test_correcting_the_first_wrong_operator_always_pays() -> None:
    domain = complete_domain(3, 4, 5)
    draws = [stream(0, "pipeline", 1, j) for j in range(300)]
    for walk in {w.operators for w in UniformPolicy().sample(domain.context, draws)} - {domain.planted}:
        kept = 0
        while walk[kept : kept + 1] == domain.planted[kept : kept + 1] and kept < len(walk):
            kept += 1
        corrected = (*domain.planted[: kept + 1], *walk[kept + 1 :])
        assert domain.order_loss(corrected) < domain.order_loss(walk)


def test_a_ratio_of_equal_means_is_one_and_lies_in_its_interval() -> None:
    values = [float(v) for v in range(1, 21)]
    same = ratio_of_means(values, values)
    assert (same.value, same.low, same.high) == (1.0, 1.0, 1.0)
    shuffled = ratio_of_means(values, values[::-1])
    assert shuffled.low < shuffled.value == 1.0 < shuffled.high


@pytest.mark.slow
def test_first_order_credit_beats_zero_order_where_rewards_depend_on_predecessors() -> None:
    domain = chain_domain(length=5, pool_size=3)
    contexts: tuple[CreditContext, ...] = ("zero", "first")
    zero, first = (
        [search(domain, UniformPolicy(), seed, 100, order, to_the_end=True) for seed in SEEDS]
        for order in contexts
    )
    late, late_zero = ([-fmean(r.scores[-40:]) for r in results] for results in (first, zero))
    assert ratio_of_means(late, late_zero).high < 0.85  # loss of the last ten generations
    assert fmean(result.final for result in first) > fmean(result.final for result in zero) + 0.1
    needed, needed_zero = ([float(r.evaluations or 400) for r in results] for results in (first, zero))
    assert ratio_of_means(needed, needed_zero).value < 1.0


@pytest.mark.slow
@pytest.mark.timeout(600)  # most of it torch
def test_the_learned_policy_finds_a_planted_order_sooner_than_the_uniform_one() -> None:
    """``benchmarks/planted.py`` has the ratio over 20 seeds with its interval."""
    domain, seeds = complete_domain(improvers=4, length=4, max_length=5), range(4)
    uniform = [search(domain, UniformPolicy(), seed, 1000).evaluations for seed in seeds]
    learned = [
        search(domain, make_policy("embedded", seed, PolicySettings()), seed, 300).evaluations
        for seed in seeds
    ]
    assert None not in learned, "it settled on another walk"
    assert fmean(e or 1200 for e in learned) < 0.7 * fmean(e or 4000 for e in uniform)
