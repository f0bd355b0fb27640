"""The domain as four plain functions: all that a solver file of its own needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dga2d.domains.contract import State, Verdict
from dga2d.domains.fssp.decoder import make_decoder
from dga2d.domains.fssp.environment import operator_environment
from dga2d.domains.fssp.reader import read_instance
from dga2d.domains.fssp.solution import START_TIMES
from dga2d.domains.fssp.verifier import schedule, verify_sequence
from dga2d.domains.shops import schedule_text

__all__ = ["environment_of_file", "make_decoder", "solution_text", "verified_objective"]


def environment_of_file(path: Path) -> dict[str, Any]:
    """What operators see of the instance in a file; raises InstanceFormatError."""
    return operator_environment(read_instance(path).times)


def verified_objective(environment: Mapping[str, Any], state: State) -> Verdict:
    """Makespan by the independent verifier, or the first broken constraint."""
    return verify_sequence(np.asarray(environment["processing_times"]).T, state)


def solution_text(name: str, environment: Mapping[str, Any], state: State, objective: float) -> str:
    """Text of a verified solution."""
    starts = schedule(np.asarray(environment["processing_times"]).T, state.sequence)
    return schedule_text(f"file/{name}", START_TIMES, starts, int(objective))
