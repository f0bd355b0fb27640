from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from dga2d.agents.proposing.errors import ProposalError
from dga2d.agents.proposing.graph_answers import clamp, parse_graph
from dga2d.agents.proposing.tasks import HBounds, InitializeTask, OperatorContract
from dga2d.domains.core.contract import Card
from dga2d.events import OperatorId

Answer = dict[str, Any]


def good() -> Answer:
    return {
        "H": {"operator_limit": 5, "temperature": 0.5},
        "operators": ["build", "descend", "shake", "tabu"],
        "entry_nodes": ["build"],
        "exit_nodes": ["tabu", "descend"],
        "edges": [["build", "descend"], ["descend", "tabu"], ["tabu", "shake"], ["shake", "tabu"]],
    }


def changed(**values: Any) -> Answer:
    return {**good(), **values}


@pytest.fixture
def task(card: Card, operators: tuple[OperatorContract, ...]) -> InitializeTask:
    return InitializeTask(card, operators, HBounds(5, 2, 0.1, 1.0), (OperatorId("build"),), 4)


GOOD: dict[str, Answer] = {
    "as it is": good(),
    "as many operators as allowed": changed(operators=["build", "descend", "shake", "tabu", "relink"]),
    "an initialiser that is no entry": changed(operators=["build", "sketch", "descend", "tabu", "shake"]),
    "no edges, one operator": changed(exit_nodes=["build"], edges=[]),
    "operator limit out of bounds": changed(H={"operator_limit": 99, "temperature": 0.5}),
    "as many operators as K": changed(H={"operator_limit": 4, "temperature": 3}),
    "route of the longest length": changed(
        operators=["sketch", "finish", "descend", "tabu"],
        entry_nodes=["sketch"],
        exit_nodes=["tabu"],
        edges=[["sketch", "finish"], ["finish", "descend"], ["descend", "tabu"]],
    ),
}
BAD: dict[str, tuple[Answer, str, str]] = {
    "missing key": ({k: v for k, v in good().items() if k != "edges"}, "keys", "missing: edges"),
    "extra key": (changed(reason="fast"), "keys", "not allowed: 'reason'"),
    "H is a list": (changed(H=[5, 0.5]), "H", "object"),
    "H without temperature": (changed(H={"operator_limit": 5}), "H", "missing: temperature"),
    "K is text": (changed(H={"operator_limit": "5", "temperature": 0.5}), "H", "operator_limit"),
    "K is true": (changed(H={"operator_limit": True, "temperature": 0.5}), "H", "operator_limit"),
    "K is a fraction": (changed(H={"operator_limit": 5.0, "temperature": 0.5}), "H", "operator_limit"),
    "K is 0": (changed(H={"operator_limit": 0, "temperature": 0.5}), "H", "operator_limit"),
    "tau is 0": (changed(H={"operator_limit": 5, "temperature": 0}), "H", "temperature"),
    "tau is null": (changed(H={"operator_limit": 5, "temperature": None}), "H", "temperature"),
    "operators is empty": (changed(operators=[]), "operators", "non-empty"),
    "operators is text": (changed(operators="build"), "operators", "non-empty"),
    "unknown operator": (changed(operators=["build", "magic"]), "operators", "'magic' is not one of"),
    "operator is a list": (changed(operators=[["build"]]), "operators", "is not one of"),
    "START as operator": (changed(operators=["START", "build"]), "operators", "'START' is not one of"),
    "operator twice": (changed(operators=["build", "build"]), "operators", "twice"),
    "too many operators": (
        changed(operators=["build", "sketch", "finish", "descend", "shake", "tabu"]),
        "operators",
        "at most 5",
    ),
    "more operators than K": (changed(H={"operator_limit": 3, "temperature": 1}), "operators", "at most 3"),
    "no entry": (changed(entry_nodes=[]), "entry_nodes", "non-empty"),
    "entry not chosen": (changed(entry_nodes=["sketch"]), "entry_nodes", "not one of the chosen"),
    "entry is no initialiser": (changed(entry_nodes=["tabu"]), "entry_nodes", "initialisers only"),
    "exit not chosen": (changed(exit_nodes=["relink"]), "exit_nodes", "not one of the chosen"),
    "exit leaves a partial solution": (
        changed(operators=["sketch", "finish"], entry_nodes=["sketch"], exit_nodes=["sketch"], edges=[]),
        "exit_nodes",
        "END needs a complete one",
    ),
    "edges is an object": (changed(edges={"build": "tabu"}), "edges", "list of"),
    "edge of three": (changed(edges=[["build", "tabu", "shake"]]), "edges", "pair"),
    "edge is text": (changed(edges=["build-tabu"]), "edges", "pair"),
    "edge of numbers": (changed(edges=[[1, 2]]), "edges", "pair"),
    "edge twice": (changed(edges=[["build", "tabu"], ["build", "tabu"]]), "edges", "twice"),
    "edge from START": (changed(edges=[["START", "build"]]), "edges", "implicit"),
    "edge to END": (changed(edges=[["tabu", "END"]]), "edges", "implicit"),
    "edge to an operator not chosen": (changed(edges=[["build", "relink"]]), "edges", "'relink'"),
    "self-loop": (changed(edges=[["tabu", "tabu"]]), "edges", "itself"),
    "edge into an initialiser": (changed(edges=[["tabu", "build"]]), "edge_interface", "only START"),
    "edge from partial to complete": (
        changed(operators=["build", "sketch", "descend", "tabu"], edges=[["sketch", "descend"]]),
        "edge_interface",
        "sketch leaves a partial",
    ),
    "no route": (changed(edges=[["build", "shake"], ["tabu", "descend"]]), "route", "at most 4"),
    "cycle without way out": (
        changed(exit_nodes=["descend"], edges=[["build", "tabu"], ["tabu", "shake"], ["shake", "tabu"]]),
        "route",
        "START to END",
    ),
    "route too long": (
        changed(
            operators=["sketch", "finish", "descend", "shake", "tabu"],
            entry_nodes=["sketch"],
            exit_nodes=["tabu"],
            edges=[["sketch", "finish"], ["finish", "descend"], ["descend", "shake"], ["shake", "tabu"]],
        ),
        "route",
        "at most 4",
    ),
}


