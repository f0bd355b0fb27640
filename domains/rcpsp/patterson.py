"""Parser of the Patterson format (``.rcp``), in which RanGen's and many other projects are published.

Whole numbers alone, broken into lines anywhere: the numbers of activities (dummies included) and resources;
the availability of each resource; then for each activity its duration, its request of each resource, the
number of its successors, and these, counted from 1. The first and the last activity are dummies.

References
----------
J. H. Patterson, A comparison of exact approaches for solving the multiple constrained resource, project
scheduling problem, Management Science 30(7), 1984.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.rcpsp.project import Project, ProjectError
from dga2d.domains.shared.integer_lines import integer_lines

MAX_ACTIVITIES = 10_000
LARGEST = 2**31 - 1
"""Largest amount that is read."""


def parse_patterson(text: str, path: Path | str) -> Project:
    """Parse the text of a file; `path` names it in errors.

    Raises
    ------
    InstanceFormatError
        Something else than whole numbers, too few or too many of them, a successor that is not another
        activity or is named twice, or what is no project (see :class:`Project`).
    """
    numbers = _Numbers(text, path)
    n_activities = numbers.take("the number of activities", 2, MAX_ACTIVITIES)
    n_resources = numbers.take("the number of resources", 1, MAX_ACTIVITIES)
    capacities = [numbers.take(f"the availability of resource {k + 1}") for k in range(n_resources)]
    durations, requests, lines = [], [], []
    edges: set[tuple[int, int]] = set()
    for activity in range(1, n_activities + 1):
        durations.append(numbers.take(f"the duration of activity {activity}"))
        lines.append(numbers.line)
        requests.append([numbers.take(f"request {k + 1} of activity {activity}") for k in range(n_resources)])
        for _ in range(numbers.take(f"the number of successors of activity {activity}", 0, n_activities)):
            successor = numbers.take(f"a successor of activity {activity}", 1, n_activities)
            if successor == activity or (activity - 1, successor - 1) in edges:
                raise numbers.error(
                    f"successor {successor} of activity {activity} is itself or is named twice"
                )
            edges.add((activity - 1, successor - 1))
    numbers.end()
    try:
        return Project(
            np.array(durations, np.int32),
            np.array(requests, np.int32).reshape(n_activities, n_resources),
            np.array(capacities, np.int32),
            np.array(sorted(edges), np.int32).reshape(-1, 2),
        )
    except ProjectError as error:
        line = None if error.activity is None else lines[error.activity]
        raise InstanceFormatError(path, line, error.reason) from error


class _Numbers:
    """The numbers of a file, taken one after another."""

    def __init__(self, text: str, path: Path | str) -> None:
        self.path = path
        self.line = 0
        """Line of the number taken last, from 1."""
        self._numbers = [(line, value) for line, values in integer_lines(text, path) for value in values]
        self._next = 0

    def take(self, what: str, low: int = 0, high: int = LARGEST) -> int:
        if self._next == len(self._numbers):
            raise self.error(f"the file ends where {what} should be")
        self.line, value = self._numbers[self._next]
        self._next += 1
        if not low <= value <= high:
            raise self.error(f"expected {what} in {low}..{high}, got {value}")
        return value

    def error(self, reason: str) -> InstanceFormatError:
        return InstanceFormatError(self.path, self.line or None, reason)

    def end(self) -> None:
        if self._next < len(self._numbers):
            self.line = self._numbers[self._next][0]
            raise self.error("numbers after the last activity")
