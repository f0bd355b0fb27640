"""How the baselines run the solvers of OR-Tools, which is optional and imported only when one is run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ortools.constraint_solver.pywrapcp import RoutingIndexManager, RoutingModel
    from ortools.sat.python.cp_model import CpModel, CpSolver

MAX_SEED = 2**31
"""CP-SAT's seeds are smaller than this."""


class SolvedModel(NamedTuple):
    """The best solution that CP-SAT found."""

    solver: CpSolver
    """It has the values of the variables."""
    is_proven: bool
    """Whether the solution is optimal."""


def solve_model(model: CpModel, time_limit_s: float, seed: int, workers: int) -> SolvedModel | None:
    """Run CP-SAT for at most `time_limit_s` seconds of wall-clock time; ``None`` if it found no solution.

    `workers` is the number of its threads; with one, a run that is not cut short is repeatable.
    """
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = time_limit_s
    solver.parameters.random_seed = seed % MAX_SEED
    solver.parameters.num_workers = workers
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    return SolvedModel(solver, status == cp_model.OPTIMAL)


def search_routes(
    manager: RoutingIndexManager, routing: RoutingModel, first_solution: int, time_limit_s: float
) -> list[list[int]] | None:
    """Run the routing library's guided local search until the time is up; ``None`` if it found no solution.

    `first_solution` is one of ``FirstSolutionStrategy``. The result has a list of nodes per vehicle, without
    its start and its end.
    """
    from ortools.constraint_solver import pywrapcp, routing_enums_pb2

    parameters = pywrapcp.DefaultRoutingSearchParameters()
    parameters.first_solution_strategy = first_solution
    parameters.local_search_metaheuristic = routing_enums_pb2.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
    parameters.time_limit.FromMilliseconds(max(math.floor(1000 * time_limit_s), 1))
    solution = routing.SolveWithParameters(parameters)
    if solution is None:
        return None
    routes = []
    for vehicle in range(routing.vehicles()):
        route = []
        index = solution.Value(routing.NextVar(routing.Start(vehicle)))
        while not routing.IsEnd(index):
            route.append(manager.IndexToNode(index))
            index = solution.Value(routing.NextVar(index))
        routes.append(route)
    return routes


def keep_apart(model: Any, starts: Any, ends: Any, first: int, second: int, escapes: list[Any]) -> None:
    """Keep items `first` and `second` apart along x, y or z, or let one of the literals `escapes` hold.

    `starts` and `ends` hold three expressions per item: the corners of its box (Appendix A.2 of the DGA2D
    paper: six relative positions per pair of items).
    """
    sides = []
    for axis in range(3):
        for left, right in ((first, second), (second, first)):
            literal = model.new_bool_var("")
            model.add(ends[left][axis] <= starts[right][axis]).only_enforce_if(literal)
            sides.append(literal)
    model.add_bool_or([*sides, *escapes])
