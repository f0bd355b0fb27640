"""Text of a line: which tasks each station performs.

Comment lines (``#``: the instance, the meaning of the rows), then ``tasks stations cycle_time``, then one
line per station, in the order of the line, with its tasks in an order in which they can be performed. Tasks
are counted from 1, as in `.alb` files.
"""

from __future__ import annotations


def line_text(key: str, cycle_time: int, stations: list[list[int]]) -> str:
    """The text of a solution file for `stations`, lists of tasks counted from 0."""
    n_tasks = sum(map(len, stations))
    lines = [
        f"# instance {key}",
        "# tasks stations cycle_time, then per station its tasks, counted from 1",
        f"{n_tasks} {len(stations)} {cycle_time}",
        *(" ".join(str(task + 1) for task in tasks) for tasks in stations),
    ]
    return "\n".join(lines) + "\n"
