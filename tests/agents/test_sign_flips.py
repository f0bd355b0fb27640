"""``checkpoint_test = "joint"``: challengers of a validation are tested together by flipped signs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.agents.simulation import Simulation
from tests.agents.test_pooled_validations import LongerIsBetter, LuckEvaluator, comparisons

from dga2d.agents.agent import open_validation
from dga2d.agents.comparison import checkpoint_or_baseline, pooled_gains
from dga2d.agents.sign_flips import ALL_FLIPS, joint_p_values
from dga2d.replay.state.generation_state import closed_round

Gains = Sequence[float]
WHOLE = st.integers(-4, 4).map(float)
JOINT: dict[str, Any] = {
    "generations": 4,
    "validation_interval": 1,
    "validation_instances": 9,
    "checkpoint_rule": "pooled",
    "checkpoint_test": "joint",
}
"""Settings under which every generation is validated and its challengers are tested together."""


def numbered(gains: Gains) -> dict[int, float]:
    return dict(enumerate(gains))


def tails(gains: Gains) -> dict[tuple[int, ...], int]:
    """For each way to flip how many are at least as extreme, by mean or by rank; nothing is fast here."""
    moved = [abs(gain) for gain in gains if gain]
    ranks = [sum(b < abs(a) for b in moved) + (sum(b == abs(a) for b in moved) + 1) / 2 for a in gains]

    def counts(values: Gains) -> dict[tuple[int, ...], int]:
        sums = {flips: sum(f * v for f, v in zip(flips, values, strict=True)) for flips in ways}
        return {flips: sum(other >= own for other in sums.values()) for flips, own in sums.items()}

    ways = list(product((1, -1), repeat=len(gains)))
    by_mean = counts(gains)
    by_rank = counts([rank * (a > 0) - rank * (a < 0) for rank, a in zip(ranks, gains, strict=True)])
    smaller = {flips: min(by_mean[flips], by_rank[flips]) for flips in ways}
    return {flips: sum(other <= own for other in smaller.values()) for flips, own in smaller.items()}


def plain(challengers: Sequence[Gains]) -> list[float]:
    """By the definition: the largest p-value of any set of challengers of which it is the best."""
    found = [tails(gains) for gains in challengers]
    as_is = (1,) * len(challengers[0])
    left = sorted(range(len(found)), key=lambda j: (found[j][as_is], j))
    p_values, so_far = [0.0] * len(found), 0.0
    while left:
        first = left[0]
        least = [min(found[j][flips] for j in left) for flips in found[first]]
        so_far = max(so_far, sum(count <= found[first][as_is] for count in least) / len(least))
        p_values[first] = so_far
        left = left[1:]
    return p_values


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6).flatmap(lambda n: st.lists(st.lists(WHOLE, min_size=n, max_size=n), max_size=4)))
def test_p_values_are_those_of_the_definition(rows: list[list[float]]) -> None:
    kept = [i for i in range(len(rows[0]) if rows else 0) if any(row[i] for row in rows)]
    found = joint_p_values([numbered(row) for row in rows])
    if not kept:
        assert found == [1.0] * len(rows)
        return
    assert found == pytest.approx(plain([[row[i] for i in kept] for row in rows]), rel=1e-5)


def test_a_challenger_that_is_there_twice_takes_nothing_from_itself() -> None:
    gains = numbered([1.0, 2.0, 0.5, 3.0, 0.25, 1.5, -0.125])
    (alone,) = joint_p_values([gains])
    assert joint_p_values([gains] * 5) == [alone] * 5
    assert alone == 2 / 2**7  # all signs, and all but that of the smallest
    other = numbered([-1.0, 2.0, -0.5, 3.0, 0.25, 1.5, 0.125])
    assert joint_p_values([gains, other])[0] > alone


def test_the_scale_of_an_instance_or_a_unit_changes_nothing() -> None:
    gains = [3.0, 1.0, -2.0, 0.5, 4.0, 2.5, 0.0]
    expected = joint_p_values([numbered(gains)])
    assert joint_p_values([numbered([1e-9 * gain for gain in gains])]) == expected
    spread = [1e-6 * 10**i for i in range(10)]
    assert joint_p_values([numbered(spread)]) == [float(f"{1 / 2**10:.6g}")]  # won everywhere


def test_many_observations_are_flipped_in_drawn_ways() -> None:
    rng = np.random.default_rng(1)
    n = ALL_FLIPS + 10
    good, luck = rng.normal(1.0, 1.0, n), rng.normal(0.0, 1.0, n)
    rows = [numbered(gains.tolist()) for gains in (good, luck)]
    found = joint_p_values(rows)
    assert found == joint_p_values(rows)
    assert found[0] < 0.001 < 0.05 < found[1]


def test_among_challengers_that_are_no_better_one_in_twenty_tests_errs() -> None:
    """400 tests of four challengers each that share most of their luck."""
    rng, found = np.random.default_rng(2), 0
    for _ in range(400):
        common = rng.normal(0.0, 1.0, 9)
        rows = [numbered((common + rng.normal(0.0, 0.3, 9)).tolist()) for _ in range(4)]
        found += min(joint_p_values(rows)) <= 0.05
    assert 6 <= found <= 36  # 20 expected; outside with a probability of 0.1 %


@pytest.fixture
def luck(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.agents.simulation.HashEvaluator", LuckEvaluator)


@pytest.mark.usefixtures("luck")
def test_a_run_takes_what_is_better_and_its_decisions_are_made_again(simulation: Simulation) -> None:
    run = simulation.changed(**JOINT)
    better = replace(run, evaluator=LongerIsBetter)
    state, log = better.run()
    assert state.checkpoint is not None
    assert len(state.checkpoint.steps) > 2
    assert better.made_again(log) > 50
    for _, compared in comparisons(better):
        rows = {row.candidate: row for row in compared.comparisons}
        assert all(rows[j].p_value <= compared.error for j in compared.better)


@pytest.mark.usefixtures("luck")
@pytest.mark.slow
@pytest.mark.parametrize("family", ["validation", "run"])
def test_challengers_that_a_run_leaves_behind_count_where_that_is_set(
    simulation: Simulation, family: str
) -> None:
    run = simulation.changed(**{**JOINT, "generations": 6, "checkpoint_family": family})
    more = 0
    for state, compared in comparisons(run):
        validation, present = open_validation(state)
        rounds = (*state.validated, closed_round(compared.generation, validation))
        kept = checkpoint_or_baseline(state)
        known = [*present, *(steps for round_ in state.validated for steps in round_.pipelines)]
        ever = [s for s in dict.fromkeys(known if family == "run" else present) if s != kept]
        gains = {s: g for s in ever if (g := pooled_gains(state, s, kept, rounds))}
        expected = dict(zip(gains, joint_p_values([*gains.values()]), strict=True))
        for row in compared.comparisons:
            assert row.p_value == (expected[present[row.candidate]] if row.mean_gain > 0.0 else 1.0)
        more += len(gains) - len(compared.comparisons)
    assert (more > 0) == (family == "run")
    assert run.made_again(run.run()[1]) > 50


@pytest.mark.usefixtures("luck")
@pytest.mark.parametrize(
    "against",
    [
        pytest.param("checkpoint", marks=pytest.mark.long),
        pytest.param("baseline", marks=pytest.mark.slow),  # what the default preset does
    ],
)
def test_luck_alone_replaces_no_checkpoint(simulation: Simulation, against: str) -> None:
    """All objectives of this problem are drawn from one distribution; 60 runs at 5 % expect three errors."""
    replaced = 0
    for seed in range(60):
        rules = {"checkpoint_family": "run", "error_spending": "late", "checkpoint_against": against}
        run = replace(simulation, seed=seed).changed(**{**JOINT, **rules})
        state, _ = run.run()
        assert state.checkpoint is not None
        replaced += state.checkpoint.steps != state.header.baseline
    assert replaced <= 8  # more have a probability of 0.3 %
