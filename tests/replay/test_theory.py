"""The theory's figures against enumeration, networkx and direct arguments."""

from __future__ import annotations

import math
from itertools import product

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dga2d.agents.scoring import standardise, update_credits
from dga2d.events import ImplementationId, OperatorId
from dga2d.events.payloads import Edge
from dga2d.replay.state.credit import CreditTable
from dga2d.replay.state.graph import END, START, OperatorGraph
from dga2d.replay.theory import ContextCells, credit_bound, growth_rate, largest_credit

S, A, B, C, D = (OperatorId(name) for name in "sabcd")
CANDIDATES: list[Edge] = [
    *((S, o) for o in (A, B, C, D)),
    *((a, b) for a, b in product((A, B, C, D), repeat=2) if a != b),
    *((o, END) for o in (S, A, B, C, D)),
]
graphs = st.sets(st.sampled_from(CANDIDATES)).map(
    lambda edges: OperatorGraph((A, B, C, D, S), frozenset({S}), frozenset({(START, S), *edges}))
)


def enumerated(graph: OperatorGraph, max_length: int) -> int:
    """Pipelines by brute force: every sequence of operators is tried."""
    return sum(
        all(edge in graph.edges for edge in zip((START, *walk), (*walk, END), strict=True))
        for length in range(1, max_length + 1)
        for walk in product(graph.operators, repeat=length)
    )


@given(graphs)
@settings(max_examples=30, deadline=None)
def test_the_number_of_pipelines_is_exact(graph: OperatorGraph) -> None:
    assert graph.count_pipelines(4) == enumerated(graph, 4)


@given(graphs)
@settings(max_examples=100, deadline=None)
def test_the_growth_rate_is_the_spectral_radius_of_the_relevant_part(graph: OperatorGraph) -> None:
    """ρ(A) of the whole relevant graph equals the largest among its strong components."""
    whole = nx.DiGraph(list(graph.edges))
    relevant = nx.DiGraph()
    if END in whole and nx.has_path(whole, START, END):
        nodes = (nx.descendants(whole, START) | {START}) & (nx.ancestors(whole, END) | {END})
        relevant = whole.subgraph(nodes)
    expected = 0.0
    if relevant and not nx.is_directed_acyclic_graph(relevant):
        expected = max(abs(nx.adjacency_spectrum(relevant)))
    assert growth_rate(graph) == pytest.approx(expected, abs=1e-6)


def test_the_growth_rate_of_known_graphs() -> None:
    def rate(*edges: Edge) -> float:
        return growth_rate(OperatorGraph((A, B, C, D, S), frozenset({S}), frozenset(edges)))

    route: tuple[Edge, ...] = ((START, S), (S, A), (A, END))
    cycle: tuple[Edge, ...] = ((A, B), (B, A))
    assert rate(*route) == 0.0
    assert rate(*route, *cycle) == pytest.approx(1.0)
    complete = [(a, b) for a, b in product((A, B, C), repeat=2) if a != b]
    assert rate(*route, *complete) == pytest.approx(2.0)
    assert rate((START, S), (S, END), *cycle) == 0.0  # the cycle lies on no route


def test_the_growth_rate_is_that_of_the_number_of_pipelines() -> None:
    edges: set[Edge] = {(START, S), (S, A), (A, B), (B, A), (B, C), (C, A), (A, END), (C, C), (C, END)}
    graph = OperatorGraph((A, B, C, S), frozenset({S}), frozenset(edges))
    of_length = [graph.count_pipelines(n) - graph.count_pipelines(n - 1) for n in (200, 201)]
    assert of_length[1] / of_length[0] == pytest.approx(growth_rate(graph), rel=1e-9)


scores = st.lists(st.floats(-5, 0), min_size=3, max_size=3)


@given(st.lists(st.tuples(scores, st.integers(0, 2)), min_size=1, max_size=30), st.floats(0.01, 0.9))
def test_no_credit_exceeds_its_bound(history: list[tuple[list[float], int]], rate: float) -> None:
    x, y = ImplementationId("a.x"), ImplementationId("b.y")
    table = CreditTable()
    for generation, lucky in history:
        walks = [[x] if j == lucky else [x, y] for j in range(3)]
        rewards = standardise(generation, 1e-8).rewards
        table = table.update(update_credits(table, walks, rewards, rate))
    assert largest_credit(table) <= credit_bound(table, 3, rate) + 1e-12


def test_the_credit_bound_is_reached() -> None:
    """One candidate is better than N−1 equal others, again and again: R̃ = √(N−1) each time."""
    x = ImplementationId("a.x")
    table = CreditTable()
    for _ in range(7):
        rewards = standardise([0.0, -1.0, -1.0, -1.0, -1.0], 0.0).rewards
        table = table.update(update_credits(table, [[x]], rewards[:1], 0.25))
    assert largest_credit(table) == pytest.approx(credit_bound(table, 5, 0.25))
    assert credit_bound(table, 5, 0.25) == pytest.approx(math.sqrt(4) * (1 - 0.75**7))


def test_context_cells_are_counted_by_order() -> None:
    """Worked by hand: walks x y x y and y x y."""
    x, y = ImplementationId("a.x"), ImplementationId("b.y")
    cells = ContextCells()
    cells.add([(x, y, x, y), (y, x, y)])
    assert cells.counts() == {
        "zero": 2,
        "first": 4,  # START x, x y, y x, START y
        "second": 6,  # START x; START x y; x y x; y x y; START y; START y x
        "full": 7,
    }
    cells.add([(x, y)])
    assert cells.counts()["full"] == 7


@given(st.lists(st.lists(st.sampled_from("xyz").map(ImplementationId), max_size=6), max_size=8))
def test_a_longer_context_never_has_fewer_cells(walks: list[list[ImplementationId]]) -> None:
    cells = ContextCells()
    cells.add(walks)
    counts = list(cells.counts().values())
    assert counts == sorted(counts)
