"""Schedule files.

The text starts with comment lines (``#``: the instance, the meaning of the rows), then a line
``jobs machines makespan``, then one line per job: the number of its operations and, for each in technological
order, ``machine start end``; machines and time count from 0. Row by row it is the counterpart of the instance
format, with the chosen machine in place of the eligible ones.
"""

from __future__ import annotations

from dga2d.domains.fjsp.verifier import Schedule


def schedule_text(key: str, n_machines: int, tasks: Schedule) -> str:
    """Text of the schedule file of instance `key`."""
    makespan = max(job[-1].end for job in tasks)
    lines = [
        f"# instance {key}",
        "# jobs machines makespan, then per job its number of operations and machine, start, end of each",
        f"{len(tasks)} {n_machines} {makespan}",
    ]
    for job in tasks:
        lines.append(" ".join(map(str, [len(job), *(number for task in job for number in task)])))
    return "\n".join(lines) + "\n"
