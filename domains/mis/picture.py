"""Picture of an independent set in its graph."""

from __future__ import annotations

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from numpy.typing import NDArray

from dga2d.domains.core.contract import Instance, State, require_feasible
from dga2d.domains.mis.verifier import selected, verify_vector

MAX_DRAWN_EDGES = 4000
"""Of more edges an evenly spaced part is drawn; the caption says so."""
_IN_SET, _OUTSIDE = "#c1440e", "#7a8ba3"


def picture(instance: Instance, state: State) -> Figure:
    """Draw the set's vertices on an inner circle, the others on an outer ring, with the graph's edges.

    A vertex outside stands at the mean angle of its neighbours in the set, so that edges stay short; its
    distance from the centre grows with their number. There is no edge inside the inner circle.

    Raises
    ------
    InvalidSolutionError
        The state does not pass the verifier.
    """
    adjacency: NDArray[np.uint8] = instance.data["adjacency"]
    require_feasible(verify_vector(adjacency, state))
    chosen = selected(state.sequence)
    points, tight = _layout(adjacency, chosen)
    edges = np.argwhere(np.triu(adjacency))
    drawn = edges[:: max(1, -(-len(edges) // MAX_DRAWN_EDGES))]
    figure = Figure(figsize=(9, 9), layout="constrained")
    axes = figure.add_subplot()
    size = max(4.0, min(60.0, 6000.0 / len(adjacency)))
    alpha = max(0.05, min(0.6, 300.0 / max(len(drawn), 1)))
    axes.add_collection(LineCollection(list(points[drawn]), colors=_OUTSIDE, linewidths=0.6, alpha=alpha))
    outside = np.setdiff1d(np.arange(len(adjacency)), chosen)
    for vertices, colour, scale, what in (
        (outside, _OUTSIDE, 1.0, "other vertices"),
        (np.array(chosen, dtype=np.int64), _IN_SET, 1.5, "vertices of the set"),
    ):
        x, y = points[vertices, 0], points[vertices, 1]
        axes.scatter(x, y, s=scale * size, c=colour, zorder=2 + scale, label=f"{len(vertices)} {what}")
    if len(adjacency) <= 150:
        for vertex, (across, up) in enumerate(points):
            axes.annotate(str(vertex + 1), (across, up), (3, 3), textcoords="offset points", fontsize=6)
    part = "all" if len(drawn) == len(edges) else f"{len(drawn)} of"
    axes.set_title(f"{instance.key}: independent set of {len(chosen)} ({part} {len(edges)} edges drawn)")
    axes.set_xlabel("angle of vertices outside: mean of their neighbours in the set")
    axes.set_ylabel(f"distance from the set: number of such neighbours, at most {tight}")
    axes.set(xticks=[], yticks=[], aspect="equal")
    axes.margins(0.05)
    axes.legend(loc="upper right", fontsize=8)
    return figure


def _layout(adjacency: NDArray[np.uint8], chosen: list[int]) -> tuple[NDArray[np.float64], int]:
    """Return the positions, float64 `(n, 2)`, and the largest number of neighbours in the set."""
    n = len(adjacency)
    angles = np.zeros(n)
    angles[chosen] = 2.0 * np.pi * np.arange(len(chosen)) / max(len(chosen), 1)
    outside = np.setdiff1d(np.arange(n), chosen)
    links = adjacency[outside][:, chosen].astype(np.float64)
    tight = links.sum(axis=1)
    pull = links @ np.exp(1j * angles[chosen])
    spread = 2.0 * np.pi * np.arange(len(outside)) / max(len(outside), 1)
    angles[outside] = np.where(np.abs(pull) > 1e-9, np.angle(pull), spread)
    radii = np.ones(n)
    ranks = np.zeros(len(outside))
    ranks[np.lexsort((angles[outside], tight))] = np.linspace(0.0, 1.0, len(outside))
    radii[outside] = 1.4 + 1.6 * ranks
    points = np.stack((radii * np.cos(angles), radii * np.sin(angles)), axis=1)
    return points, int(tight.max(initial=0))
