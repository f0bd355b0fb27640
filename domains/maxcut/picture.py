"""A cut as a picture: the graph with its vertices on two arcs, and the matrix of weights."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import Instance, State, require_feasible
from dga2d.domains.drawing import Axis, Dots, Drawing, Panel, Segments, even_part
from dga2d.domains.maxcut.verifier import verify_sides

MAX_LABELLED_VERTICES: Final = 60
"""Vertices bear their numbers, from 1, in graphs up to this size."""
MAX_DRAWN_EDGES: Final = 4000
"""Of more edges an evenly spaced part is drawn; the picture says so."""
CUT, UNCUT, SIDES = 2, "soft", (0, 1)
"""Looks of edges and of the vertices of both sides."""


def picture(instance: Instance, state: State) -> Drawing:
    """Draw left the vertices on two arcs, one per side, with the edges between and within them; right the
    matrix of weights with the vertices of one side before those of the other, so that the cut fills two
    corners."""
    objective = require_feasible(verify_sides(**instance.data, state=state))
    sides = np.asarray(state.sequence, dtype=np.int64)
    edges, weights = instance.data["edges"], instance.data["weights"]
    drawn = even_part(np.arange(len(edges)), MAX_DRAWN_EDGES)
    heaviest = int(weights[weights > 0].sum(dtype=np.int64))
    title = (
        f"{instance.key}: cut of weight {int(objective)} "
        f"({len(sides)} vertices, {len(weights)} edges, positive weights add up to {heaviest})"
    )
    left_out = len(edges) - len(drawn)
    notes = (f"{len(drawn)} of {len(edges)} edges are drawn, evenly chosen.",) if left_out else ()
    panels = (_graph(sides, edges, edges[drawn]), _matrix(sides, edges[drawn], weights[drawn]))
    return Drawing(title, (panels,), notes)


def _positions(sides: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the points on the left and the right arc of a circle, float64 `(n, 2)`, by index from top to
    bottom.
    """
    points = np.zeros((len(sides), 2))
    for side, sign in ((0, -1.0), (1, 1.0)):
        members = np.flatnonzero(sides == side)
        angles = np.linspace(0.42 * math.pi, -0.42 * math.pi, len(members))
        points[members] = np.stack((sign * (0.15 + np.cos(angles)), np.sin(angles)), axis=1)
    return points


def _graph(sides: NDArray[np.int64], edges: NDArray[np.int32], drawn: NDArray[np.int32]) -> Panel:
    """Return the graph; uncut edges lie beneath."""
    points = _positions(sides)
    shapes: list[Segments | Dots] = []
    for is_cut, look, name in ((False, UNCUT, "uncut"), (True, CUT, "cut")):
        count = int(((sides[edges[:, 0]] != sides[edges[:, 1]]) == is_cut).sum())
        ends = points[drawn[(sides[drawn[:, 0]] != sides[drawn[:, 1]]) == is_cut]]
        shapes.append(Segments(ends.reshape(-1, 2, 2), look, f"edges {name}", f"{count} edges {name}"))  # type: ignore[arg-type]
    is_labelled = len(sides) <= MAX_LABELLED_VERTICES
    radius = min(6.0, max(1.5, 60.0 / math.sqrt(len(sides))))
    for side, look in enumerate(SIDES):
        members = np.flatnonzero(sides == side)
        numbers = [str(vertex + 1) for vertex in members.tolist()]
        words = [f"vertex {number}, side {side}" for number in numbers]
        name = f"side {side}: {len(members)}"
        labels = numbers if is_labelled else ()
        shapes.append(Dots(points[members], look, words, name, labels, radius))
    x, y = Axis("the two sides of the cut", ticks=()), Axis("vertices by number, downwards", ticks=())
    return Panel(tuple(shapes), x, y, height=330.0, is_equal=True)


def _matrix(sides: NDArray[np.int64], edges: NDArray[np.int32], weights: NDArray[np.int32]) -> Panel:
    """Return a dot per edge and direction, coloured by the sign of its weight."""
    n = len(sides)
    place: NDArray[Any] = np.empty(n, np.int64)
    place[np.argsort(sides, kind="stable")] = np.arange(1, n + 1)
    cells = np.concatenate((place[edges], place[edges[:, ::-1]])).astype(np.float64)
    both, ends = np.tile(weights, 2), np.concatenate((edges, edges[:, ::-1])) + 1
    radius = min(3.0, max(0.5, 100.0 / n))
    shapes: list[Segments | Dots] = []
    for chosen, look, name in ((both > 0, 2, "weight > 0"), (both < 0, 6, "weight < 0")):
        words = [
            f"edge {a} to {b}: weight {weight}"
            for (a, b), weight in zip(ends[chosen].tolist(), both[chosen].tolist(), strict=True)
        ]
        if words:
            shapes.append(Dots(cells[chosen], look, words, name, radius=radius))
    border = float((sides == 0).sum()) + 0.5
    lines = np.array([[[border, 0.5], [border, n + 0.5]], [[0.5, border], [n + 0.5, border]]])
    shapes.append(Segments(lines, "ink", f"side 0 ends after {int(border)} vertices"))
    limits = (0.5, n + 0.5)
    return Panel(
        tuple(shapes),
        Axis("vertex, those of side 0 first", limits, is_whole=True),
        Axis("vertex, those of side 0 first", limits, is_whole=True),
        height=330.0,
        is_equal=True,
        is_downward=True,
    )
