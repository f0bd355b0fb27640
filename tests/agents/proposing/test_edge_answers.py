from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from dga2d.agents.proposing.errors import ProposalError
from dga2d.agents.proposing.graph_answers import addable_edges, parse_edges
from dga2d.agents.proposing.tasks import ConnectTask, EdgeCredit, OperatorContract
from dga2d.domains.core.contract import Card
from dga2d.events import OperatorId
from dga2d.events.payloads import Edge

EDGES = [
    ("START", "build"),
    ("build", "descend"),
    ("descend", "tabu"),
    ("tabu", "shake"),
    ("shake", "tabu"),
    ("tabu", "END"),
]


def edge(source: str, target: str) -> Edge:
    return OperatorId(source), OperatorId(target)


@pytest.fixture
def task(card: Card, operators: tuple[OperatorContract, ...]) -> ConnectTask:
    """START → build → descend → tabu → END with tabu ⇄ shake; sketch, finish and relink are isolated."""
    edges = tuple(EdgeCredit(edge(*pair), -0.1 * i) for i, pair in enumerate(EDGES))
    return ConnectTask(card, operators, edges, edge("shake", "tabu"), "replace", max_length=4)


def edit(*added: tuple[str, str], removed: tuple[tuple[str, str], ...] = ()) -> dict[str, Any]:
    return {"add_edges": [list(e) for e in added], "delete_edges": [list(e) for e in removed]}


GOOD_REPLACEMENTS = {
    "between improvers": ("shake", "descend"),
    "to END": ("descend", "END"),
    "from START": ("START", "sketch"),
    "to an isolated operator": ("tabu", "relink"),
    "between isolated operators": ("sketch", "finish"),
}
BAD_REPLACEMENTS: dict[str, tuple[dict[str, Any], str]] = {
    "none": (edit(), "edge_count"),
    "two": (edit(("shake", "descend"), ("tabu", "descend")), "edge_count"),
    "another edge deleted": (edit(("shake", "descend"), removed=(("tabu", "shake"),)), "edge_count"),
    "more deleted": (edit(("shake", "END"), removed=(("shake", "tabu"), ("tabu", "shake"))), "edge_count"),
    "unknown source": (edit(("magic", "tabu")), "edge_endpoint"),
    "unknown target": (edit(("tabu", "TABU")), "edge_endpoint"),
    "present": (edit(("tabu", "shake")), "edge_present"),
    "the removed edge again": (edit(("shake", "tabu")), "edge_present"),
    "self-loop": (edit(("tabu", "tabu")), "edge_loop"),
    "START to END": (edit(("START", "END")), "edge_interface"),
    "START to an improver": (edit(("START", "tabu")), "edge_interface"),
    "into an initialiser": (edit(("tabu", "build")), "edge_interface"),
    "out of END": (edit(("END", "tabu")), "edge_interface"),
    "partial to END": (edit(("sketch", "END")), "edge_interface"),
    "partial to complete": (edit(("sketch", "tabu")), "edge_interface"),
    "pair of three": ({"add_edges": [["a", "b", "c"]], "delete_edges": []}, "add_edges"),
    "edges as objects": ({"add_edges": [{"from": "a", "to": "b"}], "delete_edges": []}, "add_edges"),
    "null": ({"add_edges": None, "delete_edges": []}, "add_edges"),
    "twice": (edit(("shake", "descend"), ("shake", "descend")), "add_edges"),
    "deleted twice": (
        edit(("shake", "END"), removed=(("shake", "tabu"), ("shake", "tabu"))),
        "delete_edges",
    ),
    "missing key": ({"add_edges": [["shake", "descend"]]}, "keys"),
    "extra key": ({**edit(("shake", "descend")), "add_nodes": []}, "keys"),
}


@pytest.mark.parametrize("added", GOOD_REPLACEMENTS.values(), ids=GOOD_REPLACEMENTS)
@pytest.mark.parametrize("removed", [(), (("shake", "tabu"),)])
def test_a_valid_replacement_is_accepted(
    task: ConnectTask, added: tuple[str, str], removed: tuple[tuple[str, str], ...]
) -> None:
    answer = json.dumps(edit(added, removed=removed))
    assert parse_edges(answer, task, task.graph) == ((("shake", "tabu"),), (added,))


