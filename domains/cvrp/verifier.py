"""Independent check of routes; shares no code with the decoder and measures points, not the matrix."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from dga2d.domains.contract import Verdict
from dga2d.domains.cvrp.reader import RoutingData

Distance = Callable[[int, int], int]


def distance_of(data: RoutingData) -> Distance:
    """Length of the edge between two nodes, by the instance's own definition."""
    if data.weights is not None:
        rows = data.weights.tolist()
        return lambda a, b: int(rows[a][b])
    assert data.coords is not None
    points = data.coords.tolist()
    is_ceiled = data.edge_type == "CEIL_2D"

    def planar(a: int, b: int) -> int:
        (xa, ya), (xb, yb) = points[a], points[b]
        exact = math.sqrt((xa - xb) ** 2 + (ya - yb) ** 2)
        return math.ceil(exact) if is_ceiled else math.floor(exact + 0.5)

    return planar


def routes_of(sequence: Any) -> list[list[int]] | str:
    """The routes a sequence describes, the empty ones included, or why it is none (a sentence)."""
    if type(sequence) is not np.ndarray:
        return f"sequence is a {type(sequence).__name__}, not an array"
    if sequence.dtype.kind not in "iu":
        return f"sequence has dtype {sequence.dtype}, not an integer one"
    if sequence.ndim != 1:
        return f"sequence has {sequence.ndim} dimensions, expected 1"
    routes: list[list[int]] = [[]]
    for node in sequence.tolist():
        if node == 0:
            routes.append([])
        else:
            routes[-1].append(node)
    return routes


def verify_routes(sequence: Any, demands: Any, capacity: int, distance: Distance) -> Verdict:
    """Check every constraint of the card and add up the lengths of the routes.

    `sequence` may be anything; what is not a solution is a violation, never an exception. `demands` are
    indexed by node, `distance` gives the edge lengths.
    """
    routes = routes_of(sequence)
    if isinstance(routes, str):
        return Verdict(None, routes)
    violation = _first_violation(routes, [int(demand) for demand in demands], capacity)
    if violation is not None:
        return Verdict(None, violation)
    total = sum(distance(a, b) for route in routes for a, b in pairwise([0, *route, 0]))
    return Verdict(float(total), None)


def _first_violation(routes: list[list[int]], demands: list[int], capacity: int) -> str | None:
    route_of: dict[int, int] = {}
    for number, route in enumerate(routes, start=1):
        if not route:
            return f"route {number} is empty"
        for customer in route:
            if not 1 <= customer < len(demands):
                return f"customer {customer} is not in 1..{len(demands) - 1}"
            if customer in route_of:
                return f"customer {customer} is visited in routes {route_of[customer]} and {number}"
            route_of[customer] = number
        load = sum(demands[customer] for customer in route)
        if load > capacity:
            return f"route {number} carries {load}, more than the capacity of {capacity}"
    if len(route_of) < len(demands) - 1:
        missing = next(c for c in range(1, len(demands)) if c not in route_of)
        return f"customer {missing} is not visited"
    return None
