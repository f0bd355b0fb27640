"""A work-precision diagram: what SciPy's methods make of the instance at many tolerances, and this solution.

The curves are computed when an instance is drawn first, in the trusted process, from its own right-hand
side; they take a second, and the solutions of an instance are drawn in a row.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import numpy as np

from dga2d.domains.core.contract import Instance, State, require_feasible
from dga2d.domains.drawing import Axis, Dots, Drawing, Line, Panel
from dga2d.domains.ode.baselines import by_scipy
from dga2d.domains.ode.systems import SYSTEMS
from dga2d.domains.ode.verifier import distance, verify_final_state

METHODS: Final = ("DOP853", "LSODA", "Radau")
TOLERANCES: Final = (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
MOST_CURVES: Final = 6
"""Unknowns whose course is drawn, the first ones."""
MOST_DRAWN: Final = 10_000
"""Evaluations up to which a classical method's run is drawn: more take minutes."""
INSTANCES_KEPT: Final = 16
"""Instances whose curves are kept."""


@dataclass(frozen=True)
class _Problem:
    """An instance, equal to every other of the same values."""

    values: str
    data: Mapping[str, Any] = field(compare=False, repr=False)


@dataclass(frozen=True)
class _Curves:
    """What is drawn beside every solution of an instance."""

    courses: tuple[Line, ...]
    work: tuple[Line | Dots, ...]


def picture(instance: Instance, state: State) -> Drawing:
    """Draw left the course of the solution, right error against evaluations."""
    data = instance.data
    system = SYSTEMS[data["system"]]
    score = require_feasible(verify_final_state(state, data["reference"], system.cost_weight))
    curves = _curves(_Problem(_values_of(data), data))
    final = state.metadata["y"]
    evaluations = state.metadata["measured_evaluations"]
    error = max(distance(final, data["reference"]), 1e-20)
    own = f"this solution: {evaluations} evaluations, error {error:.2g}"
    star = Dots(np.array([[max(evaluations, 1), error]]), "limit", [own], "this solution", radius=6.0)
    work = Panel(
        (*curves.work, star),
        Axis(f"evaluations of f (classical methods up to {MOST_DRAWN:,})", is_log=True),
        Axis("error of the final state", is_log=True),
        height=280.0,
    )
    ends = [
        Dots(np.array([[system.end, final[i]]]), i, [f"y{i + 1} at the end: {final[i]:.10g}"], radius=4.0)
        for i in range(len(curves.courses))
    ]
    shapes = [shape for pair in zip(curves.courses, ends, strict=True) for shape in pair]
    course = Panel(tuple(shapes), Axis("t"), Axis("y"), height=280.0)
    title = f"{instance.key}: score {score:.2f}, error {error:.2g}, {evaluations} evaluations"
    left_out = len(final) - MOST_CURVES
    notes = (f"{left_out} more unknowns are not drawn.",) if left_out > 0 else ()
    return Drawing(title, ((course, work),), notes)


def _values_of(data: Mapping[str, Any]) -> str:
    """Return all values of an instance as text."""
    with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
        return repr(sorted(data.items()))


@lru_cache(maxsize=INSTANCES_KEPT)
def _curves(problem: _Problem) -> _Curves:
    """Return the first unknowns over time, as LSODA has them, and what each method came to."""
    data = problem.data
    system = SYSTEMS[data["system"]]
    times = np.linspace(0.0, system.end, 400)
    run = by_scipy("LSODA", system.bind(data["parameters"]), data["initial"], system.end, 1e-9, 1e-12, times)
    assert run.course is not None
    courses = tuple(
        Line(np.stack((times[: run.course.shape[1]], values), axis=1), i, f"y{i + 1}", f"y{i + 1}")
        for i, values in enumerate(run.course[:MOST_CURVES])
    )
    work = tuple(shape for place, method in enumerate(METHODS) for shape in _runs(place, method, data))
    return _Curves(courses, work)


def _runs(place: int, method: str, data: Mapping[str, Any]) -> tuple[Line, Dots]:
    system = SYSTEMS[data["system"]]
    f = system.bind(data["parameters"])
    runs = [
        (tol, by_scipy(method, f, data["initial"], system.end, tol, tol * 1e-2, most=MOST_DRAWN))
        for tol in TOLERANCES
    ]
    kept = [(tol, run) for tol, run in runs if np.isfinite(run.y).all()]
    errors = [max(distance(run.y, data["reference"]), 1e-20) for _, run in kept]
    points = np.array([[run.evaluations, error] for (_, run), error in zip(kept, errors, strict=True)])
    points = points.reshape(-1, 2).astype(np.float64)
    words = [
        f"{method} at tolerance {tol:g}: {run.evaluations} evaluations, error {error:.2g}"
        for (tol, run), error in zip(kept, errors, strict=True)
    ]
    return Line(points, place, method, method), Dots(points, place, words)
