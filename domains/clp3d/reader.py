"""Readers of container loading instances: the OR-Library's thpack format and the program's own JSON.

thpack, several problems to a file: the number of problems; per problem its number and a seed, the container's
length, width and height, the number of box types, then per type: index, length, flag, width, flag, height,
flag, quantity, where flag 1 permits that side to stand vertically. JSON, one problem:
``{"container": [L, W, H], "boxes": [{"sides": [a, b, c], "upright": [0, 1, 1], "quantity": q}, ...]}``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.core.instance_data import ReadOnlyArrays
from dga2d.domains.shared.integer_lines import integer_lines, json_object, read_text
from dga2d.domains.shared.packing.geometry import MAX_ITEMS, side_fault

SUFFIXES = ("", ".txt", ".clp", ".json")
"""Names an instance file may end in."""
COLUMNS = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
"""Orientations: which side lies along x, y, z."""


class BoxType(NamedTuple):
    """A type of boxes."""

    sides: tuple[int, int, int]
    upright: tuple[int, int, int]
    """1 where that side may stand vertically."""
    quantity: int


@dataclass(frozen=True)
class ContainerData(ReadOnlyArrays):
    """Container, item sides, permitted orientations: read-only int32 `(3,)`, `(n, 3)`, `(n, 6)`."""

    bin_size: NDArray[np.int32]
    item_sizes: NDArray[np.int32]
    orientation_allowed: NDArray[np.int32]
    """1 where permitted; columns as in `COLUMNS`."""


@dataclass(frozen=True)
class Problem:
    """One problem of a file."""

    number: int
    seed: int
    types: tuple[BoxType, ...]
    data: ContainerData


def container_data(container: Sequence[int], types: Sequence[BoxType]) -> ContainerData:
    """Return the items of all types, type by type."""
    rows = [box for box in types for _ in range(box.quantity)]
    allowed = [[box.upright[column[2]] for column in COLUMNS] for box in rows]
    return ContainerData(
        np.array(container, np.int32),
        np.array([box.sides for box in rows], np.int32),
        np.array(allowed, np.int32),
    )


def read_problems(path: Path) -> tuple[Problem, ...]:
    """Return all problems of a file of either format; ``.json`` marks the second.

    Raises
    ------
    InstanceFormatError
        The file is missing, is not text, holds something else than integers (or than the object above), has
        wrong counts, is truncated or goes on after the last problem; problems are not numbered upwards; a
        type's index, side, flag or quantity is out of range, or no side may stand vertically.
    """
    text = read_text(path)
    return (parse_json(text, path),) if path.suffix == ".json" else parse_problems(text, path)


def parse_problems(text: str, path: Path | str) -> tuple[Problem, ...]:
    """Parse the text of a thpack file; `path` names it in errors. See :func:`read_problems`."""
    lines = integer_lines(text, path)
    (count,) = _numbers(path, lines, 1, "the number of problems")[1]
    problems: list[Problem] = []
    for _ in range(count):
        line, (number, seed) = _numbers(path, lines, 2, "a problem's number and seed")
        if number < 1 or (problems and number <= problems[-1].number):
            raise InstanceFormatError(path, line, f"problem {number} is out of turn")
        line, container = _numbers(path, lines, 3, "the container's sides")
        _check_sides(path, line, container)
        line, (n_types,) = _numbers(path, lines, 1, "the number of box types")
        types = tuple(_type(path, lines, index) for index in range(1, n_types + 1))
        problems.append(Problem(number, seed, types, _items(path, line, container, types)))
    for line, _values in lines:
        raise InstanceFormatError(path, line, f"data after the last of {count} problems")
    if not problems:
        raise InstanceFormatError(path, None, "no problem in the file")
    return tuple(problems)


def _numbers(
    path: Path | str, lines: Iterator[tuple[int, list[int]]], count: int, what: str
) -> tuple[int, list[int]]:
    for line, values in lines:
        if len(values) != count:
            raise InstanceFormatError(path, line, f"expected {what} ({count} numbers), got {len(values)}")
        return line, values
    raise InstanceFormatError(path, None, f"the file ends where {what} should stand")


def _type(path: Path | str, lines: Iterator[tuple[int, list[int]]], index: int) -> BoxType:
    line, values = _numbers(path, lines, 8, "a box type")
    if values[0] != index:
        raise InstanceFormatError(path, line, f"expected box type {index}, got {values[0]}")
    return _checked_type(path, line, values[1:6:2], values[2:7:2], values[7])


def parse_json(text: str, path: Path | str) -> Problem:
    """Parse the JSON format; `path` names it in errors. See :func:`read_problems`."""
    table = json_object(text, path, "container", "boxes")
    _check_sides(path, None, table["container"])
    if not isinstance(table["boxes"], list):
        raise InstanceFormatError(path, None, "'boxes' is not a list")
    types = []
    for entry in table["boxes"]:
        if not isinstance(entry, dict) or set(entry) != {"sides", "upright", "quantity"}:
            raise InstanceFormatError(path, None, "a box without 'sides', 'upright' and 'quantity' alone")
        types.append(_checked_type(path, None, entry["sides"], entry["upright"], entry["quantity"]))
    return Problem(1, 0, tuple(types), _items(path, None, table["container"], types))


def _checked_type(path: Path | str, line: int | None, sides: Any, upright: Any, quantity: Any) -> BoxType:
    _check_sides(path, line, sides)
    if not (isinstance(upright, list) and len(upright) == 3 and all(type(u) is int for u in upright)):
        raise InstanceFormatError(path, line, "expected three flags")
    if not set(upright) <= {0, 1} or not any(upright):
        raise InstanceFormatError(path, line, "flags are 0 or 1, and at least one is 1")
    if type(quantity) is not int or not 1 <= quantity <= MAX_ITEMS:
        raise InstanceFormatError(path, line, f"a quantity is not in 1..{MAX_ITEMS}")
    return BoxType((sides[0], sides[1], sides[2]), (upright[0], upright[1], upright[2]), quantity)


def _check_sides(path: Path | str, line: int | None, sides: Any) -> None:
    fault = side_fault(sides, None)
    if fault is not None:
        raise InstanceFormatError(path, line, fault)


def _items(
    path: Path | str, line: int | None, container: Sequence[int], types: Sequence[BoxType]
) -> ContainerData:
    if not 1 <= sum(box.quantity for box in types) <= MAX_ITEMS:
        raise InstanceFormatError(path, line, f"the number of boxes is not in 1..{MAX_ITEMS}")
    return container_data(container, types)


def operator_environment(data: ContainerData) -> dict[str, Any]:
    """Return the card's keys for an instance; fresh, writable arrays."""
    volumes = data.item_sizes.prod(axis=1, dtype=np.int64)
    fill = min(100.0, 100.0 * int(volumes.sum()) / int(data.bin_size.prod(dtype=np.int64)))
    return {
        "num_activities": len(data.item_sizes),
        "bin_size": np.array(data.bin_size, dtype=np.int32),
        "item_sizes": np.array(data.item_sizes, dtype=np.int32),
        "item_volumes": volumes,
        "orientation_allowed": np.array(data.orientation_allowed, dtype=np.int32),
        "fill_upper_bound": fill,
        "upper_bound": 100.0,
        "lower_bound": 100.0 - fill,
    }


def environment_of_file(path: Path) -> dict[str, Any]:
    """Return what operators see of the only problem in a file; raises InstanceFormatError."""
    problems = read_problems(path)
    if len(problems) != 1:
        raise InstanceFormatError(path, None, f"expected one problem, the file has {len(problems)}")
    return operator_environment(problems[0].data)
