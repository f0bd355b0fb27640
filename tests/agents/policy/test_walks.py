"""Sampling and beam search on the policy that needs no model."""

from __future__ import annotations

import math
import subprocess
import sys
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dga2d.agents.policy.contract import PolicyContext, PolicySettings
from dga2d.agents.policy.errors import InfeasibleWalkError, PolicyContextError
from dga2d.agents.policy.policies import UniformPolicy, make_policy
from dga2d.agents.policy.walks import ActionDistribution, beam_search
from dga2d.events import OperatorId
from dga2d.replay.state.graph import END, START, OperatorGraph
from dga2d.replay.streams import choose, stream


def draws(n: int, seed: int = 7) -> list[np.random.Generator]:
    return [stream(seed, "pipeline", 1, j) for j in range(n)]


def test_the_package_does_not_import_torch() -> None:
    code = "import sys, dga2d.agents.policy.policies as p; p.make_policy('uniform', 1, p.PolicySettings());"
    code += "sys.exit(any(m in sys.modules for m in ('torch', 'transformers', 'tokenizers')))"
    assert subprocess.run([sys.executable, "-P", "-c", code], check=False).returncode == 0


def test_uniform_probabilities_are_one_over_the_number_of_feasible_actions(context: PolicyContext) -> None:
    (walk,) = UniformPolicy().sample(context, draws(1))
    for position, step in enumerate(walk.steps):
        assert step.actions == context.graph.feasible_actions(walk.operators[:position], context.max_length)
        assert step.probabilities == (1 / len(step.actions),) * len(step.actions)
    assert walk.log_probability == pytest.approx(-sum(math.log(len(s.actions)) for s in walk.steps))


def test_every_choice_is_the_inverse_distribution_function_at_the_streams_next_number(
    context: PolicyContext,
) -> None:
    for walk, draw in zip(UniformPolicy().sample(context, draws(20)), draws(20), strict=True):
        for step in walk.steps:
            assert step.chosen == step.actions[choose(step.probabilities, draw.random())]
        assert (*walk.operators, END) == tuple(step.chosen for step in walk.steps)


def test_a_walk_does_not_depend_on_the_walks_sampled_beside_it(context: PolicyContext) -> None:
    together = UniformPolicy().sample(context, draws(6))
    assert together == tuple(UniformPolicy().sample(context, [draw])[0] for draw in draws(6))


@st.composite
def contexts(draw: st.DrawFn) -> PolicyContext:
    names = tuple(OperatorId(f"o{i}") for i in range(draw(st.integers(2, 6))))
    builders = frozenset(names[: draw(st.integers(1, len(names) - 1))])
    pairs = [(s, t) for s in names for t in (*names, END) if t not in builders]
    edges = {(START, b) for b in builders} | set(draw(st.lists(st.sampled_from(pairs), max_size=20)))
    graph = OperatorGraph(names, builders, frozenset(edges))
    return PolicyContext(graph, draw(st.integers(1, 6)), 0.7, "", "", {})


@given(contexts())
def test_walks_end_in_time_and_take_only_edges_of_the_graph(context: PolicyContext) -> None:
    if not context.graph.has_route(context.max_length):
        with pytest.raises(PolicyContextError):
            UniformPolicy().sample(context, draws(1))
        return
    for walk in UniformPolicy().sample(context, draws(5)):
        assert 1 <= len(walk.operators) <= context.max_length
        nodes = (START, *walk.operators, END)
        assert set(pairwise(nodes)) <= context.graph.edges


@given(contexts())
def test_a_wide_beam_finds_all_pipelines_in_order(context: PolicyContext) -> None:
    if not context.graph.has_route(context.max_length):
        return
    count = context.graph.count_pipelines(context.max_length)
    if count > 300:
        return
    found = UniformPolicy().decode(context, count + 3)
    assert len(found) == len({w.operators for w in found}) == count
    assert list(found) == sorted(found, key=lambda w: (-w.log_probability, w.operators))


@pytest.mark.parametrize("width", [1, 2, 5])
def test_a_narrow_beam_returns_its_width_best_first(context: PolicyContext, width: int) -> None:
    found = UniformPolicy().decode(context, width)
    assert len(found) == width
    assert list(found) == sorted(found, key=lambda w: (-w.log_probability, w.operators))


def test_ties_in_the_beam_go_to_the_smaller_operator_ids() -> None:
    class Even:
        def distributions(self, histories: Any) -> list[ActionDistribution]:
            a, b = OperatorId("a"), OperatorId("b")
            open_set = ActionDistribution((b, a), (0.5, 0.5), (-1.0, -1.0))
            return [open_set if not h else ActionDistribution((END,), (1.0,), (0.0,)) for h in histories]

    assert [w.operators for w in beam_search(Even(), 2)] == [("a",), ("b",)]
    assert [w.operators for w in beam_search(Even(), 1)] == [("a",)]


def test_a_likely_ending_beats_longer_walks_that_looked_better_first() -> None:
    a, b = OperatorId("a"), OperatorId("b")

    class Trap:
        def distributions(self, histories: Any) -> list[ActionDistribution]:
            table = {
                (): ActionDistribution((a, b), (0.6, 0.4), (math.log(0.6), math.log(0.4))),
                (a,): ActionDistribution((END, b), (0.5, 0.5), (math.log(0.5), math.log(0.5))),
                (b,): ActionDistribution((END,), (1.0,), (0.0,)),
                (a, b): ActionDistribution((END,), (1.0,), (0.0,)),
            }
            return [table[h] for h in histories]

    assert beam_search(Trap(), 2)[0].operators == ("b",)
    assert [w.operators for w in beam_search(Trap(), 3)] == [("b",), ("a",), ("a", "b")]


def test_an_update_of_the_uniform_policy_checks_its_walks_and_changes_nothing(
    context: PolicyContext,
) -> None:
    policy = UniformPolicy()
    report = policy.update(context, [(OperatorId("build_b"),)], [1.0])
    assert (report.loss, report.gradient_norm, report.parameters_digest) == (0.0, 0.0, "uniform")
    with pytest.raises(InfeasibleWalkError, match="build_a>relink: relink is not feasible at position 1"):
        policy.update(context, [(OperatorId("build_a"), OperatorId("relink"))], [1.0])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_length": 0}, "expected max_length >= 1, got 0"),
        ({"temperature": 0.0}, "expected temperature > 0, got 0.0"),
        ({"temperature": float("nan")}, "expected temperature > 0, got nan"),
    ],
)
def test_a_context_refuses_bad_bounds(context: PolicyContext, changes: Any, message: str) -> None:
    values = {name: getattr(context, name) for name in context.__dataclass_fields__}
    with pytest.raises(ValueError, match=message):
        PolicyContext(**(values | changes))


@pytest.mark.parametrize(
    "changes", [{"learning_rate": 0.0}, {"max_gradient_norm": -1.0}, {"threads": -1}, {"alias_capacity": 1}]
)
def test_settings_refuse_values_out_of_range(changes: Any) -> None:
    with pytest.raises(ValueError, match=next(iter(changes))):
        PolicySettings(**changes)


def test_beam_width_must_be_positive(context: PolicyContext) -> None:
    with pytest.raises(ValueError, match="expected width >= 1, got 0"):
        make_policy("uniform", 1, PolicySettings()).decode(context, 0)
