"""What the verifiers of the shop problems have in common; no decoder takes anything from here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

from numpy.typing import NDArray

from dga2d.domains.core.contract import State, Verdict

Interval = tuple[int, int, int]
"""Start, end, and the number of the job or machine that the time belongs to."""


def schedule_verdict(
    tables: tuple[NDArray[Any], ...],
    state: State,
    violation: str | None,
    schedule: Callable[..., NDArray[Any]],
    schedule_violation: Callable[..., str | None],
) -> Verdict:
    """Return the makespan of the schedule that a sequence stands for, or its first broken constraint.

    Parameters
    ----------
    tables
        The instance: integers `(jobs, operations)`; the last table holds the times.
    violation
        What is wrong with the sequence itself; ``None`` if it is well-formed.
    schedule
        Returns the start times `(jobs, operations)` from tables and sequence.
    schedule_violation
        Returns the first broken constraint, or ``None``, from tables and start times.
    """
    if violation is not None:
        return Verdict(None, violation)
    starts = schedule(*tables, state.sequence)
    violation = schedule_violation(*tables, starts)
    if violation is not None:
        return Verdict(None, violation)
    return Verdict(float((starts + tables[-1]).max()), None)


def start_violation(times: NDArray[Any], starts: NDArray[Any]) -> str | None:
    """Return why `starts` are no start times for operations of those `times`; ``None`` if they may be."""
    if starts.shape != times.shape:
        return f"start times have shape {starts.shape}, expected {times.shape}"
    if starts.min() < 0:
        return "an operation starts before time 0"
    return None


def overlap_violation(
    places: Iterable[tuple[int, Iterable[Interval]]], owners: str = "jobs", place: str = "machine"
) -> str | None:
    """Return in words the first two intervals that overlap at one of the numbered `places`, or ``None``."""
    for number, intervals in places:
        for (_, end, first), (start, _, second) in pairwise(sorted(intervals)):
            if start < end:
                return f"{owners} {first} and {second} overlap on {place} {number}"
    return None
