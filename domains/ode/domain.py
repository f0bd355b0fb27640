"""Numerical integration as a :class:`~dga2d.domains.core.contract.Domain` with an oracle.

The instance for trying new implementations is a swinging pair of prey and predators.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from dga2d.domains.core import library
from dga2d.domains.core.contract import (
    REPEATED_WALKS,
    Instance,
    InstanceRef,
    OwnScore,
    State,
    Verdict,
    require_feasible,
)
from dga2d.domains.ode import suite
from dga2d.domains.ode.card import CARD, INVALID_SCORE
from dga2d.domains.ode.reader import SUFFIXES, operator_environment, read_fields
from dga2d.domains.ode.systems import SYSTEMS
from dga2d.domains.ode.verifier import solution_text, verify_final_state


class Ode(library.LibraryDomain):
    """Initial-value problems; `Instance.data` holds ``system``, ``parameters``, ``initial`` and
    ``reference``."""

    name = "ode"
    card = CARD
    sense: Literal["min", "max"] = "max"
    invalid_score = INVALID_SCORE
    own_score = OwnScore(
        failure=-20.0, formula="-log10(error) - 0.1 log10(evaluations), 0.05 for 100 unknowns"
    )
    run_settings: ClassVar[Mapping[str, Any]] = {
        **REPEATED_WALKS,
        "work": 50_000,
        "checkpoint_rule": "pairs",
    }
    safe_pipeline = (
        *("start", "initial_step", "compensated_summation", "stiffness_detection"),
        *("high_order_pair", "radau", "pi_controller"),
    )
    basic_pipeline = ("start", "embedded_pair", "integral_controller")
    ils_pipeline = ("start", "initial_step", "stiffness_detection", "embedded_pair", "bdf", "pi_controller")
    suffixes = SUFFIXES

    def generated(self) -> tuple[InstanceRef, ...]:
        """Return thirteen instances of each system: one to design on, eight to choose by, four to test."""
        return suite.generated_refs()

    def read(self, path: Path) -> Mapping[str, Any]:
        return read_fields(path)

    def generate(self, ref: InstanceRef) -> Mapping[str, Any] | None:
        return suite.generate(ref.group, ref.name)

    def smoke_instance(self) -> Instance:
        data = suite.generate("lotka_volterra", "design")
        assert data is not None
        return Instance(self.name, "smoke", "prey", data)

    def rehearsal_instance(self) -> Instance:
        """Return the smoke instance: these operators compile nothing."""
        return self.smoke_instance()

    def environment(self, instance: Instance) -> dict[str, Any]:
        """Return the public part: nothing of the right-hand side."""
        return operator_environment(instance.data)

    def oracle_data(self, instance: Instance) -> dict[str, Any]:
        """Return the system and its parameters, which no candidate sees."""
        parameters = {f"parameter_{name}": value for name, value in instance.data["parameters"].items()}
        return {"system": instance.data["system"], **parameters}

    def verify(self, instance: Instance, state: State) -> Verdict:
        weight = SYSTEMS[instance.data["system"]].cost_weight
        return verify_final_state(state, instance.data["reference"], weight)

    def write_solution(self, instance: Instance, state: State) -> str:
        """Return the text with the final state; the format is described in
        :mod:`dga2d.domains.ode.verifier`.
        """
        objective = require_feasible(self.verify(instance, state))
        return solution_text(instance.key, self.environment(instance), state, objective)
