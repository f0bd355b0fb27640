"""Picture of a tour on the plane."""

from __future__ import annotations

import numpy as np

from dga2d.domains.core.contract import Instance, State, require_feasible
from dga2d.domains.drawing import Axis, Dots, Drawing, Line, Panel
from dga2d.domains.tsp.verifier import verify_tour

MAX_LABELLED_CITIES = 60
"""Cities bear their numbers, from 1 as in TSPLIB, in instances of up to so many."""


def picture(instance: Instance, state: State) -> Drawing:
    """Draw the cities and the closed tour through them."""
    coords = np.asarray(instance.data["coords"], dtype=np.float64)
    objective = require_feasible(verify_tour(instance.data, state.sequence))
    closed = coords[np.append(state.sequence, state.sequence[:1])]
    n = len(coords)
    words = [f"city {city} at ({x:g}, {y:g})" for city, (x, y) in enumerate(coords.tolist(), start=1)]
    labels = [str(city) for city in range(1, n + 1)] if n <= MAX_LABELLED_CITIES else ()
    radius = min(3.5, max(0.8, 120 / n**0.7))
    plane = Panel(
        (
            Line(closed, 0, f"the tour, of length {objective:g}"),
            Dots(coords, "limit", words, labels=labels, radius=radius),
        ),
        Axis("x"),
        Axis("y"),
        height=360.0,
        is_equal=True,
    )
    return Drawing(f"{instance.key}: tour of length {objective:g} through {n} cities", ((plane,),))
