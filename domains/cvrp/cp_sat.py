"""Baseline for side-by-side tables: OR-Tools' routing library (not CP-SAT, which is no match for it here).

First solution by savings, then guided local search until the time is up: the settings its guide recommends.

References
----------
C. Voudouris, E. Tsang, Guided local search and its application to the traveling salesman problem, European
Journal of Operational Research 113(2), 1999. L. Perron, V. Furnon, OR-Tools, Google.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from ortools.constraint_solver import pywrapcp, routing_enums_pb2

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.cvrp.reader import operator_environment
from dga2d.domains.shared.or_tools import search_routes

SPARE_VEHICLES = 1.3
"""Vehicles offered for each that the total demand needs at least, and three more."""


def solve(instance: Instance, time_limit_s: float, seed: int, workers: int = 1) -> State | None:
    """Return the routes found within `time_limit_s` seconds of wall-clock time, or ``None``.

    The routing library has neither a seed nor worker threads: `seed` and `workers` change nothing.
    """
    del seed, workers
    environment = operator_environment(instance.data["routing"])
    n, capacity = environment["num_nodes"], environment["capacity"]
    demands, distances = environment["demands"].tolist(), environment["dist_matrix"].tolist()
    n_vehicles = min(math.ceil(SPARE_VEHICLES * sum(demands) / capacity) + 3, n - 1)
    manager = pywrapcp.RoutingIndexManager(n, n_vehicles, 0)
    routing = pywrapcp.RoutingModel(manager)
    routing.SetArcCostEvaluatorOfAllVehicles(routing.RegisterTransitMatrix(distances))
    load = routing.RegisterUnaryTransitVector(demands)
    routing.AddDimensionWithVehicleCapacity(load, 0, [capacity] * n_vehicles, True, "load")
    if (limit := environment.get("max_route_length")) is not None:
        service = environment["service_time"]

        def taken(a: int, b: int) -> int:
            start, end = manager.IndexToNode(a), manager.IndexToNode(b)
            return int(distances[start][end]) + (service if end else 0)

        transit = routing.RegisterTransitCallback(taken)
        routing.AddDimension(transit, 0, limit, True, "length")

    strategy = routing_enums_pb2.FirstSolutionStrategy.SAVINGS
    routes = search_routes(manager, routing, strategy, time_limit_s)
    return None if routes is None else _state(routes)


def _state(routes: Sequence[Sequence[int]]) -> State:
    entries = [node for route in routes if route for node in (0, *route)][1:]
    return State(np.array(entries, dtype=np.int32))
