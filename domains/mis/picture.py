"""Picture of an independent set in its graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import Instance, State, require_feasible
from dga2d.domains.drawing import Axis, Dots, Drawing, Panel, Segments, even_part
from dga2d.domains.mis.verifier import selected, verify_vector

MAX_DRAWN_EDGES = 4000
"""Of more edges an evenly spaced part is drawn; the picture says so."""
MAX_LABELLED_VERTICES = 150
_IN_SET, _OUTSIDE = 1, "soft"


def picture(instance: Instance, state: State) -> Drawing:
    """Draw the set's vertices on an inner circle, the others on an outer ring, with the graph's edges.

    A vertex outside stands at the mean angle of its neighbours in the set, so that edges stay short; its
    distance from the centre grows with their number. There is no edge inside the inner circle."""
    adjacency: NDArray[np.uint8] = instance.data["adjacency"]
    require_feasible(verify_vector(adjacency, state))
    chosen = selected(state.sequence)
    points, tight = _layout(adjacency, chosen)
    edges = np.argwhere(np.triu(adjacency))
    drawn = even_part(edges, MAX_DRAWN_EDGES)
    n = len(adjacency)
    outside = np.setdiff1d(np.arange(n), chosen)
    radius = max(1.5, min(5.0, 60.0 / np.sqrt(n)))
    graph = Panel(
        (
            Segments(points[drawn].reshape(-1, 2, 2), "soft", f"{len(edges)} edges"),
            _vertices(points, outside, n, "other vertices", radius),
            _vertices(points, np.array(chosen, dtype=np.int64), n, "vertices of the set", 1.3 * radius),
        ),
        Axis("angle of vertices outside: mean of their neighbours in the set", ticks=()),
        Axis(f"distance: such neighbours, at most {tight}", ticks=()),
        height=440.0,
        is_equal=True,
    )
    notes = (
        (f"{len(drawn)} of {len(edges)} edges are drawn, evenly chosen.",) if len(drawn) < len(edges) else ()
    )
    return Drawing(f"{instance.key}: independent set of {len(chosen)}", ((graph,),), notes)


def _vertices(
    points: NDArray[np.float64], vertices: NDArray[np.int64], n: int, kind: str, radius: float
) -> Dots:
    """Return dots for some of `n` vertices, which count from 1 as in the files."""
    numbers = [str(vertex + 1) for vertex in vertices.tolist()]
    is_set = kind == "vertices of the set"
    words = [f"vertex {number}, {'in' if is_set else 'not in'} the set" for number in numbers]
    labels = numbers if n <= MAX_LABELLED_VERTICES else ()
    look = _IN_SET if is_set else _OUTSIDE
    return Dots(points[vertices], look, words, f"{len(numbers)} {kind}", labels, radius)  # type: ignore[arg-type]


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
