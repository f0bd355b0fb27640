"""Reader and writer of the `.alb` format.

Sections in this order, each headed by its name in angle brackets; blank lines may stand anywhere between::

    <number of tasks>         n
    <cycle time>              C
    <order strength>          a number in 0..1 with a point or a comma, for information
    <task times>              n lines "task time", tasks from 1 in any order
    <precedence relations>    lines "predecessor,successor"
    <end>

References
----------
A. Otto, C. Otto, A. Scholl, Systematic data generation and test design for solution algorithms on the example
of SALBPGen for assembly line balancing, European Journal of Operational Research 228, 2013.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.salbp1.line import LineData, order_strength, tasks_on_cycles
from dga2d.domains.shared.integer_lines import UNUSUAL_BLANKS, integer, read_text

SUFFIXES = (".alb",)
"""Names an instance file may end in."""
MAX_TASKS = 10_000
MAX_CYCLE_TIME = 1_000_000_000
SECTIONS: Final = (
    "number of tasks",
    "cycle time",
    "order strength",
    "task times",
    "precedence relations",
    "end",
)
_STRENGTH = re.compile(r"(0|1)([.,][0-9]{1,12})?")


class TextLine(NamedTuple):
    """A line that is not blank: number from 1, and text without blanks around it."""

    number: int
    text: str


def read_instance(path: Path) -> LineData:
    """Read one `.alb` file.

    Raises
    ------
    InstanceFormatError
        The file is missing or is not text; a section is missing, unknown, out of place or holds the wrong
        number of lines; something is not an integer in its range; a task is listed twice; a time exceeds the
        cycle time; a relation is repeated or names no task; the relations have a cycle; text follows the end.
    """
    return parse_instance(read_text(path), path)


def parse_instance(text: str, path: Path | str) -> LineData:
    """Parse the text of a file; `path` names it in errors. See :func:`read_instance`."""
    sections = _sections(path, text)
    n_tasks = _single(path, sections["number of tasks"], 1, MAX_TASKS)
    cycle_time = _single(path, sections["cycle time"], 1, MAX_CYCLE_TIME)
    strength = _only_line(path, sections["order strength"])
    if not _STRENGTH.fullmatch(strength.text) or float(strength.text.replace(",", ".")) > 1.0:
        raise InstanceFormatError(
            path, strength.number, f"expected a number in 0..1, got {strength.text[:40]!r}"
        )
    times = _times(path, sections["task times"], n_tasks, cycle_time)
    return LineData(cycle_time, times, _relations(path, sections["precedence relations"], n_tasks))


def _lines(path: Path | str, text: str) -> Iterator[TextLine]:
    for number, line in enumerate(text.split("\n"), start=1):
        if set(line.rstrip("\r")) & UNUSUAL_BLANKS:
            raise InstanceFormatError(path, number, "holds other blanks than space and tab")
        if line.strip():
            yield TextLine(number, line.strip())


def _sections(path: Path | str, text: str) -> dict[str, list[TextLine]]:
    """Return the lines of each section behind its heading, which comes first."""
    sections: dict[str, list[TextLine]] = {}
    current = None
    for line in _lines(path, text):
        if line.text.startswith("<"):
            wanted = SECTIONS[len(sections)] if len(sections) < len(SECTIONS) else None
            if wanted is None or line.text != f"<{wanted}>":
                expected = f"<{wanted}>" if wanted else "nothing more"
                raise InstanceFormatError(path, line.number, f"expected {expected}, got {line.text[:40]!r}")
            current = sections[wanted] = [line]
        elif current is None:
            raise InstanceFormatError(path, line.number, f"expected <{SECTIONS[0]}>, got {line.text[:40]!r}")
        else:
            current.append(line)
    if len(sections) < len(SECTIONS):
        raise InstanceFormatError(path, None, f"<{SECTIONS[len(sections)]}> is missing")
    if len(sections["end"]) > 1:
        raise InstanceFormatError(path, sections["end"][1].number, "text after <end>")
    return sections


def _only_line(path: Path | str, section: list[TextLine]) -> TextLine:
    heading, *lines = section
    if not lines:
        raise InstanceFormatError(path, heading.number, f"nothing follows {heading.text}")
    if len(lines) > 1:
        raise InstanceFormatError(path, lines[1].number, f"a second line in {heading.text}")
    return lines[0]


def _single(path: Path | str, section: list[TextLine], low: int, high: int) -> int:
    number, text = _only_line(path, section)
    return _number_between(path, number, text, low, high)


def _number_between(path: Path | str, number: int, text: str, low: int, high: int) -> int:
    value = integer(path, number, text)
    if not low <= value <= high:
        raise InstanceFormatError(path, number, f"expected a number in {low}..{high}, got {value}")
    return value


def _times(path: Path | str, section: list[TextLine], n_tasks: int, cycle_time: int) -> NDArray[np.int32]:
    times = np.full(n_tasks, -1, np.int32)
    for number, text in section[1:]:
        tokens = text.split()
        if len(tokens) != 2:
            raise InstanceFormatError(path, number, f"expected 'task time', got {text[:40]!r}")
        task = _number_between(path, number, tokens[0], 1, n_tasks)
        if times[task - 1] >= 0:
            raise InstanceFormatError(path, number, f"task {task} has two times")
        times[task - 1] = _number_between(path, number, tokens[1], 0, cycle_time)
    missing = np.flatnonzero(times < 0)
    if missing.size:
        raise InstanceFormatError(path, section[-1].number, f"no time for task {int(missing[0]) + 1}")
    return times


def _relations(path: Path | str, section: list[TextLine], n_tasks: int) -> NDArray[np.int32]:
    relations: dict[tuple[int, int], int] = {}
    for number, text in section[1:]:
        tokens = [token.strip() for token in text.split(",")]
        if len(tokens) != 2:
            raise InstanceFormatError(path, number, f"expected 'predecessor,successor', got {text[:40]!r}")
        before, after = (_number_between(path, number, token, 1, n_tasks) for token in tokens)
        if (before, after) in relations:
            raise InstanceFormatError(path, number, f"relation {before},{after} is given twice")
        relations[before, after] = number
    edges = np.array(list(relations), dtype=np.int32).reshape(-1, 2) - np.int32(1)
    looped = tasks_on_cycles(n_tasks, edges)
    if looped:
        line = next(line for (_, after), line in relations.items() if after - 1 in looped)
        raise InstanceFormatError(path, line, f"the relations of task {looped[0] + 1} lead into a cycle")
    return edges


def instance_text(data: LineData) -> str:
    """Return the text of an `.alb` file, which :func:`parse_instance` reads back."""
    contents: tuple[list[str], ...] = (
        [str(len(data.times))],
        [str(data.cycle_time)],
        [f"{order_strength(len(data.times), data.edges):.3f}"],
        [f"{task} {time}" for task, time in enumerate(data.times.tolist(), start=1)],
        [f"{before + 1},{after + 1}" for before, after in data.edges.tolist()],
        [],
    )
    parts = (
        "\n".join([f"<{heading}>", *lines, ""]) for heading, lines in zip(SECTIONS, contents, strict=True)
    )
    return "\n".join(parts)


def operator_environment(
    cycle_time: int, times: NDArray[np.int32], edges: NDArray[np.int32]
) -> dict[str, Any]:
    """Return the card's keys; fresh, writable copies of `times` `(n,)` and `edges` `(m, 2)`."""
    adjacency = np.zeros((len(times), len(times)), np.uint8)
    adjacency[edges[:, 0], edges[:, 1]] = 1
    total = int(times.sum(dtype=np.int64))
    return {
        "num_tasks": len(times),
        "cycle_time": int(cycle_time),
        "times": np.array(times, dtype=np.int32),
        "adj_matrix": adjacency,
        "edges": np.array(edges, dtype=np.int32),
        "upper_bound": -(-total // int(cycle_time)),
        "total_time": total,
    }


def environment_of_file(path: Path) -> dict[str, Any]:
    """Return what operators see of the instance in a file; raises InstanceFormatError."""
    data = read_instance(path)
    return operator_environment(data.cycle_time, data.times, data.edges)
