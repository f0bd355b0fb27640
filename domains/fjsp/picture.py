"""Gantt chart of a schedule: a row per machine, a colour and pattern per job."""

from __future__ import annotations

from dga2d.domains.core.contract import Instance, State, require_feasible
from dga2d.domains.drawing import Drawing, Task, gantt_panel
from dga2d.domains.fjsp.verifier import choices_of, schedule, verify_state


def picture(instance: Instance, state: State) -> Drawing:
    """Draw the schedule that `state` stands for; everything counts from 0, as in the files."""
    shop = instance.data["shop"]
    objective = require_feasible(verify_state(shop, state))
    jobs = schedule(choices_of(shop), state)
    tasks = (
        Task(
            task.machine,
            task.start,
            task.end,
            job,
            f"job {job}, operation {k}, machine {task.machine}: {task.start} to {task.end}",
            f"{job}.{k}",
        )
        for job, row in enumerate(jobs)
        for k, task in enumerate(row)
    )
    chart = gantt_panel(
        tasks,
        [str(machine) for machine in range(shop.n_machines)],
        "time",
        "machine",
        limit=(objective, "makespan"),
        categories=[f"job {job}" for job in range(len(jobs))],
    )
    return Drawing(f"{instance.key}: makespan {objective:.0f}", ((chart,),))
