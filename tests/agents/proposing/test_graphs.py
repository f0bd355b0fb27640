from __future__ import annotations

import pytest

from dga2d.agents.proposing.graphs import compatible_edges, contracts_by_id, incompatibility
from dga2d.agents.proposing.tasks import OperatorContract
from dga2d.events import OperatorId
from dga2d.replay.state.graph import END, START

ALLOWED = [
    (START, "build"),
    (START, "sketch"),
    ("build", "descend"),
    ("build", "finish"),
    ("sketch", "finish"),
    ("finish", "descend"),
    ("tabu", "finish"),
    ("shake", "shake"),
    ("build", END),
    ("tabu", END),
]
REFUSED = [
    (START, "tabu", "initialisers only"),
    (START, END, "at least one operator"),
    (END, "tabu", "leave END"),
    ("tabu", START, "enter START"),
    ("sketch", "descend", "partial solution, descend requires a complete"),
    ("sketch", END, "END needs a complete"),
    ("tabu", "build", "only START may lead"),
    ("build", "sketch", "only START may lead"),
]


@pytest.mark.parametrize(("source", "target"), ALLOWED)
def test_an_edge_is_compatible_when_the_target_accepts_what_the_source_leaves(
    operators: tuple[OperatorContract, ...], source: str, target: str
) -> None:
    edge = (OperatorId(source), OperatorId(target))
    assert incompatibility(edge, contracts_by_id(operators)) is None


@pytest.mark.parametrize(("source", "target", "reason"), REFUSED)
def test_an_incompatible_edge_is_refused_with_the_reason(
    operators: tuple[OperatorContract, ...], source: str, target: str, reason: str
) -> None:
    edge = (OperatorId(source), OperatorId(target))
    assert reason in (incompatibility(edge, contracts_by_id(operators)) or "")


def test_compatible_edges_lists_each_compatible_pair_once_and_no_loops(
    operators: tuple[OperatorContract, ...],
) -> None:
    edges = compatible_edges(operators)
    assert list(edges) == sorted(set(edges))
    assert all(source != target for source, target in edges)
    # START to 2 initialisers; build and the 5 improvers to END; build to 5 improvers, sketch to finish
    # alone, and the 5 improvers to each other
    assert len(edges) == 2 + 6 + 5 + 1 + 5 * 4
