"""Scores and standardised rewards (Eqs. 3–5) on cases computed by hand."""

from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dga2d.agents.scoring import mean_gap, score_candidate, standardise
from dga2d.replay.state.outcomes import Outcome

EPSILON = 1e-8


def reached(*objectives: float | None) -> list[Outcome]:
    return [Outcome(y, None if y is not None else "timeout") for y in objectives]


@pytest.mark.parametrize(
    ("objectives", "references", "sense", "score", "gaps"),
    [
        ((110.0, 105.0), (100.0, 100.0), "min", -0.075, (0.1, 0.05)),
        ((90.0, 100.0), (100.0, 100.0), "min", 0.05, (-0.1, 0.0)),
        ((90.0, 100.0), (100.0, 100.0), "max", -0.05, (0.1, 0.0)),
        ((0.5,), (0.0,), "min", -0.5, (0.5,)),
        ((-110.0,), (-100.0,), "min", 0.1, (-0.1,)),
        ((600.0,), (100.0,), "min", -5.0, (5.0,)),
        ((601.0,), (100.0,), "min", -5.0, (5.01,)),
        ((100.0, None), (100.0, 100.0), "min", -5.0, (0.0, None)),
        ((None, None), (100.0, 100.0), "min", -5.0, (None, None)),
    ],
)
def test_a_score_is_minus_the_mean_gap_and_never_below_r_fail(
    objectives: tuple[float | None, ...],
    references: tuple[float, ...],
    sense: str,
    score: float,
    gaps: tuple[float | None, ...],
) -> None:
    assert sense in ("min", "max")
    found = score_candidate(reached(*objectives), references, "min" if sense == "min" else "max", -5.0)
    assert found.score == pytest.approx(score, abs=1e-15)
    assert found.gaps == pytest.approx(gaps)


def test_a_failure_is_never_better_than_a_bad_success() -> None:
    bad = score_candidate(reached(1e9), [1.0], "min", -5.0).score
    failed = score_candidate(reached(None), [1.0], "min", -5.0).score
    assert failed == bad == -5.0


def test_rewards_use_the_population_deviation() -> None:
    mean, deviation, rewards = standardise([-1.0, -3.0], EPSILON)
    assert (mean, deviation) == (-2.0, 1.0)
    assert rewards == (1.0 / (1.0 + EPSILON), -1.0 / (1.0 + EPSILON))


@pytest.mark.parametrize("scores", [[0.1], [0.1, 0.1, 0.1], [-5.0, -5.0], [1 / 3] * 7])
def test_equal_scores_give_no_reward_at_all(scores: list[float]) -> None:
    assert standardise(scores, EPSILON) == (scores[0], 0.0, (0.0,) * len(scores))


@given(st.lists(st.floats(-5, 1), min_size=1, max_size=8))
def test_rewards_are_centred_and_keep_the_order(scores: list[float]) -> None:
    mean, deviation, rewards = standardise(scores, EPSILON)
    assert mean == pytest.approx(statistics.fmean(scores), abs=1e-12)
    assert deviation == pytest.approx(statistics.pstdev(scores), abs=1e-9)
    assert math.fsum(rewards) == pytest.approx(0.0, abs=1e-6)
    assert all(abs(reward) <= math.sqrt(len(scores) - 1) + 1e-9 for reward in rewards)
    pairs = sorted(zip(scores, rewards, strict=True))
    assert [reward for _, reward in pairs] == sorted(rewards)


def test_a_mean_gap_needs_every_instance() -> None:
    assert mean_gap({"a": 0.1, "b": 0.3}) == pytest.approx(0.2)
    assert mean_gap({"a": 0.1, "b": None}) is None
    assert mean_gap({}) is None
