"""The domain as four plain functions: all that a solver file of its own needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dga2d.domains.contract import State, Verdict
from dga2d.domains.salbp1.decoder import make_decoder
from dga2d.domains.salbp1.environment import operator_environment
from dga2d.domains.salbp1.reader import read_instance
from dga2d.domains.salbp1.solution import line_text
from dga2d.domains.salbp1.verifier import line_of, verify_sequence

__all__ = ["environment_of_file", "make_decoder", "solution_text", "verified_objective"]


def environment_of_file(path: Path) -> dict[str, Any]:
    """What operators see of the instance in a file; raises InstanceFormatError."""
    data = read_instance(path)
    return operator_environment(data.cycle_time, data.times, data.edges)


def verified_objective(environment: Mapping[str, Any], state: State) -> Verdict:
    """Number of stations by the independent verifier, or the first broken constraint."""
    return verify_sequence(environment["cycle_time"], environment["times"], environment["edges"], state)


def solution_text(name: str, environment: Mapping[str, Any], state: State, objective: float) -> str:
    """Text of a verified solution; `objective` is the number of its stations."""
    cycle_time = int(environment["cycle_time"])
    stations = line_of(cycle_time, environment["times"], environment["edges"], state.sequence)
    return line_text(f"file/{name}", cycle_time, stations)
