"""The domain as four plain functions: all that a solver file of its own needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dga2d.domains.contract import State, Verdict
from dga2d.domains.tsp.decoder import make_decoder
from dga2d.domains.tsp.environment import operator_environment
from dga2d.domains.tsp.tsplib import format_tour, read_tsplib
from dga2d.domains.tsp.verifier import verify_tour

__all__ = ["environment_of_file", "make_decoder", "solution_text", "verified_objective"]


def environment_of_file(path: Path) -> dict[str, Any]:
    """What operators see of the instance in a file; raises InstanceFormatError."""
    return operator_environment(read_tsplib(path).coords)


def verified_objective(environment: Mapping[str, Any], state: State) -> Verdict:
    """Tour length by the independent verifier, or the first broken constraint."""
    return verify_tour(environment["coords"], state.sequence)


def solution_text(name: str, environment: Mapping[str, Any], state: State, objective: float) -> str:
    """Text of a verified tour; nothing of `environment` is needed."""
    del environment
    return format_tour(name, state.sequence, int(objective))
