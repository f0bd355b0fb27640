"""Text of a solution file: a schedule, activity by activity.

Comment lines start with ``#`` (the instance, the meaning of the columns). The first data line is
``activities makespan``; then follows one line ``job start finish`` per activity. As in the published
instances jobs count from 1 and the first and the last are the dummies.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dga2d.domains.contract import State
from dga2d.domains.rcpsp.verifier import schedule


def project_schedule_text(key: str, data: Mapping[str, Any], state: State) -> str:
    """Text for a verified `state`; `data` holds the project's arrays."""
    starts = schedule(data, state.sequence)
    finishes = starts + data["durations"]
    lines = [
        f"# instance {key}",
        "# activities makespan, then per activity: job (from 1) start finish",
        f"{starts.size} {finishes.max()}",
        *(
            f"{job} {start} {finish}"
            for job, (start, finish) in enumerate(
                zip(starts.tolist(), finishes.tolist(), strict=True), start=1
            )
        ),
    ]
    return "\n".join(lines) + "\n"
