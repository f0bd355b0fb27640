"""Root finding: functions, counting, verdicts, and what the library's pipelines reach."""

from __future__ import annotations

import json
import math
import runpy
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from tests.domains.drawn import drawing_of

from dga2d.domains.budget import Budget
from dga2d.domains.core import library as libraries
from dga2d.domains.core.contract import Instance, InstanceRef, PipelineStep, State
from dga2d.domains.core.errors import InstanceFormatError, OracleRefusedError
from dga2d.domains.core.oracle import with_record
from dga2d.domains.drawing import Dots
from dga2d.domains.execution import execute, load_implementation
from dga2d.domains.rootfind import DOMAIN
from dga2d.domains.rootfind.families import SEEDS, draw
from dga2d.domains.rootfind.oracle import MOST_EVALUATIONS, CountingOracle, make_oracle
from dga2d.domains.rootfind.verifier import largest_residual, score
from dga2d.runtime.solver_export.export import Provenance, solver_source

PAPER = {"smooth": 0.86, "ill": 0.85, "osc": 0.86, "system2d": 0.88}
"""What the paper says its method reaches."""


def instances(family: str, part: str) -> list[Instance]:
    return [DOMAIN.load(ref) for ref in DOMAIN.generated() if (ref.group, ref.part) == (family, part)]


def run(steps: Sequence[PipelineStep], instance: Instance, folder: Path) -> State:
    environment, oracle = DOMAIN.environment(instance), make_oracle(dict(instance.data))
    runs = [load_implementation(step.implementation, folder) for step in steps]
    budget, rng = Budget(1000, "work", len(runs)), np.random.default_rng(0)
    ended = execute(runs, environment, DOMAIN.decoder(environment), budget, rng, oracle.answer)
    return with_record(ended.state, oracle.record())


