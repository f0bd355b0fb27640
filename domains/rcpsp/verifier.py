"""Independent verifier: rebuilds the schedule from a list and checks every constraint on the start times.

It shares no code with the compiled decoder: it knows no periods. An activity starts when its predecessors
have finished or when one of the activities listed before it finishes, whichever time is the first at which it
fits; it fits if it does when it starts and whenever another one starts while it is under way.

A solution file is a schedule, activity by activity. Comment lines start with ``#`` (the instance, the meaning
of the columns). The first data line is ``activities makespan``; then follows one line ``job start finish``
per activity. As in the published instances jobs count from 1 and the first and the last are the dummies.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import State, Verdict
from dga2d.domains.core.encoding import permutation_violation


def verify_sequence(data: Mapping[str, Any], state: State) -> Verdict:
    """Check `state` against the arrays of a project; never raises on a broken one."""
    sequence: Any = getattr(state, "sequence", None)
    violation = permutation_violation(sequence, len(data["durations"]), "activity")
    if violation is not None:
        return Verdict(None, violation)
    place = {activity: i for i, activity in enumerate(sequence.tolist())}
    for u, v in data["edges"].tolist():
        if place[u] > place[v]:
            return Verdict(None, f"activity {v} stands before its predecessor {u}")
    starts = schedule(data, sequence)
    violation = schedule_violation(data, starts)
    if violation is not None:
        return Verdict(None, violation)
    return Verdict(float((starts + data["durations"]).max()), None)


def schedule(data: Mapping[str, Any], sequence: NDArray[Any]) -> NDArray[np.int64]:
    """Start times, int64 `(N,)`, that serial schedule generation gives a well-formed list."""
    durations, requests, capacities = (data[key].tolist() for key in ("durations", "requests", "capacities"))
    predecessors: list[list[int]] = [[] for _ in durations]
    for u, v in data["edges"].tolist():
        predecessors[v].append(u)
    starts: dict[int, int] = {}
    for activity in sequence.tolist():
        ready = max((starts[u] + durations[u] for u in predecessors[activity]), default=0)
        running = [
            (start, start + durations[u], requests[u])
            for u, start in starts.items()
            if start + durations[u] > max(start, ready)
        ]
        ends = sorted({ready, *(end for _, end, _ in running)})
        starts[activity] = next(
            time
            for time in ends
            if _fits(time, time + durations[activity], requests[activity], running, capacities)
        )
    return np.array([starts[activity] for activity in range(len(durations))], np.int64)


def _fits(
    start: int,
    end: int,
    request: list[int],
    running: list[tuple[int, int, list[int]]],
    capacities: list[int],
) -> bool:
    if start == end:
        return True
    beside = [other for other in running if other[0] < end and other[1] > start]
    moments = [start, *(other[0] for other in beside if other[0] > start)]
    for moment in moments:
        held = [other[2] for other in beside if other[0] <= moment < other[1]]
        for k, capacity in enumerate(capacities):
            if request[k] + sum(units[k] for units in held) > capacity:
                return False
    return True


def schedule_violation(data: Mapping[str, Any], starts: NDArray[np.int64]) -> str | None:
    """Return the first broken constraint of a schedule given by its start times; ``None`` if it is
    feasible.
    """
    durations, requests, capacities = data["durations"], data["requests"], data["capacities"]
    if starts.shape != durations.shape:
        return f"start times have shape {starts.shape}, expected {durations.shape}"
    if starts.min() < 0:
        return f"activity {int(starts.argmin())} starts before time 0"
    ends = starts + durations
    for u, v in data["edges"].tolist():
        if starts[v] < ends[u]:
            return f"activity {v} starts at {starts[v]}, before its predecessor {u} finishes at {ends[u]}"
    for moment in np.unique(starts).tolist():
        use = requests[(starts <= moment) & (moment < ends)].sum(axis=0, dtype=np.int64)
        over = np.flatnonzero(use > capacities)
        if over.size:
            k = int(over[0])
            return f"resource {k} is used {use[k]} times at time {moment}, its capacity is {capacities[k]}"
    return None


def project_schedule_text(key: str, data: Mapping[str, Any], state: State) -> str:
    """Return the text for a verified `state`; `data` holds the project's arrays."""
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


def verified_objective(environment: Mapping[str, Any], state: State) -> Verdict:
    """Return the makespan by the independent verifier, or the first broken constraint."""
    return verify_sequence(environment, state)


def solution_text(name: str, environment: Mapping[str, Any], state: State, objective: float) -> str:
    """Return the text of a verified solution; the objective follows from the schedule."""
    del objective
    return project_schedule_text(f"file/{name}", environment, state)
