"""A line as a picture: one bar per station, made of the tasks it performs."""

from __future__ import annotations

from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dga2d.domains.core.contract import Instance, State, require_feasible
from dga2d.domains.salbp1.verifier import line_of, verify_sequence

MAX_LABELLED_STATIONS: Final = 40
"""Tasks are written into the bars of lines up to this length."""
SMALLEST_LABELLED_SHARE: Final = 0.04
"""Tasks shorter than this share of the cycle time stay without their number."""
COLOURS: Final = ("#4477aa", "#66ccee", "#228833", "#ccbb44", "#ee6677", "#aa3377")


def picture(instance: Instance, state: State) -> Figure:
    """Draw the station loads against the cycle time; tasks are counted from 1 as in `.alb` files.

    Raises
    ------
    InvalidSolutionError
        The state does not pass the verifier.
    """
    require_feasible(verify_sequence(**instance.data, state=state))
    stations = line_of(**instance.data, sequence=state.sequence)
    figure = Figure(figsize=(min(16.0, max(6.0, 2.0 + 0.35 * len(stations))), 5.0), layout="constrained")
    axes = figure.add_subplot()
    _draw_stations(axes, instance, stations)
    cycle_time = instance.data["cycle_time"]
    axes.axhline(cycle_time, color="black", linewidth=1.0, linestyle="--", label=f"cycle time {cycle_time}")
    axes.set_xlabel("station")
    axes.set_ylabel("load (time units)")
    axes.set_xlim(0.4, len(stations) + 0.6)
    axes.set_ylim(0, 1.12 * cycle_time)
    axes.legend(loc="upper right", frameon=False)
    efficiency = int(instance.data["times"].sum(dtype="int64")) / (len(stations) * cycle_time)
    axes.set_title(f"{instance.key}: {len(stations)} stations, line efficiency {efficiency:.1%}")
    return figure


def _draw_stations(axes: Axes, instance: Instance, stations: list[list[int]]) -> None:
    """Draw stacked bars, colours by task; labels where they can be read."""
    times = instance.data["times"].tolist()
    depth = max(map(len, stations))
    loads = [0] * len(stations)
    for layer in range(depth):
        places = [place for place, tasks in enumerate(stations) if layer < len(tasks)]
        tasks = [stations[place][layer] for place in places]
        heights = [times[task] for task in tasks]
        axes.bar(
            [place + 1 for place in places],
            heights,
            bottom=[loads[place] for place in places],
            color=[COLOURS[task % len(COLOURS)] for task in tasks],
            width=0.9,
            edgecolor="white",
            linewidth=0.5,
        )
        for place, task, height in zip(places, tasks, heights, strict=True):
            is_readable = height >= SMALLEST_LABELLED_SHARE * instance.data["cycle_time"]
            if is_readable and len(stations) <= MAX_LABELLED_STATIONS:
                middle = loads[place] + height / 2
                axes.text(place + 1, middle, str(task + 1), ha="center", va="center", size=7)
            loads[place] += height
