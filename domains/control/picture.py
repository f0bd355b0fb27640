"""Picture of an episode: the state and the input over time, and the phase plane."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.control.plants import DT, STEPS, SYSTEMS
from dga2d.domains.control.verifier import verify_episode
from dga2d.domains.core.contract import Instance, State, require_feasible
from dga2d.domains.drawing import Axis, Dots, Drawing, Line, Panel, step_line

NAMES = {
    "double_integrator": ("position", "velocity"),
    "pendulum": ("angle", "angular velocity"),
    "cart_pole": ("cart", "angle", "cart's velocity", "angular velocity"),
}


def picture(instance: Instance, state: State) -> Drawing:
    """Draw the first seconds of the episode, which is what the plant's process kept."""
    score = require_feasible(verify_episode(state, STEPS))
    system = instance.data["system"]
    course, cost = state.metadata["measured_course"], state.metadata["measured_cost"]
    names = NAMES[system]
    rows = ((_states(course, names),), (_input(course, SYSTEMS[system].bound),), (_phase(course, names),))
    return Drawing(f"{instance.key}: cost {cost:.1f}, score {score:.3f}", rows)


def _states(course: NDArray[Any], names: tuple[str, ...]) -> Panel:
    times = DT * np.arange(len(course))
    zero = Line(np.array([[0.0, 0.0], [times[-1], 0.0]]), "soft", "target", is_dashed=True)
    curves = [
        Line(np.stack((times, course[:, i]), axis=1), i, name, name)
        for i, name in enumerate(names[: course.shape[1] - 1])
    ]
    return Panel((zero, *curves), Axis(), Axis("state"), height=180.0)


def _input(course: NDArray[Any], bound: float) -> Panel:
    times = DT * np.arange(len(course))
    limits = (
        Line(
            np.array([[0.0, limit], [times[-1], limit]]), "limit", f"bound {limit:g}", "bound", is_dashed=True
        )
        for limit in (-bound, bound)
    )
    force = Line(step_line(times, course[:, -1]), "ink", "input", "input")
    return Panel((*limits, force), Axis("seconds"), Axis("input"), height=110.0)


def _phase(course: NDArray[Any], names: tuple[str, ...]) -> Panel:
    """Return position against velocity; an angle that passes π goes on at -π and interrupts the line."""
    half = (course.shape[1] - 1) // 2
    x, y = half - 1, 2 * half - 1
    turns = np.abs(np.diff(course[:, x])) > np.pi
    shown = np.insert(course[:, [x, y]].astype(np.float64), np.flatnonzero(turns) + 1, np.nan, axis=0)
    return Panel(
        (
            Line(shown, 0, "the way of the state"),
            Dots(shown[:1], 1, ["start"], "start", radius=5.0),
            Dots(np.zeros((1, 2)), "limit", ["target"], "target", radius=5.0, shape="square"),
        ),
        Axis(names[x]),
        Axis(names[y]),
        height=230.0,
    )
