"""Routes on the plane."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.core.errors import InvalidSolutionError
from dga2d.domains.cvrp.reader import RoutingData, operator_environment
from dga2d.domains.cvrp.verifier import distance_of, limit_of, routes_of, verify_routes
from dga2d.domains.drawing import Axis, Dots, Drawing, Line, Panel, Shape

MOST_LABELS: Final = 60
"""Customers up to which each carries its number."""


def picture(instance: Instance, state: State) -> Drawing:
    """Draw the depot, the customers and each route in a colour and dash; edges at the depot are drawn faint.

    An instance of explicit edge lengths is drawn on points that approximate them."""
    data: RoutingData = instance.data["routing"]
    verdict = verify_routes(state.sequence, data.demands, data.capacity, distance_of(data), limit_of(data))
    routes = routes_of(state.sequence)
    if verdict.objective is None or isinstance(routes, str):
        raise InvalidSolutionError(f"{instance.key}: {verdict.violation}")
    points = data.coords if data.coords is not None else _approximate_points(data)
    places = np.asarray(points, dtype=np.float64)
    shapes = [shape for number, route in enumerate(routes) for shape in _route(number, route, places, data)]
    shapes.append(Dots(places[:1], "ink", ["depot"], "depot", radius=5.0, shape="square"))
    plane = Panel(tuple(shapes), Axis("x"), Axis("y"), height=360.0, is_equal=True)
    title = f"{instance.key}: length {verdict.objective:g}, {len(routes)} routes"
    notes = (
        ("The instance has lengths and no positions; these approximate them.",) if data.coords is None else ()
    )
    return Drawing(title, ((plane,),), notes)


def _route(number: int, route: list[int], places: NDArray[np.float64], data: RoutingData) -> list[Shape]:
    """Return a route's way between the depot and its ends, its way from stop to stop, and its stops."""
    load = int(sum(int(data.demands[customer]) for customer in route))
    words = f"route {number + 1}: {len(route)} customers, load {load} of {data.capacity}"
    labels = [str(customer) for customer in route] if len(places) <= MOST_LABELS else ()
    stops = [f"customer {customer}, {words}" for customer in route]
    radius = min(3.2, max(1.2, 80 / len(places) ** 0.7))
    return [
        Line(places[[0, *route, 0]], number, words, is_faint=True),
        Line(places[route], number, words),
        Dots(places[route], number, stops, labels=labels, radius=radius),
    ]


def _approximate_points(data: RoutingData) -> NDArray[np.float64]:
    """Return the classical scaling of the edge lengths to the plane (Torgerson 1952), the depot at the
    origin.
    """
    squares = operator_environment(data)["dist_matrix"].astype(np.float64) ** 2
    values, vectors = np.linalg.eigh(0.5 * (squares[0][:, None] + squares[0][None, :] - squares))
    plane: NDArray[np.float64] = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0.0))
    plane -= plane[0]
    return plane
