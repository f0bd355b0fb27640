"""Reads and checks a proposed edge edit (paper, Section 3.5 and Template III)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dga2d.agents.proposing.errors import ProposalError, shown
from dga2d.agents.proposing.extraction import json_object
from dga2d.agents.proposing.graph_answers import edge_list
from dga2d.agents.proposing.interfaces import compatible_edges, contracts_by_id, incompatibility
from dga2d.agents.proposing.tasks import ConnectTask
from dga2d.events.payloads import Edge
from dga2d.replay.state.graph import END, START, OperatorGraph, structure_violation

MAX_DELTA = 2
"""Most additions, and most deletions, of one delta (Template III)."""


@dataclass(frozen=True)
class EdgeEdit:
    """A proposed edit and what it is judged against."""

    task: ConnectTask
    graph: OperatorGraph
    removed: tuple[Edge, ...]
    added: tuple[Edge, ...]


def counts_fit_the_mode(edit: EdgeEdit) -> str | None:
    """Replace: exactly one addition for the edge to be removed; delta: at most two of each."""
    if edit.task.mode == "replace":
        if len(edit.added) != 1:
            return f"expected exactly one edge to add, got {len(edit.added)}"
        if edit.removed != (edit.task.remove,):
            return f"only {_named(edit.task.remove)} is to be removed"
    elif max(len(edit.added), len(edit.removed)) > MAX_DELTA:
        return f"at most {MAX_DELTA} edges may be added and at most {MAX_DELTA} deleted"
    return None


def endpoints_exist(edit: EdgeEdit) -> str | None:
    """Every end of an added edge is an operator of the graph or a sentinel."""
    known = {START, END, *edit.graph.operators}
    unknown = [end for edge in edit.added for end in edge if end not in known]
    return f"{shown(unknown[0])} is not a node of the graph" if unknown else None


def removed_edges_are_present(edit: EdgeEdit) -> str | None:
    """Only an edge of the graph can be removed."""
    absent = [edge for edge in edit.removed if edge not in edit.graph.edges]
    return f"{_named(absent[0])} is not an edge of the graph" if absent else None


def added_edges_are_absent(edit: EdgeEdit) -> str | None:
    """An added edge is currently absent; the one being removed still counts as present."""
    present = [edge for edge in edit.added if edge in edit.graph.edges]
    return f"{_named(present[0])} is already an edge of the graph" if present else None


def no_operator_follows_itself(edit: EdgeEdit) -> str | None:
    """Self-loops are not part of the graph."""
    loops = [edge for edge in edit.added if edge[0] == edge[1]]
    return f"{loops[0][0]} may not lead to itself" if loops else None


def interfaces_fit(edit: EdgeEdit) -> str | None:
    """The target of an added edge accepts what its source leaves."""
    contracts = contracts_by_id(edit.task.operators)
    for edge in edit.added:
        if reason := incompatibility(edge, contracts):
            return f"{_named(edge)}: {reason}"
    return None


def the_structure_holds(edit: EdgeEdit) -> str | None:
    """The edited graph is of the run's structure."""
    return structure_violation(edit.graph.edited(edit.removed, edit.added).edges, edit.task.structure)


def a_route_remains(edit: EdgeEdit) -> str | None:
    """A pipeline of at most ``max_length`` operators still leads from START to END."""
    if edit.graph.edited(edit.removed, edit.added).has_route(edit.task.max_length):
        return None
    return f"no pipeline of at most {edit.task.max_length} operators would lead from START to END any more"


RULES: tuple[tuple[str, Callable[[EdgeEdit], str | None]], ...] = (
    ("edge_count", counts_fit_the_mode),
    ("edge_endpoint", endpoints_exist),
    ("edge_absent", removed_edges_are_present),
    ("edge_present", added_edges_are_absent),
    ("edge_loop", no_operator_follows_itself),
    ("edge_interface", interfaces_fit),
    ("structure", the_structure_holds),
    ("route", a_route_remains),
)
"""Stage → rule, in the order in which they are asked; a rule gives the reason why it is broken."""


def check_edit(edit: EdgeEdit) -> tuple[str, str] | None:
    """Stage and reason of the first broken rule, or ``None``."""
    for stage, rule in RULES:
        if reason := rule(edit):
            return stage, reason
    return None


def addable_edges(task: ConnectTask) -> tuple[Edge, ...]:
    """Every single edge that a valid answer may add, sorted; empty where the graph has to stay as it is.

    In replace mode the task's edge counts as removed, in delta mode nothing does.
    """
    removed = (task.remove,) if task.mode == "replace" and task.remove else ()
    return tuple(
        edge
        for edge in compatible_edges(task.operators)
        if check_edit(EdgeEdit(task, task.graph, removed, (edge,))) is None
    )


def parse_edges(
    text: str, task: ConnectTask, graph: OperatorGraph
) -> tuple[tuple[Edge, ...], tuple[Edge, ...]]:
    """Removed and added edges of an answer, judged against `graph`.

    In replace mode ``delete_edges`` is either empty or names the task's edge; that edge is what is
    removed. In delta mode both lists may be empty.

    Raises
    ------
    ProposalError
        ``size``, ``json``, ``no_variation``: see `json_object`; ``keys``, ``add_edges``,
        ``delete_edges``: malformed; else the stage of the first broken rule of `RULES`.
    """
    answer = json_object(text)
    if set(answer) != {"add_edges", "delete_edges"}:
        raise ProposalError("keys", "expected exactly the keys add_edges and delete_edges")
    added = edge_list(answer["add_edges"], "add_edges")
    removed = edge_list(answer["delete_edges"], "delete_edges")
    if task.mode == "replace" and not removed and task.remove:
        removed = (task.remove,)
    if broken := check_edit(EdgeEdit(task, graph, removed, added)):
        raise ProposalError(*broken)
    return removed, added


def _named(edge: Edge | None) -> str:
    return "no edge" if edge is None else shown(list(edge), 120)
