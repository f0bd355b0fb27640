"""What may be sampled: a walk of the graph, decided among the feasible actions, with members of the pools."""

from __future__ import annotations

from typing import Any

import pytest

from dga2d.events import ImplementationId, OperatorId
from dga2d.events.payloads import PolicyStep, Step
from dga2d.replay.state.graph import END, START, OperatorGraph, walk_violation

A, B, C = OperatorId("a"), OperatorId("b"), OperatorId("c")
GRAPH = OperatorGraph(
    (A, B, C),
    frozenset({A}),
    frozenset({(START, A), (START, C), (A, B), (A, END), (B, B), (B, A), (B, END), (C, END)}),
)
POOLS = {A: (ImplementationId("a0"),), B: (ImplementationId("b0"), ImplementationId("b1")), C: ()}


def step(operator: str, implementation: str) -> Step:
    return Step(operator=OperatorId(operator), implementation=ImplementationId(implementation))


def decision(actions: str, chosen: str, *probabilities: float) -> PolicyStep:
    names = tuple(map(OperatorId, actions.split()))
    return PolicyStep(actions=names, probabilities=probabilities, chosen=OperatorId(chosen))


STEPS = (step("a", "a0"), step("b", "b1"))
DECISIONS = (
    decision("a c", "a", 0.25, 0.75),
    decision("END b", "b", 0.5, 0.5),
    decision("END b", "END", 0.5, 0.5),  # not a: it begins a pipeline and is not visited again
)


def test_a_walk_of_the_graph_is_none() -> None:
    assert walk_violation(STEPS, DECISIONS, GRAPH, POOLS, 3) is None


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"steps": STEPS[:1]}, "one decision per operator and END"),
        ({"decisions": DECISIONS[:2]}, "one decision per operator and END"),
        ({"steps": (step("b", "b0"), STEPS[1])}, "step 0 leaves the graph"),
        ({"steps": (step("zap", "z"), STEPS[1])}, "step 0 leaves the graph"),
        ({1: decision("END b", "END", 0.5, 0.5)}, "step 1 leaves the graph"),
        ({2: decision("END b", "b", 0.5, 0.5)}, "step 2 leaves the graph"),
        ({2: decision("END a b", "END", 0.5, 0.25, 0.25)}, "step 2 had another feasible set"),
        ({0: decision("a", "a", 1.0)}, "step 0 had another feasible set"),
        ({0: decision("a c", "a", 1.0)}, "step 0 lacks probabilities"),
        ({0: decision("a c", "a", 0.5, 0.51)}, "step 0 is no distribution"),
        ({"steps": (step("a", "b0"), STEPS[1])}, "b0 is not in the pool of a"),
        ({"max_length": 2}, "step 2 had another feasible set"),
    ],
)
def test_anything_else_is_named(changed: dict[Any, Any], reason: str) -> None:
    decisions = changed.get("decisions", [changed.get(n, d) for n, d in enumerate(DECISIONS)])
    found = walk_violation(changed.get("steps", STEPS), decisions, GRAPH, POOLS, changed.get("max_length", 3))
    assert found == reason


def test_the_actions_along_a_walk_are_those_behind_every_part_of_it() -> None:
    walk = (A, B, B, A)
    along = list(GRAPH.feasible_along(walk, 5))
    assert along == [GRAPH.feasible_actions(walk[:n], 5) for n in range(len(walk) + 1)]
