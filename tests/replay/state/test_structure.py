"""The structures of the paper's ablation: what each allows, and how a graph is cut down to one."""

from __future__ import annotations

from itertools import product

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dga2d.events import OperatorId
from dga2d.events.payloads import Edge
from dga2d.replay.settings import Structure
from dga2d.replay.state.graph import END, START, OperatorGraph, restrict_to_structure, structure_violation

A, B, C, D = (OperatorId(name) for name in "abcd")
CHAIN: tuple[Edge, ...] = ((START, A), (A, B), (B, C), (C, END))
LADDER: tuple[Structure, ...] = ("fixed", "linear", "dag", "dg")
"""From the strictest to the freest."""


@pytest.mark.parametrize(
    ("extra", "first_allowed"),
    [
        ((), "fixed"),
        (((B, END),), "linear"),
        (((START, D), (D, END)), "linear"),
        (((A, C),), "dag"),
        (((D, C),), "dag"),
        (((C, A),), "dg"),
        (((B, A),), "dg"),
    ],
)
def test_each_structure_relaxes_the_one_before(extra: tuple[Edge, ...], first_allowed: Structure) -> None:
    allowed = [structure_violation((*CHAIN, *extra), structure) is None for structure in LADDER]
    assert allowed == [rank >= LADDER.index(first_allowed) for rank in range(len(LADDER))]


def test_the_reason_names_operator_and_structure() -> None:
    assert structure_violation((*CHAIN, (A, C)), "linear") == "a has 2 successors, the structure is linear"
    assert structure_violation((*CHAIN, (C, A)), "dag") == "a lies on a cycle, the structure is dag"


inner_edges = st.sets(st.sampled_from([(a, b) for a, b in product((B, C, D), repeat=2) if a != b]))


@given(inner_edges)
def test_a_dag_is_what_networkx_calls_one(edges: set[Edge]) -> None:
    graph = nx.DiGraph(list(edges))
    assert (structure_violation(edges, "dag") is None) == nx.is_directed_acyclic_graph(graph)


@given(inner_edges, st.sampled_from(LADDER))
@settings(max_examples=200)
def test_a_restricted_graph_is_of_the_structure_and_keeps_the_baseline(
    edges: set[Edge], structure: Structure
) -> None:
    ends: set[Edge] = {(B, END), (D, END), (A, C), (A, D)}
    graph = OperatorGraph((A, B, C, D), frozenset({A}), frozenset({*CHAIN, *ends, *edges}))
    kept = restrict_to_structure(graph, structure, (A, B, C))
    assert structure_violation(kept.edges, structure) is None
    assert set(CHAIN) <= kept.edges <= graph.edges
    if structure_violation(graph.edges, structure) is None:
        assert kept == graph
    else:  # nothing more could have been kept
        assert structure == "fixed" or all(
            structure_violation((*kept.edges, edge), structure) for edge in graph.edges - kept.edges
        )


def test_a_fixed_graph_has_exactly_one_pipeline_even_for_a_repeating_baseline() -> None:
    graph = OperatorGraph((A, B, C, D), frozenset({A}), frozenset({*CHAIN, (A, D), (D, END)}))
    kept = restrict_to_structure(graph, "fixed", (A, B, C, B))
    assert kept.operators == (A, B, C)
    assert kept.count_pipelines(10) == 1
    assert kept.feasible_actions((A, B), 10) == (C,)
