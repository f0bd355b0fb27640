"""Reader of PSPLIB's single-mode format (``.sm``); ``.rcp`` files go to :mod:`dga2d.domains.rcpsp.patterson`.

Lines of ``*`` separate the sections: origin of the data; numbers of projects, jobs and resources, and the
horizon; project information; ``PRECEDENCE RELATIONS`` (job, modes, number of successors, successors; jobs
count from 1, the first and the last are dummies); ``REQUESTS/DURATIONS`` (job, mode, duration, request of
each resource); ``RESOURCEAVAILABILITIES``. One project, one mode per job, renewable resources only.

References
----------
R. Kolisch, A. Sprecher, PSPLIB - a project scheduling problem library, European Journal of Operational
Research 96(1), 1997.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.rcpsp.patterson import LARGEST, MAX_ACTIVITIES, parse_patterson
from dga2d.domains.rcpsp.project import Project, ProjectError, critical_path_length
from dga2d.domains.shared.integer_lines import UNUSUAL_BLANKS, integer, read_text

SUFFIXES = (".sm", ".rcp")
"""Names an instance file may end in."""


def read_instance(path: Path) -> Project:
    """Read one file of the format that its ending names.

    Raises
    ------
    InstanceFormatError
        The file is missing, is not text, is truncated or goes on after its end, holds something else than
        the format's words and integers, has other counts than it announces, more than one mode or a
        non-renewable resource, or describes no project (see :class:`Project`).
    """
    parse = parse_patterson if path.suffix.lower() == ".rcp" else parse_instance
    return parse(read_text(path), path)


def parse_instance(text: str, path: Path | str) -> Project:
    """Parse the text of a file; `path` names it in errors. See :func:`read_instance`."""
    lines = _Lines(text, path)
    n_jobs, n_resources, horizon = _header(lines)
    shortest = _project_information(lines, n_jobs)
    edges, first_line = _precedence_relations(lines, n_jobs)
    table = _requests_and_durations(lines, n_jobs, n_resources)
    capacities = _availabilities(lines, n_resources)
    lines.end()
    try:
        project = Project(
            np.array([row[0] for row in table], np.int32),
            np.array([row[1:] for row in table], np.int32),
            np.array(capacities, np.int32),
            np.array(sorted(edges), np.int32).reshape(-1, 2),
        )
    except ProjectError as error:
        line = None if error.activity is None else first_line + error.activity
        raise InstanceFormatError(path, line, error.reason) from error
    critical_path = critical_path_length(project.durations, project.edges)
    if critical_path != shortest:
        raise InstanceFormatError(path, None, f"MPM-Time is {shortest}, the longest path {critical_path}")
    if horizon < critical_path:
        raise InstanceFormatError(path, None, f"horizon {horizon} is below the longest path {critical_path}")
    return project


@dataclass
class _Lines:
    """The lines of a file, read one after another."""

    text: str
    path: Path | str

    def __post_init__(self) -> None:
        self.number = 0
        """Line read last, from 1."""
        self._lines = [line.rstrip("\r") for line in self.text.split("\n")]

    def next(self) -> str:
        """Return the next line, without blanks at its ends; blank lines are skipped."""
        while self.number < len(self._lines):
            line = self._lines[self.number]
            self.number += 1
            if set(line) & UNUSUAL_BLANKS:
                raise self.error("other blanks than space and tab")
            if line.strip():
                return line.strip()
        raise InstanceFormatError(self.path, len(self._lines), "the file ends too early")

    def error(self, reason: str) -> InstanceFormatError:
        return InstanceFormatError(self.path, self.number, reason)

    def expect(self, *titles: str) -> None:
        """Pass over lines that read as `titles`, whatever blanks lie between their words."""
        for title in titles:
            line = self.next()
            if line.split() != title.split():
                raise self.error(f"expected {title!r}, got {line[:60]!r}")

    def rule(self, sign: str = "*") -> None:
        """Pass over a line of stars or dashes."""
        line = self.next()
        if len(line) < 4 or set(line) != {sign}:
            raise self.error(f"expected a line of {sign!r}, got {line[:60]!r}")

    def entry(self, name: str, unit: str = "") -> int:
        """Return the number of a line ``name : number unit``."""
        line = self.next()
        before, colon, after = line.partition(":")
        words = after.split()
        if not colon or before.split() != name.split() or words[1:] != unit.split() or not words:
            raise self.error(f"expected '{name} : number {unit}'".rstrip() + f", got {line[:60]!r}")
        return self.amount(words[0])

    def amount(self, word: str) -> int:
        value = integer(self.path, self.number, word)
        if not 0 <= value <= LARGEST:
            raise self.error(f"expected a number in 0..{LARGEST}, got {value}")
        return value

    def amounts(self) -> list[int]:
        return [self.amount(word) for word in self.next().split()]

    def end(self) -> None:
        for number, line in enumerate(self._lines[self.number :], start=self.number + 1):
            if line.strip():
                raise InstanceFormatError(self.path, number, "data after the end")


def _header(lines: _Lines) -> tuple[int, int, int]:
    """Return the numbers of jobs (dummies included) and resources, and the horizon."""
    lines.rule()
    for name in ("file with basedata", "initial value random generator"):
        line = lines.next()
        if not re.match(rf"{name}\s*:", line):
            raise lines.error(f"expected '{name} : ...', got {line[:60]!r}")
    lines.rule()
    if lines.entry("projects") != 1:
        raise lines.error("expected one project")
    n_jobs = lines.entry("jobs (incl. supersource/sink )")
    if not 2 <= n_jobs <= MAX_ACTIVITIES:
        raise lines.error(f"expected 2..{MAX_ACTIVITIES} jobs, got {n_jobs}")
    horizon = lines.entry("horizon")
    lines.expect("RESOURCES")
    n_resources = lines.entry("- renewable", "R")
    if not 1 <= n_resources <= MAX_ACTIVITIES:
        raise lines.error(f"expected 1..{MAX_ACTIVITIES} renewable resources, got {n_resources}")
    for kind, letter in (("nonrenewable", "N"), ("doubly constrained", "D")):
        if lines.entry(f"- {kind}", letter) != 0:
            raise lines.error(f"{kind} resources are not part of this problem")
    lines.rule()
    return n_jobs, n_resources, horizon


def _project_information(lines: _Lines, n_jobs: int) -> int:
    """Return the MPM-Time: the length of the longest path."""
    lines.expect("PROJECT INFORMATION:", "pronr. #jobs rel.date duedate tardcost MPM-Time")
    row = lines.amounts()
    if len(row) != 6:
        raise lines.error(f"expected 6 numbers, got {len(row)}")
    if row[:3] != [1, n_jobs - 2, 0]:
        raise lines.error(f"expected project 1 with {n_jobs - 2} jobs and release date 0, got {row[:3]}")
    lines.rule()
    return row[5]


def _precedence_relations(lines: _Lines, n_jobs: int) -> tuple[list[tuple[int, int]], int]:
    """Return the edges between activities, counted from 0, and the line of the first activity."""
    lines.expect("PRECEDENCE RELATIONS:", "jobnr. #modes #successors successors")
    edges, first_line = [], 0
    for job in range(1, n_jobs + 1):
        row = lines.amounts()
        first_line = first_line or lines.number
        if len(row) < 3 or row[0] != job:
            raise lines.error(f"expected job {job}, its modes and successors")
        if row[1] != 1:
            raise lines.error(f"expected one mode, got {row[1]}")
        successors = row[3:]
        if len(successors) != row[2]:
            raise lines.error(f"expected {row[2]} successors, got {len(successors)}")
        if len(set(successors)) < len(successors):
            raise lines.error("a successor is named twice")
        for successor in successors:
            if not 1 <= successor <= n_jobs or successor == job:
                raise lines.error(f"successor {successor} is not another job in 1..{n_jobs}")
            edges.append((job - 1, successor - 1))
    lines.rule()
    return edges, first_line


def _requests_and_durations(lines: _Lines, n_jobs: int, n_resources: int) -> list[list[int]]:
    """Return the duration and requests of each job."""
    names = " ".join(f"R {k}" for k in range(1, n_resources + 1))
    lines.expect("REQUESTS/DURATIONS:", f"jobnr. mode duration {names}")
    lines.rule("-")
    table = []
    for job in range(1, n_jobs + 1):
        row = lines.amounts()
        if len(row) != 3 + n_resources:
            raise lines.error(f"expected {3 + n_resources} numbers, got {len(row)}")
        if row[:2] != [job, 1]:
            raise lines.error(f"expected job {job} in mode 1, got {row[:2]}")
        table.append(row[2:])
    lines.rule()
    return table


def _availabilities(lines: _Lines, n_resources: int) -> list[int]:
    lines.expect("RESOURCEAVAILABILITIES:", " ".join(f"R {k}" for k in range(1, n_resources + 1)))
    row = lines.amounts()
    if len(row) != n_resources:
        raise lines.error(f"expected {n_resources} numbers, got {len(row)}")
    lines.rule()
    return row


def operator_environment(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the card's keys for the arrays of a project (see :class:`~dga2d.domains.rcpsp.project.Project`);
    fresh, writable copies.
    """
    durations = np.array(data["durations"], dtype=np.int32)
    capacities = np.array(data["capacities"], dtype=np.int32)
    edges = np.array(data["edges"], dtype=np.int32)
    adjacency = np.zeros((durations.size, durations.size), np.int8)
    adjacency[edges[:, 0], edges[:, 1]] = 1
    return {
        "num_activities": int(durations.size),
        "num_resources": int(capacities.size),
        "durations": durations,
        "requests": np.array(data["requests"], dtype=np.int32),
        "capacities": capacities,
        "adj_matrix": adjacency,
        "edges": edges,
        "upper_bound": int(durations.sum(dtype=np.int64)),
    }


def environment_of_file(path: Path) -> dict[str, Any]:
    """Return what operators see of the instance in a file; raises InstanceFormatError."""
    return operator_environment(read_instance(path).data())
