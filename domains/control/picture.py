"""Picture of an episode: the state and the input over time, and the phase plane."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dga2d.domains.control.plants import DT, STEPS, SYSTEMS
from dga2d.domains.control.verifier import verify_episode
from dga2d.domains.core.contract import Instance, State, require_feasible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = {
    "double_integrator": ("position", "velocity"),
    "pendulum": ("angle", "angular velocity"),
    "cart_pole": ("cart", "angle", "cart's velocity", "angular velocity"),
}


def picture(instance: Instance, state: State) -> Figure:
    """Draw the first seconds of the episode, which is what the plant's process kept.

    Raises
    ------
    InvalidSolutionError
        The state does not pass the verifier.
    """
    from matplotlib.figure import Figure  # slow to import, and optional

    score = require_feasible(verify_episode(state, STEPS))
    system = instance.data["system"]
    course, bound = state.metadata["measured_course"], SYSTEMS[system].bound
    times, n = DT * np.arange(len(course)), course.shape[1] - 1
    figure = Figure(figsize=(12.0, 6.0), layout="constrained")
    places = figure.subplot_mosaic([["states", "phase"], ["input", "phase"]])
    for i in range(n):
        places["states"].plot(times, course[:, i], label=NAMES[system][i], color=f"C{i}")
    places["states"].axhline(0.0, color="0.6", linewidth=0.8)
    places["states"].set(ylabel="state")
    places["states"].legend(fontsize="small")
    places["input"].step(times, course[:, n], where="post", color="C7")
    for limit in (-bound, bound):
        places["input"].axhline(limit, color="C3", linewidth=0.9, linestyle="--")
    places["input"].set(xlabel="seconds", ylabel="input")
    last = n // 2 - 1
    turns = np.abs(np.diff(course[:, last])) > np.pi  # an angle that passes π goes on at -π
    shown = np.insert(course, np.flatnonzero(turns) + 1, np.nan, axis=0)
    places["phase"].plot(shown[:, last], shown[:, last + n // 2], color="C0")
    places["phase"].plot(*course[0, [last, last + n // 2]], "o", color="C1", label="start")
    places["phase"].plot(0.0, 0.0, "+", color="C3", markersize=12, label="target")
    places["phase"].set(xlabel=NAMES[system][last], ylabel=NAMES[system][last + n // 2])
    places["phase"].legend(fontsize="small")
    cost = state.metadata["measured_cost"]
    figure.suptitle(f"{instance.key}: cost {cost:.1f}, score {score:.3f}")
    return figure
