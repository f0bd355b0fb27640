"""A work-precision diagram: what SciPy's methods make of the instance at many tolerances, and this solution.

The curves are computed when the picture is drawn, in the trusted process, from the instance's own
right-hand side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from dga2d.domains.core.contract import Instance, State, require_feasible
from dga2d.domains.drawing import Axis, Dots, Drawing, Line, Panel, Shape
from dga2d.domains.ode.baselines import by_scipy
from dga2d.domains.ode.systems import SYSTEMS, Vector
from dga2d.domains.ode.verifier import distance, verify_final_state

METHODS: Final = ("DOP853", "LSODA", "Radau")
TOLERANCES: Final = (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
MOST_CURVES: Final = 6
"""Unknowns whose course is drawn, the first ones."""

Function = Callable[[float, Vector], Vector]


def picture(instance: Instance, state: State) -> Drawing:
    """Draw left the course of the solution, right error against evaluations.

    Raises
    ------
    InvalidSolutionError
        The state does not pass the verifier.
    """
    data = instance.data
    system = SYSTEMS[data["system"]]
    score = require_feasible(verify_final_state(state, data["reference"], system.cost_weight))
    f, final = system.bind(data["parameters"]), state.metadata["y"]
    evaluations = state.metadata["measured_evaluations"]
    error = max(distance(final, data["reference"]), 1e-20)
    own = f"this solution: {evaluations} evaluations, error {error:.2g}"
    star = Dots(np.array([[max(evaluations, 1), error]]), "limit", [own], "this solution", radius=6.0)
    runs = [
        shape for place, method in enumerate(METHODS) for shape in _runs(place, method, f, data, system.end)
    ]
    work = Panel(
        (*runs, star),
        Axis("evaluations of f", is_log=True),
        Axis("error of the final state", is_log=True),
        height=280.0,
    )
    title = f"{instance.key}: score {score:.2f}, error {error:.2g}, {evaluations} evaluations"
    left_out = len(final) - MOST_CURVES
    notes = (f"{left_out} more unknowns are not drawn.",) if left_out > 0 else ()
    return Drawing(title, ((_course(f, data, system.end, final), work),), notes)


def _course(f: Function, data: Mapping[str, Any], end: float, final: Vector) -> Panel:
    """Return the first unknowns over time, as LSODA has them, and the solution's own end."""
    times = np.linspace(0.0, end, 400)
    run = by_scipy("LSODA", f, data["initial"], end, 1e-9, 1e-12, times)
    assert run.course is not None
    shapes: list[Shape] = []
    for i in range(min(len(final), MOST_CURVES)):
        course = np.stack((times[: run.course.shape[1]], run.course[i]), axis=1)
        shapes.append(Line(course, i, f"y{i + 1}", f"y{i + 1}"))
        words = [f"y{i + 1} at the end: {final[i]:.10g}"]
        shapes.append(Dots(np.array([[end, final[i]]]), i, words, radius=4.0))
    return Panel(tuple(shapes), Axis("t"), Axis("y"), height=280.0)


def _runs(place: int, method: str, f: Function, data: Mapping[str, Any], end: float) -> tuple[Line, Dots]:
    runs = [(tol, by_scipy(method, f, data["initial"], end, tol, tol * 1e-2)) for tol in TOLERANCES]
    kept = [(tol, run) for tol, run in runs if np.isfinite(run.y).all()]
    errors = [max(distance(run.y, data["reference"]), 1e-20) for _, run in kept]
    points = np.array([[run.evaluations, error] for (_, run), error in zip(kept, errors, strict=True)])
    points = points.reshape(-1, 2).astype(np.float64)
    words = [
        f"{method} at tolerance {tol:g}: {run.evaluations} evaluations, error {error:.2g}"
        for (tol, run), error in zip(kept, errors, strict=True)
    ]
    return Line(points, place, method, method), Dots(points, place, words)
