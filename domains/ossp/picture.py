"""Picture of a open shop schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dga2d.domains.contract import Instance, State
from dga2d.domains.errors import InvalidSolutionError
from dga2d.domains.gantt import Bar, gantt_chart
from dga2d.domains.ossp.verifier import schedule, verify_sequence

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def picture(instance: Instance, state: State) -> Figure:
    """Gantt chart of the schedule.

    Raises
    ------
    InvalidSolutionError
        The state does not pass the verifier.
    """
    times = instance.data["times"]
    verdict = verify_sequence(times, state)
    if verdict.objective is None:
        raise InvalidSolutionError(verdict.violation)
    starts = schedule(times, state.sequence)
    n_jobs, n_machines = times.shape
    bars = (
        Bar(k, job, int(starts[job, k]), int(times[job, k]))
        for job in range(n_jobs)
        for k in range(n_machines)
    )
    return gantt_chart(f"{instance.key}: makespan {verdict.objective:g}", bars, n_machines)
