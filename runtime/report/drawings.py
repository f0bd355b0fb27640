"""Drawings as coordinates: convergence curves and the operator graph; templates and figures paint them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from dga2d.events.payloads import RunStarted
from dga2d.replay.state.graph import END, START
from dga2d.replay.state.run_state import RunState

LEFT, RIGHT, TOP, BOTTOM = 52, 12, 12, 30
WIDE = (720, 280)
NARROW = (360, 220)
Axis = Literal["generation", "calls", "tokens"]


@dataclass(frozen=True)
class Mark:
    """A measured value, in user units of the drawing."""

    x: float
    y: float
    is_clipped: bool
    """The value lies above the plot and is drawn at its upper border."""
    label: str


@dataclass(frozen=True)
class Series:
    """One line of the plot; `points` are its vertices as an SVG attribute."""

    name: str
    points: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class Chart:
    """Gap in percent over what was spent."""

    axis: str
    width: int
    height: int
    series: tuple[Series, ...]
    y_ticks: tuple[tuple[float, str], ...]
    x_ticks: tuple[tuple[float, str], ...]


@dataclass(frozen=True)
class _Scale:
    """Where values lie in the drawing; values above `high` are drawn there."""

    width: int
    height: int
    first: float
    last: float
    low: float
    high: float

    def x(self, value: float) -> float:
        share = (value - self.first) / ((self.last - self.first) or 1.0)
        return LEFT + share * (self.width - LEFT - RIGHT)

    def y(self, value: float) -> float:
        share = (self.high - min(value, self.high)) / (self.high - self.low)
        return TOP + share * (self.height - TOP - BOTTOM)

    def series(self, name: str, values: Iterable[tuple[float, float, str]]) -> Series:
        """Return the line through triples of abscissa, gap and label."""
        marks = tuple(Mark(self.x(x), self.y(gap), gap > self.high, label) for x, gap, label in values)
        return Series(name, " ".join(f"{m.x:.1f},{m.y:.1f}" for m in marks), marks)

    def chart(self, axis: str, series: Sequence[Series]) -> Chart:
        y_ticks = tuple((self.y(value), f"{value:.4g}") for value in _ticks(self.low, self.high, 5))
        across = _ticks(self.first, max(self.last, self.first + 1), max(4, self.width // 72))
        x_ticks = tuple(
            (self.x(value), _whole(value)) for value in across if value == round(value) and value <= self.last
        )
        return Chart(axis, self.width, self.height, tuple(series), y_ticks, x_ticks)


def convergence(
    history: list[dict[str, Any]], axis: Axis = "generation", size: tuple[int, int] = WIDE
) -> Chart | None:
    """Return the plot of the rows of ``show --json``'s ``history`` (with ``tokens`` for that axis).

    It is ``None`` while every candidate has failed.
    """
    names = {
        "best so far": "best_so_far_percent",
        "best of generation": "best_gap_percent",
        "validation": "validation_gap_percent",
    }
    reached = _reached(history)
    if not reached:
        return None
    scale = _Scale(*size, history[0][axis], history[-1][axis], *_range(reached))
    series = [scale.series(name, _values(history, axis, key)) for name, key in names.items()]
    return scale.chart(axis, series)


def comparison(runs: Sequence[tuple[str, list[dict[str, Any]]]]) -> Chart | None:
    """Return the plot of the best gap so far over generations of several `runs`, pairs of name and history.

    It is ``None`` where no candidate of theirs succeeded.
    """
    ranges = [_range(reached) for _, history in runs if (reached := _reached(history))]
    if not ranges:
        return None
    last = max(history[-1]["generation"] for _, history in runs if history)
    scale = _Scale(*WIDE, 1, last, min(low for low, _ in ranges), max(high for _, high in ranges))
    series = [
        scale.series(name, _values(history, "generation", "best_so_far_percent")) for name, history in runs
    ]
    return scale.chart("generation", series)


def _reached(history: list[dict[str, Any]]) -> list[float]:
    return [row["best_so_far_percent"] for row in history if row["best_so_far_percent"] is not None]


def _values(history: list[dict[str, Any]], axis: Axis, key: str) -> Iterable[tuple[float, float, str]]:
    for row in history:
        if row[key] is not None:
            yield row[axis], row[key], f"generation {row['generation']}: {row[key]:.2f} %"


def _range(best_so_far: list[float]) -> tuple[float, float]:
    """Return the range from 0, or below a best that beats the reference, to above the first incumbent."""
    low = min(0.0, best_so_far[-1])
    high = max(1.2 * best_so_far[0], 3.0 * best_so_far[-1], low + 0.1, -0.1 * low)
    return 1.1 * low, high


def _ticks(low: float, high: float, wanted: int) -> list[float]:
    """Return about `wanted` round numbers between `low` and `high`."""
    raw = max(high - low, 1e-9) / wanted
    magnitude = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * magnitude for factor in (1, 2, 5, 10) if factor * magnitude >= raw)
    first = math.ceil(low / step)
    return [index * step for index in range(first, math.floor(high / step) + 1)]


def _whole(value: float) -> str:
    return f"{value / 1000:g}k" if value >= 10_000 else str(round(value))


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
