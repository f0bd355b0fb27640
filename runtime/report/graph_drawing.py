"""The operator graph as coordinates; templates and figures paint it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from dga2d.events.payloads import RunStarted
from dga2d.replay.state.graph import END, START
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.report.graph_layout import NODE_HEIGHT, NODE_WIDTH, Layout, Route, lay_out, route

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
