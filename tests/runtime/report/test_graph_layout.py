"""Nodes of the operator graph stand in layers, and edges run around them."""

from __future__ import annotations

import math
from itertools import pairwise

from dga2d.replay.state.graph import END, START
from dga2d.runtime.report.graph_drawing import ASIDE, NODE_HEIGHT, NODE_WIDTH, lay_out, route

CATEGORIES = ("initialisation", "local_search", "perturbation", "recombination", "intensification")
OPERATORS = tuple((f"operator_{i}", CATEGORIES[min(i // 4, 4)]) for i in range(20))
NAMES = [name for name, _ in OPERATORS]
EDGES = (
    *((START, name) for name in NAMES[:4]),
    *(
        (NAMES[i], NAMES[4 + (3 * i + k) % 16])
        for i in range(20)
        for k in range(4)
        if i != 4 + (3 * i + k) % 16
    ),
    (NAMES[19], END),
)


def test_twenty_operators_stand_in_layers_and_apart() -> None:
    layout = lay_out(OPERATORS, EDGES)
    heights = [{layout.places[n].y for n, c in OPERATORS if c == category} for category in CATEGORIES]
    assert all(len(ys) == 1 for ys in heights)
    in_order = [layout.places[START].y, *(ys.pop() for ys in heights), layout.places[END].y]
    assert all(above + NODE_HEIGHT < below for above, below in pairwise(in_order))
    for name, place in layout.places.items():
        assert NODE_WIDTH / 2 <= place.x <= layout.width - NODE_WIDTH / 2
        for other, its in layout.places.items():
            assert name == other or abs(its.x - place.x) > NODE_WIDTH or abs(its.y - place.y) > NODE_HEIGHT


def test_edges_end_at_their_nodes_and_more_edges_move_nothing() -> None:
    layout = lay_out(OPERATORS, EDGES)
    routes = route(layout, EDGES)
    assert set(routes) == set(EDGES)
    for (source, target), found in routes.items():
        for name, end in ((source, found.points[0]), (target, found.tip)):
            node = layout.places[name]
            assert abs(end.x - node.x) <= NODE_WIDTH / 2 + 1
            assert abs(end.y - node.y) <= NODE_HEIGHT / 2 + 1
    assert route(layout, [*EDGES, ("nowhere", END)]).keys() == routes.keys()
    assert lay_out(OPERATORS, EDGES) == layout


def test_an_edge_and_its_reverse_lie_apart_and_end_at_their_nodes() -> None:
    back = tuple((b, a) for a, b in EDGES if a != START and b != END)
    layout = lay_out(OPERATORS, EDGES)
    routes = route(layout, {*EDGES, *back})
    for a, b in back:
        there, here = routes[a, b], routes[b, a]
        assert math.dist(there.points[0], here.tip) > ASIDE - 1, (a, b)
        for name, end in ((a, there.points[0]), (b, there.tip)):
            node = layout.places[name]
            assert abs(end.x - node.x) <= NODE_WIDTH / 2 + 1
            assert abs(end.y - node.y) <= NODE_HEIGHT / 2 + 1
