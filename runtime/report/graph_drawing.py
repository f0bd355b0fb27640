"""The operator graph as coordinates; templates and figures paint it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from dga2d.events.payloads import RunStarted
from dga2d.replay.state.graph import END, START
from dga2d.replay.state.run_state import RunState

COLUMNS = ("initialisation", "local_search", "perturbation", "recombination", "intensification")
"""Categories of operators from left to right; others come last."""
COLUMN_WIDTH, ROW_HEIGHT, NODE_WIDTH = 240.0, 72.0, 176.0


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


@dataclass(frozen=True)
class DrawnEdge:
    """An edge as a curve."""

    source: str
    target: str
    path: str
    credit: float
    activations: int
    width: float
    change: str
    """``added`` or ``removed`` by the open or just closed generation, else empty."""


@dataclass(frozen=True)
class GraphDrawing:
    """Nodes and edges in user units of a drawing of `width` × `height`."""

    width: float
    height: float
    nodes: tuple[DrawnNode, ...]
    links: tuple[DrawnEdge, ...]
    node_width: float = NODE_WIDTH


def draw_graph(
    header: RunStarted, state: RunState, before: RunState, credits: Mapping[tuple[str, str], float]
) -> GraphDrawing:
    """Return the drawing of the graph of `state`, with the edges marked that were added or removed since
    `before`; `credits` are those of the present edges.
    """
    places = _places(header, state)
    return GraphDrawing(
        width=max(x for x, _ in places.values()) + COLUMN_WIDTH / 2,
        height=max(y for _, y in places.values()) + ROW_HEIGHT,
        nodes=_nodes(state, places),
        links=_links(state, before, places, credits),
    )


def _places(header: RunStarted, state: RunState) -> dict[str, tuple[float, float]]:
    """Return the middle of every node, from the run's operators alone: columns by category, rows by name."""
    kept = set(state.pools) if state.pools else {operator.id for operator in header.library}
    names: dict[int, list[str]] = {-1: [START], len(COLUMNS) + 1: [END]}
    for operator in header.library:
        if operator.id in kept:
            is_known = operator.category in COLUMNS
            column = COLUMNS.index(operator.category) if is_known else len(COLUMNS)
            names.setdefault(column, []).append(operator.id)
    most = max(map(len, names.values()))
    places = {}
    for column, (_, members) in enumerate(sorted(names.items())):
        offset = (most - len(members)) / 2 + (0.4 if column % 2 else 0.0)  # so that few edges cross a node
        for row, name in enumerate(sorted(members)):
            places[name] = ((column + 0.5) * COLUMN_WIDTH, (row + offset + 1) * ROW_HEIGHT)
    return places


def _nodes(state: RunState, places: dict[str, tuple[float, float]]) -> tuple[DrawnNode, ...]:
    epsilon = state.settings.epsilon
    credits = {name: state.credits.operator_credit(pool, epsilon) for name, pool in state.pools.items()}
    largest = max((abs(value) for value in credits.values()), default=0.0) or 1.0
    return tuple(
        DrawnNode(
            name,
            x,
            y,
            credits.get(name),  # type: ignore[call-overload]
            abs(credits.get(name, 0.0)) / largest,  # type: ignore[call-overload]
            len(state.pools.get(name, ())),  # type: ignore[call-overload]
        )
        for name, (x, y) in sorted(places.items())
    )


def _links(
    state: RunState,
    before: RunState,
    places: dict[str, tuple[float, float]],
    credits: Mapping[tuple[str, str], float],
) -> tuple[DrawnEdge, ...]:
    now = frozenset() if state.graph is None else state.graph.edges
    earlier = now if before.graph is None else before.graph.edges
    uses = _activations(state)
    links = []
    for edge in sorted(now | earlier):
        source, target = edge
        if source not in places or target not in places:
            continue
        change = "" if edge in now and edge in earlier else ("added" if edge in now else "removed")
        activations = uses[edge]
        links.append(
            DrawnEdge(
                source,
                target,
                _curve(places[source], places[target]),
                credits.get(edge, 0.0),
                activations,
                min(1.0 + 0.6 * activations**0.5, 7.0),
                change,
            )
        )
    return tuple(links)


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


def _curve(start: tuple[float, float], end: tuple[float, float]) -> str:
    """Return the path from the right side of one node to the left side of another."""
    x1, y1 = start[0] + NODE_WIDTH / 2, start[1]
    x2, y2 = end[0] - NODE_WIDTH / 2, end[1]
    bend = max((x2 - x1) / 2, 60.0)
    return f"M{x1:.0f} {y1:.0f}C{x1 + bend:.0f} {y1:.0f} {x2 - bend:.0f} {y2:.0f} {x2:.0f} {y2:.0f}"
