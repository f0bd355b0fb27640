"""The domain as four plain functions: all that a solver file of its own needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dga2d.domains.clp3d.decoder import make_decoder
from dga2d.domains.clp3d.environment import operator_environment
from dga2d.domains.clp3d.reader import read_problems
from dga2d.domains.clp3d.solution import solution_text_of
from dga2d.domains.clp3d.verifier import verify_sequence
from dga2d.domains.contract import State, Verdict
from dga2d.domains.errors import InstanceFormatError

__all__ = ["environment_of_file", "make_decoder", "solution_text", "verified_objective"]


def environment_of_file(path: Path) -> dict[str, Any]:
    """What operators see of the only problem in a file; raises InstanceFormatError."""
    problems = read_problems(path)
    if len(problems) != 1:
        raise InstanceFormatError(path, None, f"expected one problem, the file has {len(problems)}")
    return operator_environment(problems[0].data, path.stem)


def verified_objective(environment: Mapping[str, Any], state: State) -> Verdict:
    """Fill rate in percent by the independent verifier, or the first broken constraint."""
    sizes, allowed = environment["item_sizes"], environment["orientation_allowed"]
    return verify_sequence(environment["bin_size"], sizes, allowed, state)


def solution_text(name: str, environment: Mapping[str, Any], state: State, objective: float) -> str:
    """Text of a verified solution."""
    sizes, allowed = environment["item_sizes"], environment["orientation_allowed"]
    key, sequence = f"file/{name}", state.sequence
    return solution_text_of(key, environment["bin_size"], sizes, allowed, sequence, objective)
