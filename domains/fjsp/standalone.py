"""The domain as four plain functions: all that a solver file of its own needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dga2d.domains.contract import State, Verdict
from dga2d.domains.fjsp.decoder import make_decoder
from dga2d.domains.fjsp.environment import operator_environment
from dga2d.domains.fjsp.reader import FlexibleShopData, read_instance
from dga2d.domains.fjsp.solution import schedule_text
from dga2d.domains.fjsp.verifier import choices_of, schedule, verify_state

__all__ = ["environment_of_file", "make_decoder", "solution_text", "verified_objective"]


def environment_of_file(path: Path) -> dict[str, Any]:
    """What operators see of the instance in a file; raises InstanceFormatError."""
    data = read_instance(path)
    return operator_environment(data.n_machines, data.op_counts, data.machines, data.times)


def _data_of(environment: Mapping[str, Any]) -> FlexibleShopData:
    arrays = (environment[key].copy() for key in ("op_counts", "machines_matrix", "times_matrix"))
    return FlexibleShopData(environment["num_machines"], *arrays)


def verified_objective(environment: Mapping[str, Any], state: State) -> Verdict:
    """Makespan by the independent verifier, or the first broken constraint."""
    return verify_state(_data_of(environment), state)


def solution_text(name: str, environment: Mapping[str, Any], state: State, objective: float) -> str:
    """Text of a verified solution, which has makespan `objective`."""
    tasks = schedule(choices_of(_data_of(environment)), state)
    return schedule_text(f"file/{name}", environment["num_machines"], tasks)
