"""Picture of a schedule: a Gantt chart above the use of each resource over time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import Instance, State, require_feasible
from dga2d.domains.drawing import Axis, Drawing, Line, Panel, Task, gantt_panel, step_line
from dga2d.domains.rcpsp.verifier import schedule, verify_sequence

MAX_PROFILES = 6
"""Most resources whose use is drawn; the others are left out."""


def picture(instance: Instance, state: State) -> Drawing:
    """Draw the activities as bars by start time, and for each resource its use and its capacity."""
    data = instance.data
    objective = require_feasible(verify_sequence(data, state))
    starts = schedule(data, state.sequence)
    n_resources = data["capacities"].size
    panels = [_gantt(data["durations"], starts, objective)]
    panels += [
        _profile(data, starts, resource, objective) for resource in range(min(n_resources, MAX_PROFILES))
    ]
    left_out = n_resources - MAX_PROFILES
    notes = (f"The use of {left_out} more resources is not drawn.",) if left_out > 0 else ()
    return Drawing(f"{instance.key}: makespan {int(objective)}", tuple((panel,) for panel in panels), notes)


def _gantt(durations: NDArray[Any], starts: NDArray[Any], makespan: float) -> Panel:
    """Return one row per activity, dummies left out, the first to start on top."""
    real = np.arange(1, starts.size - 1)
    rows = real[np.lexsort((real, starts[real]))].tolist()
    ends = starts + durations
    tasks = (
        Task(
            row,
            int(starts[activity]),
            int(ends[activity]),
            activity - 1,
            f"activity {activity}: {starts[activity]} to {ends[activity]}",
        )
        for row, activity in enumerate(rows)
    )
    names = [str(activity) for activity in rows]
    return gantt_panel(
        tasks, names, "time (periods)", "activities by start time", limit=(makespan, "makespan")
    )


def _profile(data: Any, starts: NDArray[Any], resource: int, makespan: float) -> Panel:
    """Return the units in use period by period, below a line at the capacity."""
    ends = starts + data["durations"]
    change = np.zeros(int(ends.max()) + 1, np.int64)
    np.add.at(change, starts, data["requests"][:, resource])
    np.subtract.at(change, ends, data["requests"][:, resource])
    use, capacity = np.cumsum(change), int(data["capacities"][resource])
    right = 1.004 * max(makespan, 1)
    bound = np.array([[0.0, capacity], [right, capacity]])
    return Panel(
        (
            Line(step_line(np.arange(use.size), use), 0, f"units of R{resource + 1} in use", "units in use"),
            Line(bound, "limit", f"capacity {capacity}", "capacity", is_dashed=True),
        ),
        Axis(limits=(0.0, right)),
        Axis(f"R{resource + 1}", (0.0, max(1.1 * capacity, 1))),
        height=64.0,
    )
