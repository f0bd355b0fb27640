"""The domain as four plain functions: all that a solver file of its own needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dga2d.domains.contract import State, Verdict
from dga2d.domains.rcpsp.decoder import make_decoder
from dga2d.domains.rcpsp.environment import operator_environment
from dga2d.domains.rcpsp.reader import read_instance
from dga2d.domains.rcpsp.solution import project_schedule_text
from dga2d.domains.rcpsp.verifier import verify_sequence

__all__ = ["environment_of_file", "make_decoder", "solution_text", "verified_objective"]


def environment_of_file(path: Path) -> dict[str, Any]:
    """What operators see of the instance in a file; raises InstanceFormatError."""
    return operator_environment(read_instance(path).data())


def verified_objective(environment: Mapping[str, Any], state: State) -> Verdict:
    """Makespan by the independent verifier, or the first broken constraint."""
    return verify_sequence(environment, state)


def solution_text(name: str, environment: Mapping[str, Any], state: State, objective: float) -> str:
    """Text of a verified solution; the objective follows from the schedule."""
    del objective
    return project_schedule_text(f"file/{name}", environment, state)
