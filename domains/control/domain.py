"""Feedback control as a domain: a plant behind an oracle, a score of its own, and a law that repeats."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from dga2d.domains.control.card import CARD
from dga2d.domains.control.oracle import public_environment
from dga2d.domains.control.plants import PARTS, STEPS, SYSTEMS, draw, generate
from dga2d.domains.control.reader import SUFFIXES, read_episode
from dga2d.domains.control.verifier import solution_text, verify_episode
from dga2d.domains.core import library as libraries
from dga2d.domains.core.contract import (
    REPEATED_WALKS,
    Instance,
    InstanceRef,
    OwnScore,
    State,
    Verdict,
    require_feasible,
)
from dga2d.domains.core.splits import numbered_refs


class Control(libraries.LibraryDomain):
    """Implements :class:`dga2d.domains.core.oracle.OracleDomain`; `Instance.data` is that of an `Episode`."""

    name = "control"
    card = CARD
    sense: Literal["min", "max"] = "max"
    invalid_score = 1e100
    own_score = OwnScore(
        failure=-20.0, formula="-log10(1 + J), J = the sum over 5000 steps of |x - x*|² + 0.01 u²"
    )
    run_settings: ClassVar[Mapping[str, Any]] = {**REPEATED_WALKS, "work": STEPS, "work_time_limit": 60.0}
    """An evaluation ends after 60 s of wall-clock: a law that needs longer for 100 s of a plant's time could
    hardly run beside one."""
    safe_pipeline = ("start", "parameter_estimation", "trajectory_optimisation")
    basic_pipeline = ("start", "lqr")
    ils_pipeline = ("start", "energy_shaping", "regulator_switch")
    suffixes = SUFFIXES

    def generated(self) -> tuple[InstanceRef, ...]:
        return numbered_refs(self.name, SYSTEMS, PARTS)

    def read(self, path: Path) -> Mapping[str, Any]:
        return read_episode(path).data()

    def generate(self, ref: InstanceRef) -> Mapping[str, Any] | None:
        found = generate(ref.group, ref.name)
        return None if found is None else found.data()

    def smoke_instance(self) -> Instance:
        return Instance(self.name, "smoke", "smoke", draw("double_integrator", 1).data())

    def rehearsal_instance(self) -> Instance:
        return Instance(self.name, "rehearsal", "cart_pole", draw("cart_pole", 1).data())

    def environment(self, instance: Instance) -> dict[str, Any]:
        return public_environment(instance.data["system"], instance.data["x0"])

    def oracle_data(self, instance: Instance) -> dict[str, Any]:
        """Return the system with the plant's own parameters and where it starts."""
        return {name: instance.data[name] for name in ("system", "parameters", "x0")}

    def verify(self, instance: Instance, state: State) -> Verdict:
        return verify_episode(state, STEPS)

    def write_solution(self, instance: Instance, state: State) -> str:
        score = require_feasible(self.verify(instance, state))
        return solution_text(instance.name, self.environment(instance), state, score)
