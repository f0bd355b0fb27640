"""A line as a picture: a row per station with the tasks it performs, against the cycle time."""

from __future__ import annotations

from itertools import accumulate

from dga2d.domains.core.contract import Instance, State, require_feasible
from dga2d.domains.drawing import Drawing, Task, gantt_panel
from dga2d.domains.salbp1.verifier import line_of, verify_sequence


def picture(instance: Instance, state: State) -> Drawing:
    """Draw the station loads; stations and tasks are counted from 1 as in `.alb` files."""
    require_feasible(verify_sequence(**instance.data, state=state))
    stations = line_of(**instance.data, sequence=state.sequence)
    times, cycle_time = instance.data["times"].tolist(), instance.data["cycle_time"]
    tasks = (
        Task(
            row,
            end - times[task],
            end,
            task,
            f"task {task + 1}, station {row + 1}: {times[task]} time units",
            str(task + 1),
        )
        for row, members in enumerate(stations)
        for task, end in zip(members, accumulate(times[task] for task in members), strict=True)
    )
    chart = gantt_panel(
        tasks,
        [str(row) for row in range(1, len(stations) + 1)],
        "load (time units)",
        "station",
        limit=(cycle_time, "cycle time"),
    )
    efficiency = sum(times) / (len(stations) * cycle_time)
    title = f"{instance.key}: {len(stations)} stations, line efficiency {efficiency:.1%}"
    return Drawing(title, ((chart,),))
