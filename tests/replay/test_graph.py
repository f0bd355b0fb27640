"""Feasible actions and pipeline counts against brute-force enumeration of walks."""

from __future__ import annotations

from itertools import pairwise, product

from hypothesis import given, settings
from hypothesis import strategies as st

from dga2d.events import OperatorId
from dga2d.events.payloads import Edge
from dga2d.replay.state.graph import END, START, OperatorGraph

INITIALISERS = (OperatorId("i"), OperatorId("j"))
IMPROVERS = (OperatorId("x"), OperatorId("y"), OperatorId("z"))
OPERATORS = (*INITIALISERS, *IMPROVERS)
POSSIBLE: tuple[Edge, ...] = (
    *((START, i) for i in INITIALISERS),
    *product(OPERATORS, IMPROVERS),
    *((o, END) for o in OPERATORS),
)

graphs = st.sets(st.sampled_from(POSSIBLE)).map(
    lambda edges: OperatorGraph(tuple(sorted(OPERATORS)), frozenset(INITIALISERS), frozenset(edges))
)
lengths = st.integers(1, 5)


def pipelines(graph: OperatorGraph, max_length: int) -> set[tuple[OperatorId, ...]]:
    """All sequences of 1 … `max_length` operators whose every step is an edge."""
    walks: list[tuple[OperatorId, ...]] = [(START,)]
    found: set[tuple[OperatorId, ...]] = set()
    for _ in range(max_length):
        walks = [(*walk, o) for walk in walks for o in OPERATORS if (walk[-1], o) in graph.edges]
        found.update(walk[1:] for walk in walks if (walk[-1], END) in graph.edges)
    return found


@given(graphs, lengths)
def test_the_number_of_pipelines_is_that_of_an_enumeration(graph: OperatorGraph, max_length: int) -> None:
    assert graph.count_pipelines(max_length) == len(pipelines(graph, max_length))


@given(graphs, lengths)
def test_a_route_exists_when_a_pipeline_does(graph: OperatorGraph, max_length: int) -> None:
    assert graph.has_route(max_length) == bool(pipelines(graph, max_length))


@given(graphs, lengths)
def test_what_is_on_a_walk_is_on_one_of_all_pipelines(graph: OperatorGraph, max_length: int) -> None:
    every = pipelines(graph, max_length)
    assert graph.on_walks(max_length) == {operator for walk in every for operator in walk}
    edges = {edge for walk in every for edge in pairwise((START, *walk, END))}
    assert {edge for edge in graph.edges if graph.is_on_walk(edge, max_length)} == edges
    assert all(graph.is_walk(walk, max_length) for walk in every)
    assert not any(graph.is_walk((*walk[:-1], END), max_length) for walk in every)
    assert all(graph.is_walk((o,), max_length) == ((o,) in every) for o in OPERATORS)


@given(graphs, lengths)
def test_feasible_actions_are_the_next_steps_of_all_pipelines(graph: OperatorGraph, max_length: int) -> None:
    every = pipelines(graph, max_length)
    prefixes = {walk[:n] for walk in every for n in range(len(walk) + 1)}
    for prefix in prefixes:
        following = {
            walk[len(prefix)] if len(walk) > len(prefix) else END
            for walk in every
            if walk[: len(prefix)] == prefix
        }
        assert graph.feasible_actions(prefix, max_length) == tuple(sorted(following))


@given(graphs)
def test_relevant_operators_are_those_of_some_walk(graph: OperatorGraph) -> None:
    on_walks = {operator for walk in pipelines(graph, 5) for operator in walk}
    assert on_walks <= graph.relevant
    reached, frontier = {START}, [START]
    while frontier:
        frontier = [t for s, t in graph.edges if s in frontier and t not in reached]
        reached.update(frontier)
    for operator in graph.relevant:
        assert operator in reached
        assert operator in graph.steps_to_end


def test_cycles_are_walked_up_to_the_bound() -> None:
    i, x = OperatorId("i"), OperatorId("x")
    graph = OperatorGraph((i, x), frozenset({i}), frozenset({(START, i), (i, x), (x, x), (x, END)}))
    assert graph.count_pipelines(4) == 3
    assert graph.feasible_actions((i, x), 4) == (END, x)
    assert graph.feasible_actions((i, x, x, x), 4) == (END,)


def test_no_action_is_feasible_where_the_end_is_too_far() -> None:
    i, x = OperatorId("i"), OperatorId("x")
    graph = OperatorGraph((i, x), frozenset({i}), frozenset({(START, i), (i, x), (x, END)}))
    assert graph.feasible_actions((), 1) == ()
    assert not graph.has_route(1)
    assert graph.has_route(2)


def test_a_direct_edge_from_start_to_end_is_no_pipeline() -> None:
    graph = OperatorGraph((), frozenset(), frozenset({(START, END)}))
    assert graph.feasible_actions((), 5) == ()
    assert graph.count_pipelines(5) == 0
    assert not graph.has_route()


@settings(max_examples=20)
@given(graphs, st.sampled_from(OPERATORS))
def test_a_route_through_an_operator_is_a_shortest_pipeline_with_it(
    graph: OperatorGraph, operator: OperatorId
) -> None:
    walks = pipelines(graph, 6)
    route_with_it = [walk for walk in walks if operator in walk]
    if route_with_it:
        route = graph.route_through(operator)
        assert route in walks
        assert len(route) == min(map(len, route_with_it))
    elif operator in INITIALISERS:
        assert graph.route_through(operator) == (operator,)
    elif walks:
        assert graph.route_through(operator) == (min(walk[0] for walk in walks), operator)
