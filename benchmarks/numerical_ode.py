"""The table of ``ode``: classical integrators, library pipelines, the paper's rows.

SciPy's methods run with the settings with which the paper's figures come out (rtol 1e-6, atol 1e-8) and at
their best on each system: the relative tolerance of `TOLERANCES`, atol a thousandth of it, with the highest
mean on the test instances, which is more than a user could choose by. Evaluations for difference quotients
count, and no more than the oracle would answer are made: a method that needs more has failed.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dga2d.domains.budget import Budget
from dga2d.domains.core.contract import Instance, InstanceRef, PipelineStep
from dga2d.domains.core.oracle import with_record
from dga2d.domains.execution import execute, load_implementation
from dga2d.domains.ode import DOMAIN
from dga2d.domains.ode.baselines import Integrated, by_euler, by_rk4, by_scipy
from dga2d.domains.ode.oracle import make_oracle
from dga2d.domains.ode.suite import TEST
from dga2d.domains.ode.systems import NOMINAL_STEP, SYSTEMS
from dga2d.domains.ode.verifier import LARGEST_ERROR, distance, score_of

FAILURE = -20.0
PAPER = {
    "Euler": (0.76, -10.00, -20.00, -20.00, -20.00, -20.00, -20.00),
    "RK4": (6.98, 3.21, -20.00, -20.00, -20.00, -20.00, -20.00),
    "DOP853": (5.31, 4.85, 7.03, 2.33, 8.48, 9.48, 6.72),
    "LSODA": (3.95, 3.40, 5.69, 1.33, 7.78, 10.33, 6.01),
    "Radau": (6.26, 6.59, 7.25, 3.38, 9.91, 12.18, 7.36),
    "EoH": (5.49, 3.21, 1.38, 0.75, 8.30, 14.89, 8.64),
    "DGA2D": (6.98, 14.74, 14.79, 14.72, 15.65, 14.81, 14.84),
}
"""Scores of the paper's table, in the order of `SYSTEMS`."""
TOLERANCES = (1e-11, 1e-12, 1e-13)
MODEL = ("start", "polynomial_model")
WORK = 50_000
Solver = Callable[[Instance], Integrated]


def test_instances(system: str) -> list[Instance]:
    """Return the held-out instances of a system."""
    return [DOMAIN.load(InstanceRef("ode", system, f"test{i}", None)) for i in range(1, TEST + 1)]


def scored(instance: Instance, found: Integrated) -> float:
    """Return the score of what an integrator outside of the sandbox came to."""
    if not np.isfinite(found.y).all():
        return FAILURE
    error = distance(found.y, instance.data["reference"])
    weight = SYSTEMS[instance.data["system"]].cost_weight
    return FAILURE if error > LARGEST_ERROR else score_of(error, found.evaluations, weight)


def classical(method: str, relative: float, absolute: float) -> Solver:
    """Return an integrator by its name; those of fixed step need no tolerance."""

    def solve(instance: Instance) -> Integrated:
        system = SYSTEMS[instance.data["system"]]
        f, initial = system.bind(instance.data["parameters"]), instance.data["initial"]
        if method in ("Euler", "RK4"):
            return (by_euler if method == "Euler" else by_rk4)(f, initial, system.end, NOMINAL_STEP)
        return by_scipy(method, f, initial, system.end, relative, absolute)

    return solve


def mean_of(solver: Solver, system: str) -> float:
    """Return the mean score on the test instances."""
    return float(np.mean([scored(instance, solver(instance)) for instance in test_instances(system)]))


def best_of(method: str, system: str) -> tuple[float, float]:
    """Return the best mean of a method over tolerances, and the tolerance."""
    found = [(_mean_or_failure(method, tolerance, system), tolerance) for tolerance in TOLERANCES]
    return max(found, key=lambda one: one[0])


