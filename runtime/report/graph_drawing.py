"""The operator graph as coordinates, which templates and figures paint: layers by category, laid out by
Graphviz.

The places follow from the run's first graph alone, so they are the same at every event of a run. Names never
reach Graphviz: nodes are numbers there.

References
----------
Gansner, Koutsofios, North, Vo, "A technique for drawing directed graphs", IEEE Transactions on Software
Engineering 19 (3), 1993 (layers and their order); Dobkin et al., "Implementing a general edge router",
Graph Drawing 1997 (curves around nodes).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from dga2d.events.payloads import RunStarted
from dga2d.replay.state.graph import END, START
from dga2d.replay.state.run_state import RunState

if TYPE_CHECKING:
    from pygraphviz import AGraph

POINTS_PER_INCH = 72.0
NODE_WIDTH, NODE_HEIGHT = 172.0, 34.0
MARGIN = 14.0
ASIDE = 6.0
"""Half the distance of an edge from its reverse.

All lengths are in units of the drawing."""
LAYERS = ("initialisation", "local_search", "perturbation", "recombination", "intensification")
"""Categories of operators from top to bottom; others come last."""

_graphviz = Lock()
"""Lay out one graph at a time: Graphviz is not safe in threads."""


class Place(NamedTuple):
    """Middle of a node."""

    x: float
    y: float


class Layout(NamedTuple):
    """Places of all nodes in a drawing of `width` × `height`, the origin at its upper left."""

    width: float
    height: float
    places: Mapping[str, Place]


class Route(NamedTuple):
    """How an edge runs."""

    points: tuple[Place, ...]
    """Cubic Bézier curve: its start, then three control points for each piece; it ends at the arrowhead."""
    tip: Place

    @property
    def path(self) -> str:
        """The curve as an SVG path."""
        start, *controls = self.points
        return f"M{start.x:.1f} {start.y:.1f}C" + " ".join(f"{p.x:.1f} {p.y:.1f}" for p in controls)

    @property
    def arrow(self) -> tuple[Place, Place, Place]:
        """Corners of the arrowhead, its tip first."""
        foot = self.points[-1]
        dx, dy = (self.tip.x - foot.x) / 2, (self.tip.y - foot.y) / 2
        return self.tip, Place(foot.x - dy, foot.y + dx), Place(foot.x + dy, foot.y - dx)


@lru_cache(maxsize=32)
def lay_out(categories: tuple[tuple[str, str], ...], edges: tuple[tuple[str, str], ...]) -> Layout:
    """Return the places of operators, given with their categories, and of ``START`` and ``END``.

    `edges` decide the order within layers, so that few of them cross.
    """
    layers = _layers(categories)
    names = [name for layer in layers for name in layer]
    number = {name: str(index) for index, name in enumerate(names)}
    with _graphviz:
        graph = _empty_graph(rankdir="TB", nodesep="0.3", ranksep="0.75", newrank="true")
        graph.add_nodes_from(number.values())
        for source, target in edges:
            if target != END and source in number and target in number:
                graph.add_edge(number[source], number[target])
        _hold_layers(graph, [[number[name] for name in layer] for layer in layers])
        graph.layout("dot")
        found = {name: _place(graph.get_node(number[name]).attr["pos"]) for name in names}
    left = min(place.x for place in found.values()) - NODE_WIDTH / 2 - MARGIN
    top = max(place.y for place in found.values()) + NODE_HEIGHT / 2 + MARGIN
    places = {name: Place(place.x - left, top - place.y) for name, place in found.items()}
    width = max(place.x for place in places.values()) + NODE_WIDTH / 2 + MARGIN
    for alone in (START, END):
        places[alone] = Place(width / 2, places[alone].y)
    return Layout(
        width=width,
        height=max(place.y for place in places.values()) + NODE_HEIGHT / 2 + MARGIN,
        places=places,
    )


def _layers(categories: Iterable[tuple[str, str]]) -> list[list[str]]:
    found: dict[int, list[str]] = {-1: [START], len(LAYERS) + 1: [END]}
    for name, category in categories:
        found.setdefault(LAYERS.index(category) if category in LAYERS else len(LAYERS), []).append(name)
    return [sorted(names) for _, names in sorted(found.items())]


def _hold_layers(graph: AGraph, layers: Sequence[Sequence[str]]) -> None:
    """Keep each layer on one rank, below the one before."""
    for index, layer in enumerate(layers):
        graph.add_node(f"layer{index}", style="invis", width="0.01", height="0.01")
        graph.add_subgraph([*layer, f"layer{index}"], rank="same")
        if index:
            graph.add_edge(f"layer{index - 1}", f"layer{index}", style="invis", weight="20")


def route(layout: Layout, edges: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Route]:
    """Return how `edges` run around the nodes of a layout; those between unknown nodes are left out."""
    known = tuple(sorted(e for e in edges if e[0] in layout.places and e[1] in layout.places))
    return _route(tuple(layout.places.items()), layout.height, known)


@lru_cache(maxsize=256)
def _route(
    places: tuple[tuple[str, Place], ...], height: float, edges: tuple[tuple[str, str], ...]
) -> dict[tuple[str, str], Route]:
    number = {name: str(index) for index, (name, _) in enumerate(places)}
    with _graphviz:
        graph = _empty_graph(splines="true")
        for name, place in places:
            x, y = place.x / POINTS_PER_INCH, (height - place.y) / POINTS_PER_INCH
            graph.add_node(number[name], pos=f"{x:.4f},{y:.4f}!", pin="true")
        for source, target in edges:
            graph.add_edge(number[source], number[target])
        graph.layout("neato")
        # what Graphviz moved as a whole is moved back
        origin = _place(graph.get_node("0").attr["pos"])
        first = places[0][1]
        dx, dy = first.x - origin.x, height - first.y - origin.y
        found = {
            edge: _read_route(graph.get_edge(number[edge[0]], number[edge[1]]).attr["pos"], dx, dy, height)
            for edge in edges
        }
    nodes = dict(places)
    return {
        (a, b): _moved_aside(one, nodes[a], nodes[b]) if (b, a) in found else one
        for (a, b), one in found.items()
    }


def _moved_aside(found: Route, source: Place, target: Place) -> Route:
    """Return an edge moved to its right, which its reverse, moved to its own right, does not lie upon.

    Its ends move along the sides of their nodes.
    """
    chord_x, chord_y = found.tip.x - found.points[0].x, found.tip.y - found.points[0].y
    length = math.hypot(chord_x, chord_y) or 1.0
    across = Place(-chord_y / length * ASIDE, chord_x / length * ASIDE)

    first, *inner, foot = found.points
    begin, tip = _along_side(first, source, across), _along_side(found.tip, target, across)
    foot = Place(foot.x + tip.x - found.tip.x, foot.y + tip.y - found.tip.y)
    return Route((begin, *(Place(p.x + across.x, p.y + across.y) for p in inner), foot), tip)


def _along_side(end: Place, node: Place, across: Place) -> Place:
    """Return the end of an edge moved along the side of its node on which it stands."""
    if abs(end.y - node.y) / NODE_HEIGHT >= abs(end.x - node.x) / NODE_WIDTH:
        x = end.x + math.copysign(ASIDE, across.x)
        return Place(min(max(x, node.x - NODE_WIDTH / 2), node.x + NODE_WIDTH / 2), end.y)
    y = end.y + math.copysign(ASIDE, across.y)
    return Place(end.x, min(max(y, node.y - NODE_HEIGHT / 2), node.y + NODE_HEIGHT / 2))


def _empty_graph(**attributes: str) -> AGraph:
    from pygraphviz import AGraph  # loads Graphviz, and most commands draw nothing

    graph = AGraph(directed=True, **attributes)
    width, height = NODE_WIDTH / POINTS_PER_INCH, NODE_HEIGHT / POINTS_PER_INCH
    graph.node_attr.update(
        shape="box", label="", fixedsize="true", width=f"{width:.3f}", height=f"{height:.3f}"
    )
    graph.edge_attr.update(arrowsize="0.6")
    return graph


def _place(text: str) -> Place:
    """Read ``X,Y``, with ``!`` behind it where the node is pinned."""
    x, y = text.rstrip("!").split(",")[:2]
    return Place(float(x), float(y))


def _read_route(text: str, dx: float, dy: float, height: float) -> Route:
    """Read Graphviz's ``e,X,Y X,Y X,Y …``: the tip of the arrow, then the points of a cubic spline."""
    head, *rest = text.removeprefix("e,").split()
    points = [_place(point) for point in (head, *rest)]
    tip, *spline = [Place(point.x + dx, height - point.y - dy) for point in points]
    return Route(tuple(spline), tip)


