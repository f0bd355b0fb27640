"""Reads and checks proposed graphs and edge edits (paper, Section 3.5, Templates I and III)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from dga2d.agents.proposing.answers import json_object
from dga2d.agents.proposing.errors import ProposalError, abbreviate
from dga2d.agents.proposing.graphs import Contracts, compatible_edges, contracts_by_id, incompatibility
from dga2d.agents.proposing.tasks import ConnectTask, HBounds, InitializeTask
from dga2d.events import OperatorId
from dga2d.events.payloads import Edge
from dga2d.replay.state.graph import END, START, OperatorGraph, structure_violation

_KEYS = ("H", "operators", "entry_nodes", "exit_nodes", "edges")
_H_KEYS = ("operator_limit", "temperature")


@dataclass(frozen=True)
class GraphProposal:
    """A checked proposal; K and τ are as proposed, see `clamp`."""

    operator_limit: int
    temperature: float
    operators: tuple[OperatorId, ...]
    """Sorted."""
    entries: tuple[OperatorId, ...]
    exits: tuple[OperatorId, ...]
    edges: tuple[Edge, ...]
    """All edges of the graph, sorted, with those of ``START`` to the entries and of the exits to ``END``."""

    def graph(self, initialisers: Iterable[OperatorId]) -> OperatorGraph:
        """Return the graph D₁; `initialisers` may name operators that were not chosen."""
        chosen = frozenset(self.operators)
        return OperatorGraph(self.operators, chosen & frozenset(initialisers), frozenset(self.edges))


def clamp(proposal: GraphProposal, bounds: HBounds) -> tuple[GraphProposal, tuple[str, ...]]:
    """Return the proposal with K and τ moved into the bounds, and one line for each value that was moved."""
    limit = min(max(proposal.operator_limit, bounds.operator_limit_min), bounds.operator_limit_max)
    temperature = min(max(proposal.temperature, bounds.temperature_min), bounds.temperature_max)
    moved = []
    if limit != proposal.operator_limit:
        moved.append(f"operator_limit {proposal.operator_limit} -> {limit}")
    if temperature != proposal.temperature:
        moved.append(f"temperature {proposal.temperature!r} -> {temperature!r}")
    return replace(proposal, operator_limit=limit, temperature=temperature), tuple(moved)


def parse_graph(text: str, task: InitializeTask) -> GraphProposal:
    """Return the graph that an answer proposes.

    Raises
    ------
    ProposalError
        ``size``, ``json``, ``no_variation``: see `json_object`; ``keys``, ``H``, ``operators``,
        ``entry_nodes``, ``exit_nodes``, ``edges``: that part is malformed; ``edge_interface``: an edge
        cannot carry a solution; ``route``: no pipeline of at most ``max_length`` operators exists.
    """
    answer = json_object(text)
    _require_keys(answer, _KEYS, "keys")
    limit, temperature = _search_settings(answer["H"])
    contracts = contracts_by_id(task.operators)
    operators = _ids(answer["operators"], "operators", contracts)
    most = min(limit, task.bounds.operator_limit_max)
    if len(operators) > most:
        raise ProposalError("operators", f"{len(operators)} operators chosen, at most {most} allowed")
    chosen = {o: contracts[o] for o in operators}
    entries = _ids(answer["entry_nodes"], "entry_nodes", chosen)
    exits = _ids(answer["exit_nodes"], "exit_nodes", chosen)
    ends: list[tuple[str, Edge]] = [("entry_nodes", (START, entry)) for entry in entries]
    ends += [("exit_nodes", (leaf, END)) for leaf in exits]
    for stage, edge in ends:
        if reason := incompatibility(edge, chosen):
            raise ProposalError(stage, reason)
    edges = tuple(sorted({*_edges(answer["edges"], chosen), *(edge for _, edge in ends)}))
    proposal = GraphProposal(limit, temperature, operators, entries, exits, edges)
    if not proposal.graph(o for o, c in chosen.items() if c.is_initialiser).has_route(task.max_length):
        raise ProposalError(
            "route", f"no pipeline of at most {task.max_length} operators leads from START to END"
        )
    return proposal


def _require_keys(value: object, keys: tuple[str, ...], stage: str) -> None:
    if not isinstance(value, dict):
        raise ProposalError(stage, f"expected an object with the keys {', '.join(keys)}")
    missing = [key for key in keys if key not in value]
    extra = sorted(abbreviate(key) for key in value if key not in keys)
    if missing or extra:
        raise ProposalError(
            stage,
            f"expected exactly the keys {', '.join(keys)}; missing: {', '.join(missing) or 'none'}, "
            f"not allowed: {', '.join(extra) or 'none'}",
        )


def _search_settings(value: Any) -> tuple[int, float]:
    """Return K and τ; a number outside the bounds is well-formed here (see `clamp`)."""
    _require_keys(value, _H_KEYS, "H")
    limit, temperature = value["operator_limit"], value["temperature"]
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= 10**6:
        raise ProposalError("H", f"operator_limit must be a whole number from 1, got {abbreviate(limit)}")
    if isinstance(temperature, bool) or not isinstance(temperature, int | float):
        raise ProposalError("H", f"temperature must be a number, got {abbreviate(temperature)}")
    if not 0 < temperature <= 10**6 or not math.isfinite(temperature):
        raise ProposalError("H", f"temperature must be above 0 and finite, got {abbreviate(temperature)}")
    return limit, float(temperature)


def _ids(value: Any, stage: str, allowed: Contracts) -> tuple[OperatorId, ...]:
    """Return a non-empty list of different allowed ids, sorted."""
    if not isinstance(value, list) or not value:
        raise ProposalError(stage, f"{stage} must be a non-empty list of operator ids")
    for item in value:
        if not isinstance(item, str) or item not in allowed:
            source = "the listed operators" if stage == "operators" else "the chosen operators"
            raise ProposalError(stage, f"{abbreviate(item)} is not one of {source}")
    if len(set(value)) != len(value):
        raise ProposalError(stage, f"{stage} names an operator twice")
    return tuple(sorted(OperatorId(item) for item in value))


def edge_list(value: Any, stage: str) -> tuple[Edge, ...]:
    """Return a list of ``[source, target]`` pairs of text, each once, in the order given.

    Raises
    ------
    ProposalError
        With the given `stage`: another shape, or an edge named twice.
    """
    if not isinstance(value, list):
        raise ProposalError(stage, f"expected a list of [source, target] pairs, got {abbreviate(value)}")
    edges: list[Edge] = []
    for item in value:
        if not isinstance(item, list) or len(item) != 2 or not all(isinstance(end, str) for end in item):
            raise ProposalError(stage, f"expected a [source, target] pair, got {abbreviate(item)}")
        edges.append((OperatorId(item[0]), OperatorId(item[1])))
    if len(set(edges)) != len(edges):
        raise ProposalError(stage, "an edge is named twice")
    return tuple(edges)


def _edges(value: Any, chosen: Contracts) -> tuple[Edge, ...]:
    edges = edge_list(value, "edges")
    for edge in edges:
        for end in edge:
            if end in (START, END):
                raise ProposalError("edges", "START and END are implicit: use entry_nodes and exit_nodes")
            if end not in chosen:
                raise ProposalError("edges", f"{abbreviate(end)} is not one of the chosen operators")
        if edge[0] == edge[1]:
            raise ProposalError("edges", f"{edge[0]} may not lead to itself")
        if reason := incompatibility(edge, chosen):
            raise ProposalError("edge_interface", f"[{edge[0]}, {edge[1]}]: {reason}")
    return edges


MAX_DELTA = 2
"""Most additions, and most deletions, of one delta (Template III)."""


@dataclass(frozen=True)
class EdgeEdit:
    """A proposed edit and what it is judged against."""

    task: ConnectTask
    graph: OperatorGraph
    removed: tuple[Edge, ...]
    added: tuple[Edge, ...]


def check_edit(edit: EdgeEdit) -> tuple[str, str] | None:
    """Return stage and reason of the first broken rule; ``None`` if none is."""
    return next(_broken_rules(edit), None)


def _broken_rules(edit: EdgeEdit) -> Iterator[tuple[str, str]]:
    """Yield stage and reason of each broken rule; a rule may rely on those before it."""
    task, graph, added, removed = edit.task, edit.graph, edit.added, edit.removed
    if task.mode == "replace":
        if len(added) != 1:
            yield "edge_count", f"expected exactly one edge to add, got {len(added)}"
        if removed != (task.remove,):
            yield "edge_count", f"only {_name_edge(task.remove)} is to be removed"
    elif max(len(added), len(removed)) > MAX_DELTA:
        yield "edge_count", f"at most {MAX_DELTA} edges may be added and at most {MAX_DELTA} deleted"
    nodes = {START, END, *graph.operators}
    for end in (end for edge in added for end in edge):
        if end not in nodes:
            yield "edge_endpoint", f"{abbreviate(end)} is not a node of the graph"
    for edge in removed:
        if edge not in graph.edges:
            yield "edge_absent", f"{_name_edge(edge)} is not an edge of the graph"
    for edge in added:  # the one to be removed still counts as present
        if edge in graph.edges:
            yield "edge_present", f"{_name_edge(edge)} is already an edge of the graph"
    for source, target in added:
        if source == target:
            yield "edge_loop", f"{source} may not lead to itself"
    contracts = contracts_by_id(task.operators)
    for edge in added:
        if reason := incompatibility(edge, contracts):
            yield "edge_interface", f"{_name_edge(edge)}: {reason}"
    edited = graph.edit(removed, added)
    if violation := structure_violation(edited.edges, task.structure):
        yield "structure", violation
    if not edited.has_route(task.max_length):
        most = f"{task.max_length} operators"
        yield "route", f"no pipeline of at most {most} would lead from START to END any more"
    lost = graph.on_walks(task.max_length) - edited.on_walks(task.max_length) if task.keeps_reach else ()
    for operator in sorted(lost):
        yield "reach", f"no pipeline would pass {operator} any more"


def addable_edges(task: ConnectTask) -> tuple[Edge, ...]:
    """Return every single edge that a valid answer may add, sorted; empty where the graph must stay as it is.

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
    """Return the removed and the added edges of an answer, judged against `graph`.

    In replace mode ``delete_edges`` is either empty or names the task's edge; that edge is what is
    removed. Both lists may be empty in delta mode, and wherever no change is allowed.

    Raises
    ------
    ProposalError
        ``size``, ``json``, ``no_variation``: see `json_object`; ``keys``, ``add_edges``,
        ``delete_edges``: malformed; else the stage of the first broken rule (`check_edit`).
    """
    answer = json_object(text)
    if set(answer) != {"add_edges", "delete_edges"}:
        raise ProposalError("keys", "expected exactly the keys add_edges and delete_edges")
    added = edge_list(answer["add_edges"], "add_edges")
    removed = edge_list(answer["delete_edges"], "delete_edges")
    if task.allows_no_change and not added and not removed:
        return (), ()
    if task.mode == "replace" and not removed and task.remove:
        removed = (task.remove,)
    if broken := check_edit(EdgeEdit(task, graph, removed, added)):
        raise ProposalError(*broken)
    return removed, added


def _name_edge(edge: Edge | None) -> str:
    return "no edge" if edge is None else abbreviate(list(edge), 120)
