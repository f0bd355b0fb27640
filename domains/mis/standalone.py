"""The domain as four plain functions: all that a solver file of its own needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dga2d.domains.contract import State, Verdict
from dga2d.domains.mis.decoder import make_decoder
from dga2d.domains.mis.environment import operator_environment
from dga2d.domains.mis.reader import instance_name, read_graph
from dga2d.domains.mis.solution import set_text
from dga2d.domains.mis.verifier import selected, verify_vector

__all__ = ["environment_of_file", "make_decoder", "solution_text", "verified_objective"]


def environment_of_file(path: Path) -> dict[str, Any]:
    """What operators see of the instance in a file; raises InstanceFormatError."""
    return operator_environment(read_graph(path), instance_name(path))


def verified_objective(environment: Mapping[str, Any], state: State) -> Verdict:
    """Size of the set by the independent verifier, or the first broken constraint."""
    return verify_vector(environment["adj"], state)


def solution_text(name: str, environment: Mapping[str, Any], state: State, objective: float) -> str:
    """Text of a verified solution; nothing else of `environment` is needed."""
    del environment, objective
    return set_text(f"file/{name}", selected(state.sequence))
