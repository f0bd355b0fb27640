"""Gantt chart of a schedule: a row per machine, a colour and pattern per job."""

from __future__ import annotations

from matplotlib.figure import Figure

from dga2d.domains.core.contract import Instance, State, require_feasible
from dga2d.domains.fjsp.verifier import choices_of, schedule, verify_state
from dga2d.domains.shared.categories import EDGE, look_of

MAX_LABELLED = 120
"""Operations up to which each bar carries ``job.operation``."""
MAX_LEGEND = 20
"""Jobs up to which the colours are explained in a legend."""


def picture(instance: Instance, state: State) -> Figure:
    """Draw the schedule that `state` stands for.

    Raises
    ------
    InvalidSolutionError
        The state does not pass the verifier.
    """
    shop = instance.data["shop"]
    objective = require_feasible(verify_state(shop, state))
    tasks = schedule(choices_of(shop), state)
    figure = Figure(figsize=(12.0, min(max(2.5, 0.35 * shop.n_machines + 1.5), 16.0)), layout="constrained")
    axes = figure.add_subplot()
    is_labelled = sum(map(len, tasks)) <= MAX_LABELLED
    for job, row in enumerate(tasks):
        axes.barh(
            [task.machine for task in row],
            [task.end - task.start for task in row],
            left=[task.start for task in row],
            height=0.8,
            color=look_of(job).colour,
            hatch=look_of(job).pattern,
            edgecolor=EDGE,
            linewidth=0.3,
            label=f"job {job}",
        )
        for k, task in enumerate(row if is_labelled else ()):
            middle = (task.start + task.end) / 2
            axes.text(middle, task.machine, f"{job}.{k}", ha="center", va="center", fontsize=6)
    axes.axvline(objective, color="black", linestyle="--", linewidth=1.0)
    axes.set_ylim(shop.n_machines - 0.5, -0.5)
    axes.set_yticks(range(0, shop.n_machines, max(1, shop.n_machines // 30)))
    axes.set_xlabel("time")
    axes.set_ylabel("machine")
    axes.set_title(f"{instance.key}: makespan {objective:.0f}")
    if len(tasks) <= MAX_LEGEND:
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=7)
    return figure
