"""Baseline for side-by-side tables: OR-Tools' routing library (not CP-SAT, which is no match for it here).

References
----------
L. Perron, V. Furnon, OR-Tools, Google: routing guide (first solution by path of cheapest arcs, then guided
local search until the time is up).
"""

from __future__ import annotations

import numpy as np
from ortools.constraint_solver import pywrapcp, routing_enums_pb2

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.shared.or_tools import search_routes
from dga2d.domains.tsp.reader import operator_environment


def solve(instance: Instance, time_limit_s: float, seed: int, workers: int = 1) -> State | None:
    """Return the best tour found within `time_limit_s` seconds of wall-clock time, or ``None``.

    The routing library has neither a seed nor worker threads: `seed` and `workers` change nothing.
    """
    del seed, workers
    distances = operator_environment(instance.data)["distance_matrix"]
    n = len(distances)
    if n < 3:
        return State(np.arange(n, dtype=np.int32))
    manager = pywrapcp.RoutingIndexManager(n, 1, 0)
    routing = pywrapcp.RoutingModel(manager)
    routing.SetArcCostEvaluatorOfAllVehicles(routing.RegisterTransitMatrix(distances.tolist()))
    strategy = routing_enums_pb2.FirstSolutionStrategy.PATH_CHEAPEST_ARC
    routes = search_routes(manager, routing, strategy, time_limit_s)
    return None if routes is None else State(np.array([0, *routes[0]], dtype=np.int32))
