"""Picture of a schedule: a Gantt chart above the use of each resource over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dga2d.domains.core.contract import Instance, State, require_feasible
from dga2d.domains.rcpsp.verifier import schedule, verify_sequence
from dga2d.domains.shared.categories import EDGE, look_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_NAMED = 60
"""Most activities that are named in the chart."""
MAX_PROFILES = 6
"""Most resources whose use is drawn; the others are left out."""


def picture(instance: Instance, state: State) -> Figure:
    """Draw the activities as bars by start time, and for each resource its use and its capacity.

    Raises
    ------
    InvalidSolutionError
        The state does not pass the verifier.
    """
    from matplotlib.figure import Figure

    objective = require_feasible(verify_sequence(instance.data, state))
    starts = schedule(instance.data, state.sequence)
    n_real, n_profiles = starts.size - 2, min(instance.data["capacities"].size, MAX_PROFILES)
    height = min(max(0.16 * n_real, 2.5), 9.0)
    figure = Figure(figsize=(10.0, height + 1.1 * n_profiles + 0.8), layout="constrained")
    axes = figure.subplots(
        1 + n_profiles, 1, sharex=True, squeeze=False, height_ratios=[height, *[1.1] * n_profiles]
    )[:, 0]
    figure.suptitle(f"{instance.key}: makespan {int(objective)}")
    _gantt(axes[0], instance.data["durations"], starts)
    for resource, axis in enumerate(axes[1:]):
        _profile(axis, instance.data, starts, resource)
    axes[-1].set_xlabel("time (periods)")
    axes[-1].set_xlim(0, max(objective, 1))
    return figure


def _gantt(axis: Axes, durations: np.ndarray[Any, Any], starts: np.ndarray[Any, Any]) -> None:
    """Draw one row per activity, dummies left out, the first to start on top."""
    real = np.arange(1, starts.size - 1)
    rows = real[np.lexsort((real, starts[real]))]
    places = np.arange(rows.size)
    looks = [look_of(activity - 1) for activity in rows.tolist()]
    axis.barh(
        places,
        durations[rows],
        left=starts[rows],
        height=0.8,
        color=[look.colour for look in looks],
        hatch=[look.pattern for look in looks],
        edgecolor=EDGE,
        linewidth=0.3,
    )
    axis.set_ylabel("activity" if rows.size <= MAX_NAMED else "activities by start time")
    if rows.size <= MAX_NAMED:
        axis.set_yticks(places, [str(activity) for activity in rows.tolist()], fontsize=6)
    else:
        axis.set_yticks([])
    axis.set_ylim(rows.size - 0.5, -0.5)
    axis.grid(axis="x", alpha=0.3)


def _profile(axis: Axes, data: Any, starts: np.ndarray[Any, Any], resource: int) -> None:
    """Draw the units in use period by period, below a line at the capacity."""
    ends = starts + data["durations"]
    change = np.zeros(int(ends.max()) + 1, np.int64)
    np.add.at(change, starts, data["requests"][:, resource])
    np.subtract.at(change, ends, data["requests"][:, resource])
    use, capacity = np.cumsum(change), int(data["capacities"][resource])
    axis.fill_between(np.arange(use.size), use, step="post", alpha=0.6, color="C7")
    axis.axhline(capacity, color="C3", linewidth=1.0)
    axis.set_ylim(0, max(1.1 * capacity, 1))
    axis.set_ylabel(f"units of R{resource + 1}", fontsize=8)