@pytest.mark.parametrize("family", SEEDS)
def test_derivatives_are_those_of_the_function_and_the_verifier_has_the_same_function(family: str) -> None:
    for number in range(5):
        equation = draw(family, 7, number)
        n, h = equation.x0.size, 1e-5
        oracle = make_oracle(equation.data())
        assert isinstance(oracle, CountingOracle)
        value = oracle.answer(np.concatenate([[0.0], equation.x0])[None])[0]
        parameters = equation.parameters.tolist()
        assert np.abs(value).max() == pytest.approx(
            largest_residual(family, parameters, equation.x0.tolist())
        )
        for kind in range(1, 3):
            below = kind - 1 if n == 1 else 0
            move = h * (np.ones(1) if n == 1 else np.eye(n)[kind - 1])
            rows = np.array([[below, *(equation.x0 + sign * move)] for sign in (1.0, -1.0)])
            forward, backward = oracle.answer(rows)
            said = oracle.answer(np.concatenate([[float(kind)], equation.x0])[None])[0]
            assert (forward - backward) / (2.0 * h) == pytest.approx(said, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("family", SEEDS)
def test_the_safe_pipeline_reaches_the_papers_figures_on_held_out_instances(
    family: str, tmp_path: Path
) -> None:
    verdicts = [DOMAIN.verify(i, run(DOMAIN.safe_baseline(), i, tmp_path)) for i in instances(family, "test")]
    scores = [verdict.objective for verdict in verdicts if verdict.objective is not None]
    assert len(scores) == 40
    assert fmean(scores) >= PAPER[family]


def test_rows_and_rounds_are_counted_whatever_was_asked(tmp_path: Path) -> None:
    oracle = make_oracle(draw("osc", 7, 0).data())
    oracle.answer(np.zeros((3, 2)))
    oracle.answer(np.array([[0.0, math.nan], [1.0, math.inf]]))
    record = oracle.record()
    assert (record["evaluations"], record["rounds"]) == (5, 2)
    assert np.isfinite(record["residuals"]).all()
    for nonsense in (
        np.zeros((1, 3)),
        np.array([[0.5, 0.0]]),
        np.array([[3.0, 0.0]]),
        np.array([[math.nan, 0.0]]),
    ):
        with pytest.raises(OracleRefusedError):
            oracle.answer(nonsense)
    with pytest.raises(OracleRefusedError, match="more than 1000 evaluations"):
        oracle.answer(np.zeros((MOST_EVALUATIONS, 2)))
    assert oracle.record()["evaluations"] == 5


def test_the_score_is_the_papers_formula() -> None:
    assert score(0, 0) == 1.0
    assert score(5, 1) == pytest.approx(1.0 - 0.05 * math.log(6.0) - 0.02 * math.log(2.0))


@pytest.mark.parametrize(
    ("x", "said"),
    [
        ("1.0", "not an array"),
        (np.zeros(2), "of shape (2,)"),
        (np.zeros(1, np.int64), "array of int64"),
        (np.array([math.nan]), "not finite"),
        (np.array([1e200]), "the residual at x is inf"),
    ],
)
def test_an_answer_that_is_none_is_named(x: Any, said: str) -> None:
    instance = DOMAIN.smoke_instance()
    state = State(metadata={"x": x, "measured_evaluations": 3, "measured_rounds": 3})
    verdict = DOMAIN.verify(instance, state)
    assert verdict.objective is None
    assert said in (verdict.violation or "")


def test_a_root_that_nobody_counted_is_no_solution() -> None:
    instance = DOMAIN.smoke_instance()
    state = State(metadata={"x": instance.data["parameters"][:1]})
    assert DOMAIN.verify(instance, state).violation == "nobody counted the evaluations"
    counted = with_record(
        State(metadata={**state.metadata, "measured_rounds": -9}), {"evaluations": 4, "rounds": 2}
    )
    assert DOMAIN.verify(instance, counted).objective == pytest.approx(score(4, 2))


def test_a_picture_shows_the_residuals(tmp_path: Path) -> None:
    instance = instances("ill", "train")[0]
    state = run(libraries.pipeline(DOMAIN.operators(), "initial_guess", "secant_step"), instance, tmp_path)
    drawing = drawing_of(DOMAIN, instance, state)
    assert drawing.title.startswith("ill/design01: root ")
    (dots,) = (shape for shape in drawing.shapes if isinstance(shape, Dots))
    assert len(dots.words) == len(dots.points) == state.metadata["measured_evaluations"]


def test_the_environment_says_nothing_of_the_function() -> None:
    instance = instances("smooth", "train")[0]
    assert set(DOMAIN.environment(instance)) == {"dimension", "x0", "radius", "tolerance"}


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("{", "cannot be read as JSON"),
        ('{"family": "cubic"}', "one of smooth, ill, osc, system2d"),
        ('{"family": "osc", "x0": [1, 2]}', '"x0" must be a list of 1 numbers'),
        ('{"family": "osc", "x0": [1], "r": 0, "omega": "2"}', '"omega" must be a finite number'),
        ('{"family": "ill", "x0": [1], "r": 0, "m": 2.5, "a0": 1, "a1": 0, "a2": 0}', "whole number"),
    ],
)
def test_a_file_of_another_form_is_refused_with_its_fault(table: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text(table)
    with pytest.raises(InstanceFormatError, match=said):
        DOMAIN.load(InstanceRef("rootfind", "file", "mine", file))


def test_an_equation_of_ones_own_is_read(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"family": "osc", "x0": [0.9], "r": 1.0, "omega": 3.0, "alpha": 0.1}))
    instance = DOMAIN.load(InstanceRef("rootfind", "file", "mine", file))
    assert DOMAIN.verify(instance, run(DOMAIN.safe_baseline(), instance, tmp_path)).is_feasible


def test_a_solver_file_finds_the_root_of_a_function_of_ones_own(tmp_path: Path) -> None:
    steps = [step.implementation for step in DOMAIN.safe_baseline()]
    told = Provenance("rootfind", DOMAIN.card.title, "x", None, None, (), datetime(2026, 1, 1, tzinfo=UTC))
    (tmp_path / "solver.py").write_text(solver_source(steps, told), encoding="utf-8")
    solve = runpy.run_path(str(tmp_path / "solver.py"), run_name="solver")["solve"]
    found = solve(lambda x: math.cos(x) - x, x0=[0.5])
    assert found.metadata["x"][0] == pytest.approx(0.7390851332151607, abs=1e-7)
    system = solve(lambda x: np.array([x[0] ** 2 + x[1] - 1.1, x[0] + x[1] ** 3 - 0.3]), x0=[1.0, 0.1])
    assert system.objective == pytest.approx(
        score(*(system.metadata[f"measured_{k}"] for k in ("evaluations", "rounds")))
    )
    with pytest.raises(ValueError, match="initial guess"):
        solve(math.cos, x0=[])
    with pytest.raises(RuntimeError, match="more than 1000 evaluations"):
        solve(lambda x: math.nan, x0=[1.0])