Edges = Iterable[tuple[str, str]]


@dataclass(frozen=True)
class DrawnNode:
    """An operator, or ``START`` or ``END``; `x` and `y` are its middle."""

    name: str
    x: float
    y: float
    credit: float | None
    """``None`` for the sentinels and for operators that are not in the graph."""
    intensity: float
    """Size of the credit beside the largest, 0 … 1."""
    n_implementations: int
    activations: int
    """How often a walk came to it, by implementations that are still there."""
    is_incumbent: bool
    """The incumbent's walk visits it."""


@dataclass(frozen=True)
class DrawnEdge:
    """An edge as a curve."""

    source: str
    target: str
    route: Route
    credit: float
    activations: int
    width: float
    change: str
    """``added`` or ``removed`` by the open or just closed generation, else empty."""
    is_incumbent: bool
    """The incumbent's walk takes it."""

    @property
    def arrow(self) -> str:
        """The arrowhead as the points of an SVG polygon."""
        return " ".join(f"{p.x:.1f},{p.y:.1f}" for p in self.route.arrow)


@dataclass(frozen=True)
class GraphDrawing:
    """Nodes and edges in user units of a drawing of `width` × `height`."""

    width: float
    height: float
    nodes: tuple[DrawnNode, ...]
    links: tuple[DrawnEdge, ...]
    node_width: float = NODE_WIDTH
    node_height: float = NODE_HEIGHT


