"""Independent check of routes; shares no code with the decoder and measures points, not the matrix.

CVRPLIB's solution files: ``Route #k: customers…`` per route, then ``Cost c``.

Customers are numbered from 1 to n − 1 in the order of the instance file: where the depot is node 1, as in
most files, a customer's number is its node id less one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import State, Verdict
from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.cvrp.reader import EXACT_UNITS, RoutingData, length_limit
from dga2d.domains.shared.integer_lines import integer, read_text

Distance = Callable[[int, int], float]
"""Length of the edge between two nodes, in the file's unit."""


def distance_of(data: RoutingData) -> Distance:
    """Return the length of the edge between two nodes, by the instance's own definition."""
    if data.weights is not None:
        rows = data.weights.tolist()
        return lambda a, b: int(rows[a][b])
    assert data.coords is not None
    points = data.coords.tolist()
    edge_type = data.edge_type

    def planar(a: int, b: int) -> float:
        (xa, ya), (xb, yb) = points[a], points[b]
        exact = math.sqrt((xa - xb) ** 2 + (ya - yb) ** 2)
        if edge_type == "EXACT_2D":
            return exact
        return math.ceil(exact) if edge_type == "CEIL_2D" else math.floor(exact + 0.5)

    return planar


def routes_of(sequence: Any) -> list[list[int]] | str:
    """Return the routes a sequence describes, the empty ones included, or why it is none (a sentence)."""
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


class LengthLimit(NamedTuple):
    """What a route may come to; all in the whole units that operators see."""

    length: int
    """Of its edges and the service at its customers."""
    service: int
    """At each customer."""
    distance: Callable[[int, int], int]

    def taken(self, route: list[int]) -> int:
        """Return what a route comes to."""
        return sum(self.distance(a, b) for a, b in pairwise([0, *route, 0])) + self.service * len(route)


def limit_of(data: RoutingData) -> LengthLimit | None:
    """Return the limit of an instance; ``None`` where it has none."""
    limit = length_limit(data)
    if not limit:
        return None
    exact, units = distance_of(data), EXACT_UNITS if data.edge_type == "EXACT_2D" else 1
    return LengthLimit(
        limit["max_route_length"],
        limit["service_time"],
        lambda a, b: math.floor(exact(a, b) * units + 0.5) if a != b else 0,
    )


def driven_routes(routes: list[list[int]], limit: LengthLimit | None) -> list[list[int]]:
    """Return the routes as they are driven: a route ends where its next customer would exceed the limit."""
    if limit is None:
        return routes
    driven: list[list[int]] = []
    for route in routes:
        part: list[int] = []
        outward = 0  # to the last customer of the part, with the service there
        for customer in route:
            further = limit.distance(part[-1] if part else 0, customer) + limit.service
            if part and outward + further + limit.distance(customer, 0) > limit.length:
                driven.append(part)
                part, outward = [], 0
                further = limit.distance(0, customer) + limit.service
            part.append(customer)
            outward += further
        driven.append(part)
    return driven


def verify_routes(
    sequence: Any, demands: Any, capacity: int, distance: Distance, limit: LengthLimit | None = None
) -> Verdict:
    """Check every constraint of the card and add up the lengths of the routes, as they are driven.

    `sequence` may be anything; what is not a solution is a violation, never an exception. `demands` are
    indexed by node, `distance` gives the edge lengths.
    """
    routes = routes_of(sequence)
    if isinstance(routes, str):
        return Verdict(None, routes)
    if sum(map(len, routes)) < len(demands) and all(0 <= c < len(demands) for route in routes for c in route):
        routes = driven_routes(routes, limit)  # else there is a violation, whatever is driven
    violation = _first_violation(routes, [int(demand) for demand in demands], capacity)
    if violation is not None:
        return Verdict(None, violation)
    for number, route in enumerate(routes, start=1):
        if limit is not None and (taken := limit.taken(route)) > limit.length:
            return Verdict(None, f"route {number} comes to {taken}, more than the limit of {limit.length}")
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


_ROUTE: Final = re.compile(r"Route[ \t]*#(\d+)[ \t]*:(.*)", re.ASCII)
_COST: Final = re.compile(r"[Cc]ost[ \t]*:?[ \t]*(\d+(?:\.\d+)?)", re.ASCII)


class SolutionFile(NamedTuple):
    """What a ``.sol`` file says; whether it is true is the verifier's affair."""

    sequence: NDArray[np.int32]
    """The routes in the card's encoding."""
    cost: float


def read_solution(path: Path) -> SolutionFile:
    """Read a solution file.

    Raises
    ------
    InstanceFormatError
        The file cannot be read, a line is neither a route nor the cost, routes are not numbered 1, 2, …, a
        route is empty, a customer is not a positive integer, the cost is missing, or text follows it.
    """
    entries: list[int] = []
    n_routes = 0
    cost: float | None = None
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        text = line.strip(" \t\r")
        if not text:
            continue
        if cost is not None:
            raise InstanceFormatError(path, number, f"unexpected text after the cost: {text[:60]!r}")
        if route := _ROUTE.fullmatch(text):
            n_routes += 1
            if route[1] != str(n_routes):
                raise InstanceFormatError(path, number, f"expected route {n_routes}, got {route[1][:20]}")
            entries += ([0] if entries else []) + _customers(path, number, route[2])
        elif total := _COST.fullmatch(text):
            cost = float(total[1])
        else:
            raise InstanceFormatError(path, number, f"expected a route or the cost, got {text[:60]!r}")
    if cost is None or not entries:
        raise InstanceFormatError(path, None, "the cost is missing" if entries else "there are no routes")
    return SolutionFile(np.array(entries, dtype=np.int32), cost)


def _customers(path: Path, number: int, text: str) -> list[int]:
    customers = [integer(path, number, token) for token in re.split(r"[ \t]+", text.strip(" \t")) if token]
    if not customers:
        raise InstanceFormatError(path, number, "the route is empty")
    for customer in customers:
        if not 1 <= customer < 2**31:
            raise InstanceFormatError(path, number, f"expected a customer from 1 on, got {customer}")
    return customers


def format_solution(routes: list[list[int]], cost: float) -> str:
    """Return the text of a solution file; a cost that is no whole number has two decimals, as CVRPLIB's."""
    lines = [f"Route #{k}: {' '.join(map(str, route))}" for k, route in enumerate(routes, start=1)]
    return "\n".join([*lines, f"Cost {cost:.0f}" if cost == int(cost) else f"Cost {cost:.2f}", ""])


def verified_objective(environment: Mapping[str, Any], state: State) -> Verdict:
    """Return the total length by the independent verifier, or the first broken constraint. Lengths that are
    not rounded are those of the environment: exact to half a thousandth per edge.
    """
    rows = environment["dist_matrix"].tolist()
    demands, capacity, units = environment["demands"], environment["capacity"], environment.get("units", 1)
    limit = _limit_in(environment)
    return verify_routes(state.sequence, demands, capacity, lambda a, b: int(rows[a][b]) / units, limit)


def _limit_in(environment: Mapping[str, Any]) -> LengthLimit | None:
    if "max_route_length" not in environment:
        return None
    rows = environment["dist_matrix"].tolist()
    return LengthLimit(
        environment["max_route_length"], environment["service_time"], lambda a, b: int(rows[a][b])
    )


def solution_text(name: str, environment: Mapping[str, Any], state: State, objective: float) -> str:
    """Return the text of verified routes in CVRPLIB's format; nothing else is needed."""
    del name
    routes = routes_of(state.sequence)
    assert not isinstance(routes, str)
    return format_solution(driven_routes(routes, _limit_in(environment)), objective)