@pytest.mark.parametrize("answer", GOOD.values(), ids=GOOD)
def test_a_valid_graph_is_accepted(task: InitializeTask, answer: Answer) -> None:
    proposal = parse_graph(json.dumps(answer), task)
    assert proposal.operators == tuple(sorted(answer["operators"]))
    initialisers = [op.id for op in task.operators if op.is_initialiser]
    assert proposal.graph(initialisers).has_route(task.max_length)


@pytest.mark.parametrize(("answer", "stage", "reason"), BAD.values(), ids=BAD)
def test_a_broken_graph_is_refused_with_stage_and_reason(
    task: InitializeTask, answer: Answer, stage: str, reason: str
) -> None:
    with pytest.raises(ProposalError) as refusal:
        parse_graph(json.dumps(answer), task)
    assert refusal.value.stage == stage
    assert reason in refusal.value.diagnostic


def test_an_infinite_temperature_is_refused(task: InitializeTask) -> None:
    text = json.dumps(good()).replace("0.5", "1e999")
    with pytest.raises(ProposalError, match="finite"):
        parse_graph(text, task)


def test_the_sentinels_edges_follow_from_entries_and_exits(task: InitializeTask) -> None:
    proposal = parse_graph(json.dumps(good()), task)
    answered = {(source, target) for source, target in good()["edges"]}
    assert set(proposal.edges) - answered == {("START", "build"), ("tabu", "END"), ("descend", "END")}
    assert answered < set(proposal.edges)
    assert proposal.graph([OperatorId("build"), OperatorId("sketch")]).initialisers == {"build"}


@pytest.mark.parametrize(
    ("limit", "temperature", "expected", "moved"),
    [
        (5, 0.5, (5, 0.5), ()),
        (2, 1.0, (2, 1.0), ()),
        (1, 0.05, (2, 0.1), ("operator_limit 1 -> 2", "temperature 0.05 -> 0.1")),
        (99, 3.0, (5, 1.0), ("operator_limit 99 -> 5", "temperature 3.0 -> 1.0")),
    ],
)
def test_clamp_moves_H_into_the_bounds_and_says_so(
    task: InitializeTask,
    limit: int,
    temperature: float,
    expected: tuple[int, float],
    moved: tuple[str, ...],
) -> None:
    answer = changed(
        H={"operator_limit": limit, "temperature": temperature},
        operators=["build"],
        exit_nodes=["build"],
        edges=[],
    )
    clamped, notes = clamp(parse_graph(json.dumps(answer), task), task.bounds)
    assert (clamped.operator_limit, clamped.temperature) == expected
    assert notes == moved


@pytest.mark.parametrize(
    "make",
    [
        lambda: HBounds(0),
        lambda: HBounds(3, 4),
        lambda: HBounds(3, 1, 0.0, 1.0),
        lambda: HBounds(3, 1, 0.5, 0.4),
        lambda: HBounds(3, 1, 0.5, 1.1),
    ],
)
def test_impossible_bounds_are_refused(make: Callable[[], HBounds]) -> None:
    with pytest.raises(ValueError, match="expected"):
        make()
