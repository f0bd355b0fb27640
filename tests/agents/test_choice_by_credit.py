"""Implementations drawn by softmax of Q/τ, and the best ones."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from immutables import Map

from dga2d.agents.scoring import best_implementations, sample_implementations
from dga2d.events import ImplementationId, OperatorId
from dga2d.replay.state.credit import START_IMPLEMENTATION, CreditTable, Transition, TransitionRecord
from dga2d.replay.streams import choose, stream

A, B = OperatorId("a"), OperatorId("b")
POOLS = {o: tuple(ImplementationId(f"{o}.{i}") for i in range(3)) for o in (A, B)}


def table(credits: dict[tuple[str, str], float]) -> CreditTable:
    return CreditTable(
        Map(
            {
                Transition(ImplementationId(u), ImplementationId(c)): TransitionRecord(q, 1)
                for (u, c), q in credits.items()
            }
        )
    )


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=6), st.floats(0, 1, exclude_max=True))
def test_choose_inverts_the_distribution_function(weights: list[float], u: float) -> None:
    probabilities = [w / math.fsum(weights) for w in weights]
    index = choose(probabilities, u)
    below, upto = 0.0, 0.0
    for i, probability in enumerate(probabilities):
        upto += probability
        if i < index:
            below += probability
        if i == index:
            break
    assert below <= u
    assert u < upto or index == len(probabilities) - 1


@pytest.mark.parametrize(
    ("probabilities", "u", "index"),
    [
        ((0.5, 0.5), 0.0, 0),
        ((0.5, 0.5), 0.5, 1),
        ((0.0, 1.0), 0.0, 1),
        ((1.0, 0.0), 0.999999, 0),
        ((0.3, 0.3, 0.39999999), 0.999999999, 2),
        ((0.3, 0.69999999, 0.0), 0.999999999, 1),
    ],
)
def test_choose_at_the_borders(probabilities: tuple[float, ...], u: float, index: int) -> None:
    assert choose(probabilities, u) == index


def test_implementations_are_drawn_by_softmax_of_the_credit_of_the_transition() -> None:
    credits = table({("START", "a.1"): 0.7, ("a.1", "b.0"): 1.4})
    counts = np.zeros((3, 3))
    for seed in range(4000):
        steps = sample_implementations((A, B), POOLS, credits, 0.7, stream(seed, "implementation", 1, 0))
        counts[int(steps[0].implementation[-1]), int(steps[1].implementation[-1])] += 1
    first = np.exp([0.0, 1.0, 0.0]) / np.exp([0.0, 1.0, 0.0]).sum()
    after_1 = np.exp([2.0, 0.0, 0.0]) / np.exp([2.0, 0.0, 0.0]).sum()
    assert counts.sum(axis=1) / 4000 == pytest.approx(first, abs=0.03)
    assert counts[1] / counts[1].sum() == pytest.approx(after_1, abs=0.03)
    assert counts[0] / counts[0].sum() == pytest.approx([1 / 3] * 3, abs=0.06)


def test_large_credits_do_not_overflow() -> None:
    steps = sample_implementations((A,), POOLS, table({("START", "a.2"): 1e6}), 0.7, stream(1, "batch"))
    assert steps[0].implementation == "a.2"


def test_the_best_implementations_follow_each_other_and_ties_go_to_the_smallest_id() -> None:
    credits = table({("START", "a.1"): 0.5, ("a.1", "b.2"): 0.1, ("a.0", "b.0"): 9.0})
    steps = best_implementations((A, B, B), POOLS, credits)
    assert [s.implementation for s in steps] == ["a.1", "b.2", "b.0"]
    negative = table({("START", "a.0"): -0.1, ("START", "a.1"): -0.2})
    assert best_implementations((A,), POOLS, negative)[0].implementation == "a.2"
    assert START_IMPLEMENTATION == "START"
