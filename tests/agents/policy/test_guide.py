"""A policy that begins close to a walk, keeps its entropy up, and learns a good walk again."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from dga2d.agents.policy.contract import PolicyContext
from dga2d.agents.policy.policies import UniformPolicy
from dga2d.agents.policy.walks import is_feasible, log_prior
from dga2d.events import OperatorId
from dga2d.replay.state.graph import END, START, OperatorGraph
from dga2d.replay.streams import stream

A, B, C, D = (OperatorId(name) for name in "abcd")
GRAPH = OperatorGraph(
    (A, B, C, D),
    frozenset({A}),
    frozenset([(START, A), *((x, y) for x in (A, B, C, D) for y in (B, C, D, END) if x != y)]),
)


@pytest.fixture
def guided() -> PolicyContext:
    return PolicyContext(GRAPH, 5, 0.7, "D.", "n=1", {}, guide=(A, B, C), focus=0.7)


def probabilities(context: PolicyContext, *history: OperatorId) -> dict[OperatorId, float]:
    actions = context.graph.feasible_actions(history, context.max_length)
    prior = log_prior(context, history, actions)
    assert math.fsum(map(math.exp, prior)) == pytest.approx(1.0)
    return dict(zip(actions, map(math.exp, prior), strict=True))


def test_a_walk_follows_the_guide_and_comes_back_to_it(guided: PolicyContext) -> None:
    assert log_prior(guided, (), (A,)) == ()  # there is no choice
    assert probabilities(guided, A) == pytest.approx({B: 0.7, C: 0.1, D: 0.1, END: 0.1})
    assert probabilities(guided, A, D, B)[C] == pytest.approx(0.7)  # off the guide, as behind b in it
    assert log_prior(guided, (A, D), GRAPH.feasible_actions((A, D), 5)) == ()  # d is not in the guide
    again = replace(guided, guide=(A, B, C, B))
    assert probabilities(again, A, B, C, B)[END] == pytest.approx(0.7)  # on the guide its own next step
    assert probabilities(again, A, D, B) == pytest.approx({C: 0.35, END: 0.35, D: 0.3})
    assert log_prior(replace(guided, focus=0.0), (A,), (B, C)) == ()
    assert log_prior(replace(guided, guide=(A, D)), (A,), (B, C)) == ()  # the edge was cut


def test_only_a_walk_of_the_graph_is_feasible(guided: PolicyContext) -> None:
    assert is_feasible(guided, (A, B, C))
    for walk in [(), (B, C), (A, OperatorId("gone")), (A, B, C, B, C, B)]:
        assert not is_feasible(guided, walk)


def test_the_guide_is_the_likeliest_walk_of_a_policy_that_knows_nothing(
    guided: PolicyContext, embedded: Callable[..., Any]
) -> None:
    draws = [stream(1, "pipeline", 1, j) for j in range(400)]
    for policy in (UniformPolicy(), embedded()):
        best, *_ = policy.decode(guided, 4)
        assert best.operators == guided.guide
        assert best.log_probability == pytest.approx(3 * math.log(0.7))
        share = sum(w.operators == guided.guide for w in policy.sample(guided, draws)) / 400
        assert share == pytest.approx(0.343, abs=0.07)


def test_learning_moves_a_guided_policy_from_what_it_sampled(
    guided: PolicyContext, embedded: Callable[..., Any]
) -> None:
    policy = embedded(learning_rate=1e-3)
    walks = [(A, B, C), (A, D)]
    before = policy.log_probabilities(guided, walks)
    for _ in range(3):
        policy.update(guided, walks, (-1.0, 1.0))
    after = policy.log_probabilities(guided, walks)
    assert after[0] < before[0]
    assert after[1] > before[1]


def test_an_entropy_bonus_keeps_choices_open(guided: PolicyContext, embedded: Callable[..., Any]) -> None:
    plain, open_minded = embedded(learning_rate=3e-3), embedded(learning_rate=3e-3, entropy_bonus=1.0)
    for _ in range(6):
        reports = [policy.update(guided, [(A, D)], (1.0,)) for policy in (plain, open_minded)]
    assert reports[1].entropy > reports[0].entropy + 0.1
    assert reports[1].parameters_digest != reports[0].parameters_digest
