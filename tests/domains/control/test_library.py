"""Operators of ``control``: what they compute, and what pipelines reach."""

from __future__ import annotations

import math
import runpy
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.linalg import solve_discrete_are

from dga2d.domains.budget import Budget
from dga2d.domains.control import DOMAIN
from dga2d.domains.control.oracle import make_oracle
from dga2d.domains.control.plants import STEPS, SYSTEMS
from dga2d.domains.core import library as libraries
from dga2d.domains.core.contract import Instance, PipelineStep
from dga2d.domains.core.oracle import with_record
from dga2d.domains.execution import execute, load_implementation
from dga2d.runtime.solver_export.export import Provenance, solver_source

OPERATORS = DOMAIN.operators()


def names_of(operator: str, folder: Path) -> dict[str, Any]:
    """What the text of an operator defines."""
    found = next(op for op in OPERATORS if op.id == operator).implementations[0]
    defined: dict[str, Any] = load_implementation(found, folder).__globals__
    return defined


def scored(steps: Sequence[PipelineStep], instance: Instance, folder: Path) -> float | None:
    environment, oracle = DOMAIN.environment(instance), make_oracle(DOMAIN.oracle_data(instance))  # type: ignore[attr-defined]
    runs = [load_implementation(step.implementation, folder) for step in steps]
    budget, rng = Budget(STEPS, "work", len(runs)), np.random.default_rng(0)
    ended = execute(runs, environment, DOMAIN.decoder(environment), budget, rng, oracle.answer)
    return DOMAIN.verify(instance, with_record(ended.state, oracle.record())).objective


def test_the_library_has_every_paradigm_with_its_source() -> None:
    assert len(OPERATORS) >= 12
    assert all(op.source and op.summary for op in OPERATORS)


def test_doubling_solves_the_riccati_equation_like_scipy(tmp_path: Path) -> None:
    doubled = names_of("lqr", tmp_path)["doubled"]
    rng = np.random.default_rng(3)
    for n in (1, 2, 4):
        a, b = np.eye(n) + 0.3 * rng.standard_normal((n, n)), rng.standard_normal(n)
        expected = solve_discrete_are(a, b[:, None], np.eye(n), np.array([[0.01]]))
        assert doubled(a, b, 0.01) == pytest.approx(expected, rel=1e-7)


LAWS = [op.id for op in OPERATORS if op.category in ("local_search", "intensification")]
REST = [op.id for op in OPERATORS if op.category == "perturbation"]


@pytest.mark.parametrize(
    "operator",
    [
        pytest.param(name, marks=pytest.mark.long if n % 2 else pytest.mark.slow)
        for n, name in enumerate([*LAWS, *REST])
    ],
)
def test_every_operator_ends_an_episode_of_each_system(operator: str, tmp_path: Path) -> None:
    chain = ("start", operator) if operator in LAWS else ("start", "pid", operator)
    for system in SYSTEMS:
        instance = DOMAIN.load(next(r for r in DOMAIN.generated() if r.group == system and r.part == "train"))
        assert scored(libraries.pipeline(OPERATORS, *chain), instance, tmp_path) is not None


PAPER = {"double_integrator": -2.8, "pendulum": -2.74, "cart_pole": -4.69}
"""What the paper says its method reaches; the double integrator's design instance begins far off."""


@pytest.mark.slow
def test_the_safe_pipeline_brings_every_plant_to_its_target(tmp_path: Path) -> None:
    for system, least in PAPER.items():
        instance = DOMAIN.load(next(r for r in DOMAIN.generated() if r.group == system and r.part == "train"))
        assert (scored(DOMAIN.safe_baseline(), instance, tmp_path) or -20.0) >= least


@pytest.mark.slow
def test_a_solver_file_controls_a_plant_of_ones_own(tmp_path: Path) -> None:
    steps = [step.implementation for step in DOMAIN.safe_baseline()]
    told = Provenance("control", DOMAIN.card.title, "x", None, None, (), datetime(2026, 1, 1, tzinfo=UTC))
    (tmp_path / "solver.py").write_text(solver_source(steps, told), encoding="utf-8")
    solve = runpy.run_path(str(tmp_path / "solver.py"), run_name="solver")["solve"]

    def rubbing(x: Any, u: float) -> Any:
        spin = x[1] + 0.02 * (9.81 / 0.9 * math.sin(x[0]) + u / 0.9 - 0.1 * x[1])
        return np.array([x[0] + 0.02 * spin, spin])

    fields = {"x0": [3.0, 0.0], "bound": 8.0, "model": "pendulum", "parameters": [1.0, 1.0, 9.81]}
    found = solve(rubbing, 1000, **fields, steps=1000)
    assert found.objective > -3.2
    assert np.abs(found.metadata["x"]).max() < 1e-3
    with pytest.raises(RuntimeError, match="ended after 50 of 1000 steps"):
        solve(rubbing, 50, **fields, steps=1000)
