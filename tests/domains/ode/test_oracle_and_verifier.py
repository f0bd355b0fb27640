"""What is counted and what is scored: the oracle, the decoder's questions, the verifier, the reference
states."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.domains.ode.specimens import instance_of, integrate

from dga2d.domains.core.contract import Implementation, OperatorName, State
from dga2d.domains.core.errors import InstanceFormatError, OracleRefusedError
from dga2d.domains.ode import DOMAIN
from dga2d.domains.ode.baselines import by_euler, by_rk4, by_scipy
from dga2d.domains.ode.card import MOST_EVALUATIONS
from dga2d.domains.ode.oracle import make_oracle, own_oracle
from dga2d.domains.ode.reader import read_fields
from dga2d.domains.ode.systems import SYSTEMS
from dga2d.domains.ode.verifier import distance, verify_final_state

LORENZ = "lorenz/design"
REFERENCE = (Decimal(3), Decimal(4))


def test_an_oracle_counts_every_row() -> None:
    oracle = make_oracle(DOMAIN.oracle_data(instance_of(LORENZ)))
    y = np.array([1.0, 2.0, 3.0])
    answers = oracle.answer(np.vstack((np.r_[0.0, y], np.r_[5.0, 2.0 * y])))
    f = SYSTEMS["lorenz"].bind(instance_of(LORENZ).data["parameters"])
    assert np.array_equal(answers, [f(0.0, y), f(5.0, 2.0 * y)])
    assert oracle.record() == {"evaluations": 2, "undefined": 0}


def test_an_oracle_notes_what_is_no_number() -> None:
    oracle = make_oracle(DOMAIN.oracle_data(instance_of(LORENZ)))
    assert np.isnan(oracle.answer(np.full((1, 4), np.nan))).all()
    assert oracle.record() == {"evaluations": 1, "undefined": 1}


@pytest.mark.parametrize("shape", [(1, 3), (1, 5), (4,), (0, 0)])
def test_an_oracle_refuses_rows_of_another_shape(shape: tuple[int, ...]) -> None:
    oracle = make_oracle(DOMAIN.oracle_data(instance_of(LORENZ)))
    with pytest.raises(OracleRefusedError, match="a question is t and 3 unknowns"):
        oracle.answer(np.zeros(shape))
    assert oracle.record()["evaluations"] == 0


def test_an_oracle_answers_no_more_than_its_limit() -> None:
    oracle = own_oracle({"dimension": 1}, lambda t, y: y)
    oracle.answer(np.zeros((MOST_EVALUATIONS, 2)))
    with pytest.raises(OracleRefusedError, match="more than 200000 evaluations"):
        oracle.answer(np.zeros((1, 2)))


def test_candidates_are_told_no_parameter() -> None:
    for system in SYSTEMS:
        instance = instance_of(f"{system}/test1")
        environment = DOMAIN.environment(instance)
        assert set(environment) == set(DOMAIN.card.environment)
        told = {float(v) for value in environment.values() for v in np.ravel(value)} - {0.0, 1.0}
        hidden = {float(v) for value in instance.data["parameters"].values() for v in np.ravel(value)}
        assert not told & hidden


STATES: dict[str, tuple[dict[str, Any], str]] = {
    "no y": ({}, "must be a float64 array, got NoneType"),
    "whole numbers": ({"y": np.zeros(2, np.int64)}, "must be a float64 array"),
    "another shape": ({"y": np.zeros(3)}, "has shape (3,), expected (2,)"),
    "no number": ({"y": np.array([3.0, np.nan])}, "y[1] is nan; the right-hand side gave no number 7 times"),
    "far off": ({"y": np.array([3.0, 6.0])}, "off by 2, more than 1"),
}


@pytest.mark.parametrize("what", STATES)
def test_a_broken_final_state_is_named(what: str) -> None:
    metadata, words = STATES[what]
    record = {"measured_evaluations": 10, "measured_undefined": 7}
    verdict = verify_final_state(State(metadata={**metadata, **record}), REFERENCE, 0.1)
    assert verdict.objective is None
    assert words in str(verdict.violation)


def test_nobody_scores_without_a_count() -> None:
    assert not verify_final_state(State(metadata={"y": np.array([3.0, 4.0])}), REFERENCE, 0.1).is_feasible


SCORES = [
    ([3.0, 4.001], 1000, 3.0 - 0.3),
    ([3.0, 5.0], 10, 0.0 - 0.1),  # the largest error that counts
    ([3.0, 4.0], 100, 20.0 - 0.2),  # none at all: the floor
    ([3.0, 4.0], 0, 20.0),
]


@pytest.mark.parametrize(("y", "evaluations", "expected"), SCORES)
def test_the_score_is_of_error_and_cost(y: list[float], evaluations: int, expected: float) -> None:
    metadata = {"y": np.array(y), "measured_evaluations": evaluations}
    assert verify_final_state(State(metadata=metadata), REFERENCE, 0.1).objective == pytest.approx(expected)


def test_errors_below_the_rounding_of_the_answer_are_seen() -> None:
    assert distance(np.array([0.1]), [Decimal("0.1")]) == pytest.approx(5.551e-18, rel=1e-3)


@pytest.mark.parametrize(
    ("system", "method"),
    [("lotka_volterra", "DOP853"), ("van_der_pol", "DOP853"), ("lorenz", "DOP853"), ("robertson", "Radau")],
)
def test_references_solve_the_generated_nonlinear_problems(system: str, method: str) -> None:
    data = instance_of(f"{system}/test2").data
    f = SYSTEMS[system].bind(data["parameters"])
    found = by_scipy(method, f, data["initial"], SYSTEMS[system].end, 1e-9, 1e-11)
    assert distance(found.y, data["reference"]) < 1e-4


@pytest.mark.parametrize("system", ["stiff_linear", "heat2d", "convdiff"])
def test_references_solve_the_generated_linear_problems(system: str) -> None:
    from scipy.linalg import expm

    data = instance_of(f"{system}/test2").data
    f = SYSTEMS[system].bind(data["parameters"])
    matrix = np.array([f(0.0, unit) for unit in np.eye(SYSTEMS[system].dimension)]).T
    found = expm(matrix * SYSTEMS[system].end) @ data["initial"]
    assert distance(found, data["reference"]) < 1e-10


def test_methods_of_fixed_step_are_what_they_are_called() -> None:
    grown = {method: method(lambda t, y: y, np.ones(1), 1.0, 0.1) for method in (by_euler, by_rk4)}
    factor = 1.0 + 0.1 + 0.1**2 / 2 + 0.1**3 / 6 + 0.1**4 / 24
    assert grown[by_euler].y[0] == pytest.approx(1.1**10)
    assert grown[by_rk4].y[0] == pytest.approx(factor**10)
    assert (grown[by_euler].evaluations, grown[by_rk4].evaluations) == (10, 40)


GOOD = {
    "system": "lorenz",
    "parameters": {"sigma": 10, "rho": 28, "beta": 2.5},
    "initial": [1, 1, 1],
    "reference": ["1.5", "2", "3e-5"],
}
BAD: dict[str, tuple[dict[str, Any], str]] = {
    "another field": ({**GOOD, "end": 3}, "expected an object of system, parameters"),
    "unknown system": ({**GOOD, "system": "rossler"}, "expected a system of"),
    "a parameter too few": (
        {**GOOD, "parameters": {"sigma": 10}},
        "parameters of lorenz are sigma, rho, beta",
    ),
    "text": ({**GOOD, "parameters": {"sigma": "x", "rho": 28, "beta": 1}}, "sigma: expected numbers"),
    "two unknowns": ({**GOOD, "initial": [1, 1]}, "initial: expected finite numbers of shape (3,)"),
    "no reference": ({**GOOD, "reference": []}, "reference: expected 3 decimal numbers"),
    "an infinite reference": ({**GOOD, "reference": ["1", "2", "inf"]}, "expected finite decimal"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_broken_file_is_named(what: str, tmp_path: Path) -> None:
    fields, words = BAD[what]
    path = tmp_path / "a.json"
    path.write_text(json.dumps(fields), encoding="utf-8")
    with pytest.raises(InstanceFormatError) as raised:
        read_fields(path)
    assert words in str(raised.value)


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(GOOD), encoding="utf-8")
    fields = read_fields(path)
    assert fields["parameters"]["rho"] == 28.0
    assert fields["reference"] == (Decimal("1.5"), Decimal(2), Decimal("3e-5"))


ATTACKS = {
    "diverges": ("y = env_data['y0'] * float('inf')", "y[0] is inf"),
    "another shape": ("y = env_data['y0'][:1]", "has shape (1,)"),
    "right-hand side that is no number": (
        "y = env_data['rhs'](0.0, env_data['y0'] * float('nan'))",
        "gave no",
    ),
}


@pytest.mark.parametrize("what", ATTACKS)
def test_what_integrates_badly_is_a_failure_with_its_reason(what: str, tmp_path: Path) -> None:
    code, words = ATTACKS[what]
    text = (
        "def run(env_data, state, calc_makespan_fn):\n"
        f"    {code}\n"
        "    state.metadata.update({'y': y, 't': env_data['t_end'], 'measured_evaluations': 0})\n"
        "    return state\n"
    )
    found = integrate(LORENZ, Implementation(OperatorName("start"), text, "test"), cache=tmp_path)
    assert words in str(found.verdict.violation)


def test_a_forged_count_is_dropped(tmp_path: Path) -> None:
    text = (
        "def run(env_data, state, calc_makespan_fn):\n"
        "    y = env_data['y0']\n"
        "    for _ in range(50):\n"
        "        env_data['rhs'](0.0, y)\n"
        "    state.metadata.update({'y': y, 't': env_data['t_end'], 'measured_evaluations': 1})\n"
        "    return state\n"
    )
    found = integrate(LORENZ, Implementation(OperatorName("start"), text, "test"), cache=tmp_path)
    assert (found.evaluations, found.metadata["measured_evaluations"]) == (50, 50)
