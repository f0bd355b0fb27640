"""The domain as four plain functions: all that a solver file of its own needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dga2d.domains.contract import State, Verdict
from dga2d.domains.maxcut.decoder import make_decoder
from dga2d.domains.maxcut.environment import operator_environment
from dga2d.domains.maxcut.graph import Csr, edges_of
from dga2d.domains.maxcut.reader import read_instance
from dga2d.domains.maxcut.solution import sides_text
from dga2d.domains.maxcut.verifier import verify_sides

__all__ = ["environment_of_file", "make_decoder", "solution_text", "verified_objective"]


def environment_of_file(path: Path) -> dict[str, Any]:
    """What operators see of the instance in a file; raises InstanceFormatError."""
    graph = read_instance(path)
    return operator_environment(graph.n_vertices, graph.edges, graph.weights)


def verified_objective(environment: Mapping[str, Any], state: State) -> Verdict:
    """Weight of the cut by the independent verifier, or the first broken constraint."""
    csr = Csr(environment["offsets"], environment["neighbors"], environment["edge_weights"])
    return verify_sides(environment["num_nodes"], *edges_of(csr), state)


def solution_text(name: str, environment: Mapping[str, Any], state: State, objective: float) -> str:
    """Text of a verified solution; nothing of `environment` is needed."""
    del environment
    return sides_text(f"file/{name}", state.sequence, int(objective))