@pytest.mark.parametrize(("answer", "stage"), BAD_REPLACEMENTS.values(), ids=BAD_REPLACEMENTS)
def test_a_broken_replacement_is_refused_with_its_stage(
    task: ConnectTask, answer: dict[str, Any], stage: str
) -> None:
    with pytest.raises(ProposalError) as refusal:
        parse_edges(json.dumps(answer), task, task.graph)
    assert refusal.value.stage == stage


def test_a_replacement_that_cuts_the_last_route_is_refused(task: ConnectTask) -> None:
    cutting = replace(task, remove=edge("descend", "tabu"))
    with pytest.raises(ProposalError) as refusal:
        parse_edges(json.dumps(edit(("shake", "descend"))), cutting, cutting.graph)
    assert refusal.value.stage == "route"
    repaired = parse_edges(json.dumps(edit(("descend", "END"))), cutting, cutting.graph)
    assert repaired == ((("descend", "tabu"),), (("descend", "END"),))


def test_a_route_that_would_be_too_long_does_not_count(task: ConnectTask) -> None:
    # build → descend → shake → tabu is the only way round: four operators
    cutting = replace(task, remove=edge("descend", "tabu"))
    answer = json.dumps(edit(("descend", "shake")))
    assert parse_edges(answer, cutting, cutting.graph)[1] == (("descend", "shake"),)
    shorter = replace(cutting, max_length=3)
    with pytest.raises(ProposalError, match="at most 3 operators"):
        parse_edges(answer, shorter, shorter.graph)


def test_the_answer_is_judged_against_the_graph_given_not_the_one_of_the_prompt(task: ConnectTask) -> None:
    later = task.graph.edit((), (edge("shake", "descend"),))
    with pytest.raises(ProposalError, match="already an edge"):
        parse_edges(json.dumps(edit(("shake", "descend"))), task, later)


DELTAS = {
    "empty": (edit(), None),
    "two and two": (
        edit(("descend", "END"), ("shake", "END"), removed=(("shake", "tabu"), ("tabu", "shake"))),
        None,
    ),
    "deletion only": (edit(removed=(("tabu", "shake"),)), None),
    "edge to END goes while another way stays": (
        edit(("descend", "END"), removed=(("tabu", "END"),)),
        None,
    ),
    "three added": (edit(("descend", "END"), ("shake", "END"), ("shake", "descend")), "edge_count"),
    "three deleted": (
        edit(removed=(("shake", "tabu"), ("tabu", "shake"), ("descend", "tabu"))),
        "edge_count",
    ),
    "deleted edge is absent": (edit(removed=(("shake", "relink"),)), "edge_absent"),
    "last way cut": (edit(removed=(("tabu", "END"),)), "route"),
    "deleted and added": (edit(("tabu", "shake"), removed=(("tabu", "shake"),)), "edge_present"),
}


@pytest.mark.parametrize(("answer", "stage"), DELTAS.values(), ids=DELTAS)
def test_a_delta_holds_at_most_two_additions_and_two_deletions(
    task: ConnectTask, answer: dict[str, Any], stage: str | None
) -> None:
    delta = replace(task, mode="delta", remove=None)
    if stage is None:
        removed, added = parse_edges(json.dumps(answer), delta, delta.graph)
        assert [list(e) for e in removed] == answer["delete_edges"]
        assert [list(e) for e in added] == answer["add_edges"]
    else:
        with pytest.raises(ProposalError) as refusal:
            parse_edges(json.dumps(answer), delta, delta.graph)
        assert refusal.value.stage == stage


def test_addable_edges_are_exactly_those_the_parser_accepts(task: ConnectTask) -> None:
    nodes = ["START", "END", *(op.id for op in task.operators)]
    accepted = []
    for source in nodes:
        for target in nodes:
            try:
                parse_edges(json.dumps(edit((source, target))), task, task.graph)
            except ProposalError:
                continue
            accepted.append((source, target))
    assert list(addable_edges(task)) == sorted(accepted)
    assert len(accepted) > 10


def test_a_complete_graph_has_no_edge_to_add(card: Card, operators: tuple[OperatorContract, ...]) -> None:
    two = tuple(op for op in operators if op.id in ("build", "tabu"))
    edges = (("START", "build"), ("build", "tabu"), ("build", "END"), ("tabu", "END"))
    credits = tuple(EdgeCredit(edge(*pair), -1.0) for pair in edges)
    assert addable_edges(ConnectTask(card, two, credits, edge("build", "END"), "replace", 4)) == ()


def test_replace_mode_needs_the_edge_to_replace(task: ConnectTask) -> None:
    with pytest.raises(ValueError, match="edge to be replaced"):
        replace(task, remove=None)
