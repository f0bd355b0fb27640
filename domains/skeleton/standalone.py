"""The domain as four plain functions: all that `dga2d solver` puts into a solver file besides the algorithm.

Their text is copied with all they use; so imports keep their names (no ``as``), and no two modules define
different things under one name.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dga2d.domains.contract import State, Verdict
from dga2d.domains.skeleton.decoder import make_decoder
from dga2d.domains.skeleton.environment import operator_environment
from dga2d.domains.skeleton.reader import read_instance
from dga2d.domains.skeleton.solution import packing_text
from dga2d.domains.skeleton.verifier import verify_packing

__all__ = ["environment_of_file", "make_decoder", "solution_text", "verified_objective"]


def environment_of_file(path: Path) -> dict[str, Any]:
    """What operators see of the instance in a file; raises InstanceFormatError."""
    return operator_environment(read_instance(path))


def verified_objective(environment: Mapping[str, Any], state: State) -> Verdict:
    """The objective by the independent verifier, or the first broken constraint."""
    return verify_packing(environment, state)


def solution_text(name: str, environment: Mapping[str, Any], state: State, objective: float) -> str:
    """Text of a verified solution."""
    return packing_text(f"file/{name}", environment, state, int(objective))
