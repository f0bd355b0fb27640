"""Root finding as a domain: an oracle, a score of its own, and walks that repeat."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from dga2d.domains.core import library as libraries
from dga2d.domains.core.contract import REPEATED_WALKS, Instance, InstanceRef, OwnScore, State, Verdict
from dga2d.domains.core.errors import InvalidSolutionError
from dga2d.domains.core.splits import numbered_refs
from dga2d.domains.rootfind.card import CARD
from dga2d.domains.rootfind.families import PARTS, SEEDS, TOLERANCE, draw, generate
from dga2d.domains.rootfind.reader import public_environment, read_equation
from dga2d.domains.rootfind.verifier import solution_text, verify_root


class RootFindingDomain(libraries.LibraryDomain):
    """Implements :class:`dga2d.domains.core.oracle.OracleDomain`; `Instance.data` is that of an
    `Equation`."""

    name = "rootfind"
    card = CARD
    sense: Literal["min", "max"] = "max"
    invalid_score = 1e100
    own_score = OwnScore(
        failure=-2.0,
        formula="1 - 0.05 ln(1 + evaluations) - 0.02 ln(1 + rounds) where the residual is <= 1e-8",
    )
    run_settings: ClassVar[Mapping[str, Any]] = {**REPEATED_WALKS, "work": 1000}
    safe_pipeline = ("stencil_start", "agreement_stop", "interpolation_step")
    basic_pipeline = ("initial_guess", "secant_step")
    ils_pipeline = ("bracket_start", "brent_step")

    def generated(self) -> tuple[InstanceRef, ...]:
        return numbered_refs(self.name, SEEDS, PARTS)

    def published(self, data_dir: Path) -> tuple[InstanceRef, ...]:
        return ()

    def read(self, path: Path) -> Mapping[str, Any]:
        return read_equation(path).data()

    def generate(self, ref: InstanceRef) -> Mapping[str, Any] | None:
        found = generate(ref.group, ref.name)
        return None if found is None else found.data()

    def smoke_instance(self) -> Instance:
        return Instance(self.name, "smoke", "smoke", draw("smooth", 1).data())

    def rehearsal_instance(self) -> Instance:
        return Instance(self.name, "rehearsal", "system", draw("system2d", 1).data())

    def environment(self, instance: Instance) -> dict[str, Any]:
        return public_environment(instance.data["x0"])

    def oracle_data(self, instance: Instance) -> dict[str, Any]:
        """Return family and parameters."""
        return {"family": instance.data["family"], "parameters": instance.data["parameters"].copy()}

    def verify(self, instance: Instance, state: State) -> Verdict:
        return verify_root(instance.data["family"], instance.data["parameters"], TOLERANCE, state)

    def write_solution(self, instance: Instance, state: State) -> str:
        verdict = self.verify(instance, state)
        if verdict.objective is None:
            raise InvalidSolutionError(f"{instance.key}: {verdict.violation}")
        return solution_text(instance.name, self.environment(instance), state, verdict.objective)
