"""Picture of a job shop schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dga2d.domains.core.contract import Instance, State, require_feasible
from dga2d.domains.jsp.verifier import schedule, verify_sequence
from dga2d.domains.shared.shops.gantt import shop_chart

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def picture(instance: Instance, state: State) -> Figure:
    """Gantt chart of the schedule.

    Raises
    ------
    InvalidSolutionError
        The state does not pass the verifier.
    """
    machines, times = instance.data["machines"], instance.data["times"]
    objective = require_feasible(verify_sequence(machines, times, state))
    starts = schedule(machines, times, state.sequence)
    title = f"{instance.key}: makespan {objective:g}"
    return shop_chart(title, machines, times, starts, times.shape[1])