def _mean_or_failure(method: str, tolerance: float, system: str) -> float:
    """Return the mean score at a tolerance; what fails on one instance is not tried on the others."""
    solve, scores = classical(method, tolerance, tolerance * 1e-3), list[float]()
    for instance in test_instances(system):
        scores.append(scored(instance, solve(instance)))
        if scores[-1] == FAILURE:
            return FAILURE
    return float(np.mean(scores))


def pipeline_mean(steps: Sequence[PipelineStep], system: str, cache: Path) -> float:
    """Return the mean score of a pipeline of the library, run in this process."""
    found: list[float] = []
    for instance in test_instances(system):
        environment: dict[str, Any] = DOMAIN.environment(instance)
        oracle = make_oracle(DOMAIN.oracle_data(instance))
        runs = [load_implementation(step.implementation, cache) for step in steps]
        budget, rng = Budget(WORK, "work", len(runs)), np.random.default_rng(0)
        answer = execute(runs, environment, DOMAIN.decoder(environment), budget, rng, ask=oracle.answer)
        verdict = DOMAIN.verify(instance, with_record(answer.state, oracle.record()))
        found.append(FAILURE if verdict.objective is None else verdict.objective)
    return float(np.mean(found))


def steps_of(names: Sequence[str]) -> tuple[PipelineStep, ...]:
    """Return the pipeline of the named operators, each with its first implementation.

    Raises SystemExit for a name that the library does not have.
    """
    by_id = {str(operator.id): operator for operator in DOMAIN.operators()}
    unknown = [name for name in names if name not in by_id]
    if unknown:
        raise SystemExit(f"no operator is called {unknown[0]!r}; there are {', '.join(by_id)}")
    return tuple(PipelineStep(by_id[name].id, by_id[name].implementations[0]) for name in names)


def row(name: str, values: Sequence[float], paper: Sequence[float] | None = None) -> None:
    """Print a row of the table, with the paper's figures in brackets."""
    beside = [""] * len(values) if paper is None else [f" ({p:.2f})" for p in paper]
    cells = [f"{value:.2f}{extra}" for value, extra in zip(values, beside, strict=True)]
    print(f"| {name} | " + " | ".join([*cells, f"{np.mean(values):.2f}"]) + " |", flush=True)


def best_rows() -> None:
    """Print SciPy's methods at their best tolerances, which stand in brackets, and the best of them."""
    found = {m: [best_of(m, system) for system in SYSTEMS] for m in ("DOP853", "LSODA", "Radau")}
    for method, cells in found.items():
        told = (f"{score:.2f} ({tolerance:.0e})" for score, tolerance in cells)
        print(f"| {method} at its best | {' | '.join(told)} | |", flush=True)
    best = [max((cells[i][0], method) for method, cells in found.items()) for i in range(len(SYSTEMS))]
    print(
        f"| best of these | {' | '.join(f'{score:.2f} ({method})' for score, method in best)} | |", flush=True
    )


def table(arguments: argparse.Namespace) -> None:
    """Print the table; the library's pipelines are ``safe`` and ``model``, and those of ``--pipeline``."""
    print("| | " + " | ".join(system.title for system in SYSTEMS.values()) + " | mean |")
    print("|---|" + "---:|" * (len(SYSTEMS) + 1))
    for method in ("Euler", "RK4", "DOP853", "LSODA", "Radau"):
        row(method, [mean_of(classical(method, 1e-6, 1e-8), system) for system in SYSTEMS], PAPER[method])
    pipelines = {"safe": DOMAIN.safe_baseline(), "model": steps_of(MODEL)}
    pipelines |= {text: steps_of(text.split("+")) for text in arguments.pipelines}
    with tempfile.TemporaryDirectory() as folder:
        for name, steps in pipelines.items():
            values = [pipeline_mean(steps, system, Path(folder)) for system in SYSTEMS]
            row(name, values, PAPER["DGA2D"] if name == "model" else None)
    best_rows()
    row("EoH (paper)", PAPER["EoH"])
    row("DGA2D (paper)", PAPER["DGA2D"])