def draw_graph(
    header: RunStarted,
    state: RunState,
    before: RunState,
    credits: Mapping[tuple[str, str], float],
    first_edges: Edges,
) -> GraphDrawing:
    """Return the drawing of the graph of `state`, with the edges marked that were added or removed since
    `before`; `credits` are those of the present edges.

    Nodes stand where the run's first graph, `first_edges`, puts them.
    """
    layout = lay_out(tuple(sorted(categories(header, state).items())), tuple(sorted(first_edges)))
    walk = _incumbent(state)
    return GraphDrawing(
        layout.width,
        layout.height,
        nodes=_nodes(state, layout, walk),
        links=_links(state, before, layout, credits, walk),
    )


def categories(header: RunStarted, state: RunState) -> dict[str, str]:
    """Return the category of every operator that has a pool, before there are any of the whole library; it is
    empty for operators that were made later."""
    kept = set(state.pools) if state.pools else {operator.id for operator in header.library}
    found = dict.fromkeys(map(str, kept), "")
    found |= {name: new.category for name, new in state.operators.items() if name in kept}
    for operator in header.library:
        if operator.id in kept:
            found[operator.id] = operator.category
    return found


def _incumbent(state: RunState) -> tuple[str, ...]:
    """Return the nodes that the incumbent visits; without races it is the best program."""
    program = state.champion or state.best
    return () if program is None else (START, *(step.operator for step in program.steps), END)


def _nodes(state: RunState, layout: Layout, walk: tuple[str, ...]) -> tuple[DrawnNode, ...]:
    epsilon = state.settings.epsilon
    credits: dict[str, float] = {
        name: state.credits.operator_credit(pool, epsilon) for name, pool in state.pools.items()
    }
    sizes = {str(name): len(pool) for name, pool in state.pools.items()}
    largest = max((abs(value) for value in credits.values()), default=0.0) or 1.0
    visits: Counter[str] = Counter()
    for (_, target), count in _activations(state).items():
        visits[target] += count
    return tuple(
        DrawnNode(
            name,
            place.x,
            place.y,
            credits.get(name),
            abs(credits.get(name, 0.0)) / largest,
            sizes.get(name, 0),
            visits[name],
            name in walk,
        )
        for name, place in sorted(layout.places.items())
    )


def _links(
    state: RunState,
    before: RunState,
    layout: Layout,
    credits: Mapping[tuple[str, str], float],
    walk: tuple[str, ...],
) -> tuple[DrawnEdge, ...]:
    now = frozenset() if state.graph is None else state.graph.edges
    earlier = now if before.graph is None else before.graph.edges
    uses, steps = _activations(state), set(pairwise(walk))
    links = []
    for (source, target), found in route(layout, now | earlier).items():
        edge = (source, target)
        is_now, was = edge in now, edge in earlier
        links.append(
            DrawnEdge(
                source,
                target,
                found,
                credits.get(edge, 0.0),
                uses[edge],
                min(1.0 + 0.35 * uses[edge] ** 0.5, 5.0),
                "" if is_now and was else ("added" if is_now else "removed"),
                edge in steps,
            )
        )
    return tuple(sorted(links, key=lambda link: (link.is_incumbent, bool(link.change))))


def _activations(state: RunState) -> Counter[tuple[str, str]]:
    """Return how often each edge was walked by implementations that are still there."""
    owner: dict[str, str] = {name: operator for operator, pool in state.pools.items() for name in pool}
    owner[START] = START
    uses: Counter[tuple[str, str]] = Counter()
    for transition, record in state.credits.ordered:
        source, target = owner.get(transition.predecessor), owner.get(transition.target)
        if source is not None and target is not None:
            uses[source, target] += record.activations
    return uses
