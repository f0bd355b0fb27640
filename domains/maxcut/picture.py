"""A cut as a picture: the graph with its vertices on two arcs, and the matrix of weights."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from dga2d.domains.core.contract import Instance, State, require_feasible
from dga2d.domains.maxcut.verifier import verify_sides

MAX_LABELLED_VERTICES: Final = 60
"""Vertices bear their numbers, from 1, in graphs up to this size."""
SIDE_COLOURS: Final = ("#4477aa", "#ee6677")
CUT_COLOUR, UNCUT_COLOUR = "#228833", "#bbbbbb"


def picture(instance: Instance, state: State) -> Figure:
    """Draw left the vertices on two arcs, one per side, with the edges between and within them; right the
    matrix of weights with the vertices of one side before those of the other, so that the cut fills two
    corners.

    Raises
    ------
    InvalidSolutionError
        The state does not pass the verifier.
    """
    objective = require_feasible(verify_sides(**instance.data, state=state))
    sides = np.asarray(state.sequence, dtype=np.int64)
    edges, weights = instance.data["edges"], instance.data["weights"]
    figure = Figure(figsize=(12.0, 6.0), layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw_graph(left, sides, edges)
    _draw_matrix(right, sides, edges, weights)
    heaviest = int(weights[weights > 0].sum(dtype=np.int64))
    figure.suptitle(
        f"{instance.key}: cut of weight {int(objective)} "
        f"({len(sides)} vertices, {len(weights)} edges, positive weights add up to {heaviest})"
    )
    return figure


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


def _draw_graph(axes: Axes, sides: NDArray[np.int64], edges: NDArray[np.int32]) -> None:
    """Draw edges as thin lines, the more of them the fainter; uncut ones beneath."""
    from matplotlib.collections import LineCollection

    points = _positions(sides)
    is_cut = sides[edges[:, 0]] != sides[edges[:, 1]]
    faintness = min(0.9, max(0.03, 60.0 / max(len(edges), 1)))
    for chosen, colour, name in ((~is_cut, UNCUT_COLOUR, "uncut"), (is_cut, CUT_COLOUR, "cut")):
        lines = LineCollection(list(points[edges[chosen]]), colors=colour, linewidths=0.8, alpha=faintness)
        axes.add_collection(lines)
        axes.plot([], [], color=colour, label=f"{int(chosen.sum())} edges {name}")
    size = min(120.0, max(4.0, 4000.0 / len(sides)))
    for side, colour in enumerate(SIDE_COLOURS):
        members = points[sides == side]
        axes.scatter(
            members[:, 0], members[:, 1], s=size, c=colour, zorder=3, label=f"side {side}: {len(members)}"
        )
    if len(sides) <= MAX_LABELLED_VERTICES:
        for vertex, (x, y) in enumerate(points.tolist(), start=1):
            axes.text(x, y, str(vertex), ha="center", va="center", size=6, color="white", zorder=4)
    axes.set_xlabel("the two sides of the cut")
    axes.set_ylabel("vertices by number, downwards")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_aspect("equal")
    axes.legend(loc="lower center", ncols=2, frameon=False)
    axes.set_ylim(-1.4, 1.1)


def _draw_matrix(
    axes: Axes, sides: NDArray[np.int64], edges: NDArray[np.int32], weights: NDArray[np.int32]
) -> None:
    """Draw a dot per edge and direction, coloured by the sign of its weight."""
    place: NDArray[Any] = np.empty(len(sides), np.int64)
    place[np.argsort(sides, kind="stable")] = np.arange(1, len(sides) + 1)
    rows = np.concatenate((place[edges[:, 0]], place[edges[:, 1]]))
    columns = np.concatenate((place[edges[:, 1]], place[edges[:, 0]]))
    both = np.tile(weights, 2)
    size = min(30.0, max(0.6, 1000.0 / len(sides)))
    for chosen, colour, name in ((both > 0, "#228833", "weight > 0"), (both < 0, "#aa3377", "weight < 0")):
        if chosen.any():
            axes.scatter(
                columns[chosen],
                rows[chosen],
                s=size,
                c=colour,
                linewidths=0,
                label=name,
                rasterized=True,
            )
    border = float((sides == 0).sum()) + 0.5
    axes.axhline(border, color="black", linewidth=0.8)
    axes.axvline(border, color="black", linewidth=0.8)
    axes.set_xlim(0.5, len(sides) + 0.5)
    axes.set_ylim(len(sides) + 0.5, 0.5)
    axes.set_aspect("equal")
    axes.set_xlabel("vertex, those of side 0 first (the cut: lower left and upper right)")
    axes.set_ylabel("vertex, those of side 0 first")
    if axes.get_legend_handles_labels()[1]:
        axes.legend(loc="upper right", markerscale=max(1.0, 4.0 / size), fontsize="small")
