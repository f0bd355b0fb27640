"""Routes on the plane."""

from __future__ import annotations

from typing import Final

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.core.errors import InvalidSolutionError
from dga2d.domains.cvrp.reader import RoutingData, operator_environment
from dga2d.domains.cvrp.verifier import distance_of, limit_of, routes_of, verify_routes

COLOURS: Final = [
    "#1f77b4",
    "#ff7f0e",
    "#2ca02c",
    "#d62728",
    "#9467bd",
    "#8c564b",
    "#e377c2",
    "#7f7f7f",
    "#bcbd22",
    "#17becf",
    "#393b79",
    "#637939",
    "#8c6d31",
    "#843c39",
    "#7b4173",
    "#3182bd",
    "#e6550d",
    "#31a354",
    "#756bb1",
    "#636363",
]
MOST_LABELS: Final = 60
"""Customers up to which each carries its number."""


def picture(instance: Instance, state: State) -> Figure:
    """Draw the depot, the customers and each route in a colour; edges at the depot are drawn faint.

    An instance of explicit edge lengths is drawn on points that approximate them.

    Raises
    ------
    InvalidSolutionError
        The state does not pass the verifier.
    """
    data: RoutingData = instance.data["routing"]
    verdict = verify_routes(state.sequence, data.demands, data.capacity, distance_of(data), limit_of(data))
    routes = routes_of(state.sequence)
    if verdict.objective is None or isinstance(routes, str):
        raise InvalidSolutionError(f"{instance.key}: {verdict.violation}")
    points = data.coords if data.coords is not None else _approximate_points(data)
    figure = Figure(figsize=(8.0, 8.0), layout="constrained")
    axes = figure.add_subplot()
    size = float(np.clip(600 / len(points), 3, 30))
    for number, route in enumerate(routes):
        colour = COLOURS[number % len(COLOURS)]
        stops = points[route]
        closed = points[[0, *route, 0]]
        axes.plot(closed[:, 0], closed[:, 1], color=colour, linewidth=0.6, alpha=0.35)
        axes.plot(stops[:, 0], stops[:, 1], color=colour, linewidth=1.4)
        axes.scatter(stops[:, 0], stops[:, 1], s=size, color=colour, zorder=3)
        if len(points) <= MOST_LABELS:
            for customer in route:
                axes.annotate(str(customer), points[customer], (3, 3), textcoords="offset points", fontsize=7)
    axes.scatter(points[:1, 0], points[:1, 1], s=90, marker="s", color="black", zorder=4, label="depot")
    approximate = "" if data.coords is not None else " (positions approximate)"
    axes.set_title(f"{instance.key}: length {verdict.objective:g}, {len(routes)} routes{approximate}")
    axes.set_xlabel("x")
    axes.set_ylabel("y")
    axes.set_aspect("equal", adjustable="datalim")
    axes.legend(loc="best")
    return figure


def _approximate_points(data: RoutingData) -> NDArray[np.float64]:
    """Return the classical scaling of the edge lengths to the plane (Torgerson 1952), the depot at the
    origin.
    """
    squares = operator_environment(data)["dist_matrix"].astype(np.float64) ** 2
    values, vectors = np.linalg.eigh(0.5 * (squares[0][:, None] + squares[0][None, :] - squares))
    plane: NDArray[np.float64] = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0.0))
    plane -= plane[0]
    return plane
