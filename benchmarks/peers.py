"""Solvers that a user would pick instead, where they are on PyPI: PyVRP for CVRP, LKH (elkai) for TSP.

They are packages of the benchmarks alone: ``pip install pyvrp elkai``. Both run outside the sandbox, alone on
one core; what they answer is verified and scored by the domain like everything else.
"""

from __future__ import annotations

import importlib.util
import math
import time
from collections.abc import Callable

import numpy as np

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.cvrp.reader import RoutingData, operator_environment
from dga2d.domains.tsp.reader import euc_2d_matrix
from dga2d.runtime.errors import UsageError

Clock = Callable[[], float]


class OutOfTime:
    """PyVRP's stopping criterion on any clock, in seconds."""

    def __init__(self, seconds: float, clock: Clock) -> None:
        self._end = clock() + seconds
        self._clock = clock

    def __call__(self, best_cost: float) -> bool:
        return self._clock() >= self._end


def pyvrp_state(data: RoutingData, seconds: float, seed: int, clock: Clock = time.perf_counter) -> State:
    """PyVRP's routes, with a third more vehicles than the demands need."""
    import pyvrp

    stop = OutOfTime(seconds, clock)
    environment = operator_environment(data)
    distances, n = environment["dist_matrix"].tolist(), environment["num_nodes"]
    points = data.coords.tolist() if data.coords is not None else [(0, 0)] * n
    model = pyvrp.Model()
    locations = [model.add_location(x, y) for x, y in points]
    model.add_depot(locations[0])
    for node in range(1, n):
        model.add_client(locations[node], delivery=int(data.demands[node]))
    n_vehicles = math.ceil(1.3 * int(data.demands.sum()) / data.capacity) + 3
    model.add_vehicle_type(min(n_vehicles, n - 1), capacity=data.capacity)
    for a in range(n):
        for b in range(n):
            if a != b:
                model.add_edge(locations[a], locations[b], distances[a][b])
    result = model.solve(stop=stop, seed=seed, display=False)
    routes = [[visit.idx + 1 for visit in route if visit.is_client()] for route in result.best.routes()]
    entries = [node for route in routes if route for node in (0, *route)][1:]
    return State(np.array(entries, dtype=np.int32))


def _by_pyvrp(instance: Instance, time_limit_s: float, seed: int) -> State:
    return pyvrp_state(instance.data["routing"], time_limit_s, seed)


def _by_lkh(instance: Instance, time_limit_s: float, seed: int) -> State:
    """Ten runs of LKH, elkai's default; it takes neither a time limit nor a seed."""
    del time_limit_s, seed
    import elkai

    tour = elkai.DistanceMatrix(euc_2d_matrix(instance.data["coords"]).tolist()).solve_tsp()
    return State(np.array(tour[:-1], dtype=np.int32))


PEERS: dict[str, tuple[str, str, Callable[[Instance, float, int], State]]] = {
    "pyvrp": ("cvrp", "pyvrp", _by_pyvrp),
    "lkh": ("tsp", "elkai", _by_lkh),
}
"""By the name of the method: the domain it solves, its package, and the solver."""


def peer_of(method: str, domain: str) -> Callable[[Instance, float, int], State]:
    """The solver of `method`.

    Raises
    ------
    UsageError
        It solves another domain, or its package is not installed.
    """
    solves, package, solver = PEERS[method]
    if domain != solves:
        raise UsageError(f"--method {method} solves {solves}, not {domain}")
    if importlib.util.find_spec(package) is None:
        raise UsageError(f"--method {method} needs {package}: pip install {package}")
    return solver
