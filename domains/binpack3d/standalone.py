"""The domain as four plain functions: all that a solver file of its own needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dga2d.domains.binpack3d.decoder import make_decoder
from dga2d.domains.binpack3d.environment import operator_environment
from dga2d.domains.binpack3d.reader import read_instance
from dga2d.domains.binpack3d.solution import solution_text_of
from dga2d.domains.binpack3d.verifier import verify_sequence
from dga2d.domains.contract import State, Verdict

__all__ = ["environment_of_file", "make_decoder", "solution_text", "verified_objective"]


def environment_of_file(path: Path) -> dict[str, Any]:
    """What operators see of the instance in a file; raises InstanceFormatError."""
    data = read_instance(path)
    return operator_environment(data.bin_size, data.item_sizes)


def verified_objective(environment: Mapping[str, Any], state: State) -> Verdict:
    """Bins plus 0.1 times the empty share of the last, by the independent verifier, or the first fault."""
    return verify_sequence(environment["bin_size"], environment["item_sizes"], state)


def solution_text(name: str, environment: Mapping[str, Any], state: State, objective: float) -> str:
    """Text of a verified solution."""
    sizes = environment["bin_size"], environment["item_sizes"]
    return solution_text_of(f"file/{name}", *sizes, state.sequence, objective)
