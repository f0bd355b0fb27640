"""Gantt charts of shop schedules: one row per machine, one colour and pattern per job."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from numpy.typing import NDArray

from dga2d.domains.shared.categories import EDGE, look_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_LABELLED_BARS = 250
"""Bars carry their job's number in charts of up to so many."""


LABEL = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.75}
"""Paper behind a number, which patterns would make hard to read."""


class Bar(NamedTuple):
    """An operation on its machine; machine and job count from 0, times are in the instance's unit."""

    machine: int
    job: int
    start: int
    length: int


def shop_chart(
    title: str, machines: NDArray[Any], times: NDArray[Any], starts: NDArray[Any], n_machines: int
) -> Figure:
    """Draw the chart of a shop: machine, time and start of each operation, integers `(jobs, operations)`."""
    rows = zip(machines.tolist(), times.tolist(), starts.tolist(), strict=True)
    bars = (
        Bar(machine, job, start, time)
        for job, row in enumerate(rows)
        for machine, time, start in zip(*row, strict=True)
    )
    return gantt_chart(title, bars, n_machines)


def gantt_chart(title: str, bars: Iterable[Bar], n_machines: int) -> Figure:
    """Draw the chart; machine 0 is the topmost row."""
    from matplotlib.figure import Figure  # slow to import, and optional

    drawn = [bar for bar in bars if bar.length > 0]
    figure = Figure(figsize=(11.0, min(max(0.3 * n_machines + 1.2, 2.5), 9.0)), layout="constrained")
    axes = figure.subplots()
    axes.barh(
        [bar.machine for bar in drawn],
        [bar.length for bar in drawn],
        left=[bar.start for bar in drawn],
        height=0.85,
        color=[look_of(bar.job).colour for bar in drawn],
        hatch=[look_of(bar.job).pattern for bar in drawn],
        edgecolor=EDGE,
        linewidth=0.3,
    )
    if len(drawn) <= MAX_LABELLED_BARS:
        for bar in drawn:
            middle = bar.start + bar.length / 2
            axes.text(
                middle, bar.machine, str(bar.job), ha="center", va="center", size=6, clip_on=True, bbox=LABEL
            )
    axes.set_title(title)
    axes.set_xlabel("time")
    axes.set_ylabel("machine")
    axes.set_yticks(range(n_machines))
    axes.set_ylim(n_machines - 0.4, -0.6)
    axes.set_xlim(0, max((bar.start + bar.length for bar in drawn), default=1))
    axes.grid(axis="x", alpha=0.3)
    return figure
