"""Instance files: a line ``n capacity``, then n lines ``value weight``; ``#`` begins a comment line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.shared.integer_lines import integer_lines, read_text

MAX_NUMBER = 10**6


@dataclass(frozen=True)
class Items:
    """What there is to pack. The arrays are read-only."""

    capacity: int
    values: NDArray[np.int32]
    """int32 `(n,)`, at least 1."""
    weights: NDArray[np.int32]
    """int32 `(n,)`, at least 1."""

    def __post_init__(self) -> None:
        self.values.setflags(write=False)
        self.weights.setflags(write=False)


def read_instance(path: Path) -> Items:
    """Return the items in a file.

    Raises
    ------
    InstanceFormatError
        The file is missing or breaks the format; the message names file and line.
    """
    lines = list(integer_lines(read_text(path), path))
    if not lines:
        raise InstanceFormatError(path, None, "holds no numbers")
    number, head = lines[0]
    if len(head) != 2 or head[0] < 1 or not 0 <= head[1] <= MAX_NUMBER:
        raise InstanceFormatError(path, number, f"expected n >= 1 and a capacity of 0..{MAX_NUMBER}")
    rows = lines[1:]
    if len(rows) != head[0]:
        raise InstanceFormatError(path, None, f"expected {head[0]} items, got {len(rows)}")
    for number, row in rows:
        if len(row) != 2 or not all(1 <= value <= MAX_NUMBER for value in row):
            raise InstanceFormatError(path, number, f"expected a value and a weight of 1..{MAX_NUMBER}")
    table = np.array([row for _, row in rows], dtype=np.int32)
    return Items(head[1], table[:, 0].copy(), table[:, 1].copy())


def operator_environment(items: Items) -> dict[str, Any]:
    """Return fresh, writable arrays: operators may scribble on them without harm to the instance."""
    return {
        "num_items": int(items.values.size),
        "capacity": int(items.capacity),
        "values": items.values.copy(),
        "weights": items.weights.copy(),
    }


def environment_of_file(path: Path) -> dict[str, Any]:
    """Return what operators see of the instance in a file; raises InstanceFormatError."""
    return operator_environment(read_instance(path))
