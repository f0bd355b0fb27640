"""The domain as four plain functions: all that a solver file of its own needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dga2d.domains.contract import State, Verdict
from dga2d.domains.cvrp.decoder import make_decoder
from dga2d.domains.cvrp.environment import operator_environment
from dga2d.domains.cvrp.reader import read_instance
from dga2d.domains.cvrp.solution import format_solution
from dga2d.domains.cvrp.verifier import routes_of, verify_routes

__all__ = ["environment_of_file", "make_decoder", "solution_text", "verified_objective"]


def environment_of_file(path: Path) -> dict[str, Any]:
    """What operators see of the instance in a file; raises InstanceFormatError."""
    return operator_environment(read_instance(path))


def verified_objective(environment: Mapping[str, Any], state: State) -> Verdict:
    """Total length by the independent verifier, or the first broken constraint."""
    rows = environment["dist_matrix"].tolist()
    demands, capacity = environment["demands"], environment["capacity"]
    return verify_routes(state.sequence, demands, capacity, lambda a, b: int(rows[a][b]))


def solution_text(name: str, environment: Mapping[str, Any], state: State, objective: float) -> str:
    """Text of verified routes in CVRPLIB's format; nothing else is needed."""
    del name, environment
    routes = routes_of(state.sequence)
    assert not isinstance(routes, str)
    return format_solution(routes, int(objective))
