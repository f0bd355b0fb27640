"""A work-precision diagram: what SciPy's methods make of the instance at many tolerances, and this solution.

The curves are computed when the picture is drawn, in the trusted process, from the instance's own
right-hand side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dga2d.domains.core.contract import Instance, State, require_feasible
from dga2d.domains.ode.baselines import Integrated, by_scipy
from dga2d.domains.ode.systems import SYSTEMS, Vector
from dga2d.domains.ode.verifier import distance, verify_final_state

METHODS: Final = {"DOP853": "#4477aa", "LSODA": "#ee6677", "Radau": "#228833"}
TOLERANCES: Final = (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
MOST_CURVES: Final = 6
"""Unknowns whose course is drawn, the first ones."""


def picture(instance: Instance, state: State) -> Figure:
    """Draw left the course of the solution, right error against evaluations.

    Raises
    ------
    InvalidSolutionError
        The state does not pass the verifier.
    """
    data = instance.data
    system = SYSTEMS[data["system"]]
    score = require_feasible(verify_final_state(state, data["reference"], system.cost_weight))
    f = system.bind(data["parameters"])
    figure = Figure(figsize=(12.0, 5.0), layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw_course(left, f, data, system.end, state.metadata["y"])
    for method, colour in METHODS.items():
        runs = [by_scipy(method, f, data["initial"], system.end, tol, tol * 1e-2) for tol in TOLERANCES]
        _draw_runs(right, method, colour, runs, data)
    evaluations = state.metadata["measured_evaluations"]
    error = max(distance(state.metadata["y"], data["reference"]), 1e-20)
    right.loglog([max(evaluations, 1)], [error], "*", markersize=14, color="#aa3377", label="this solution")
    right.set(xlabel="evaluations of f", ylabel="error of the final state")
    right.grid(visible=True, which="major", alpha=0.3)
    right.legend()
    figure.suptitle(f"{instance.key}: score {score:.2f}, error {error:.2g}, {evaluations} evaluations")
    return figure


def _draw_course(
    axes: Axes, f: Callable[[float, Vector], Vector], data: Mapping[str, Any], end: float, final: Vector
) -> None:
    """Draw the first unknowns over time, as LSODA has them, and the solution's own end."""
    times = np.linspace(0.0, end, 400)
    run = by_scipy("LSODA", f, data["initial"], end, 1e-9, 1e-12, times)
    assert run.course is not None
    for i in range(min(len(final), MOST_CURVES)):
        (line,) = axes.plot(times[: run.course.shape[1]], run.course[i], label=f"y{i + 1}")
        axes.plot([end], [final[i]], "o", color=line.get_color(), markersize=5)
    axes.set(xlabel="t", ylabel="y")
    axes.legend(fontsize="small")


def _draw_runs(axes: Axes, name: str, colour: str, runs: list[Integrated], data: Mapping[str, Any]) -> None:
    points = [
        (run.evaluations, distance(run.y, data["reference"])) for run in runs if np.isfinite(run.y).all()
    ]
    axes.loglog(*zip(*points, strict=True), "o-", color=colour, label=name, markersize=4)
