"""Picture of a tour on the plane."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dga2d.domains.core.contract import Instance, State, require_feasible
from dga2d.domains.tsp.verifier import verify_tour

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_LABELLED_CITIES = 60
"""Cities bear their numbers, from 1 as in TSPLIB, in instances of up to so many."""


def picture(instance: Instance, state: State) -> Figure:
    """Draw the cities and the closed tour through them.

    Raises
    ------
    InvalidSolutionError
        The state does not pass the verifier.
    """
    from matplotlib.figure import Figure  # slow to import, and optional

    coords = instance.data["coords"]
    objective = require_feasible(verify_tour(instance.data, state.sequence))
    closed = coords[np.append(state.sequence, state.sequence[:1])]
    figure = Figure(figsize=(8.0, 8.0), layout="constrained")
    axes = figure.subplots()
    axes.plot(closed[:, 0], closed[:, 1], color="C0", linewidth=0.9)
    axes.scatter(coords[:, 0], coords[:, 1], s=min(30.0, 3000.0 / len(coords)), color="C3", zorder=3)
    if len(coords) <= MAX_LABELLED_CITIES:
        for city, (x, y) in enumerate(coords.tolist(), start=1):
            axes.annotate(str(city), (x, y), textcoords="offset points", xytext=(3, 3), size=7)
    axes.set_title(f"{instance.key}: tour of length {objective:g} through {len(coords)} cities")
    axes.set_xlabel("x")
    axes.set_ylabel("y")
    axes.set_aspect("equal", adjustable="datalim")
    return figure
