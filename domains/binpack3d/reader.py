"""Readers of bin packing instances: a plain text format and the program's own JSON.

Text: comment lines start with ``#``; the first data line is the number of items, the second the bin's sides
``W H D``, then follows one line ``w h d`` per item. JSON: ``{"bin": [W, H, D], "items": [[w, h, d], ...]}``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.core.instance_data import ReadOnlyArrays
from dga2d.domains.shared.integer_lines import integer_lines, json_object, read_text
from dga2d.domains.shared.packing.geometry import MAX_ITEMS, side_fault

SUFFIXES = ("", ".txt", ".bpp", ".3dbpp", ".json")
"""Names an instance file may end in."""


@dataclass(frozen=True)
class BinPackingData(ReadOnlyArrays):
    """Bin sides, int32 `(3,)`, and item sides, int32 `(n, 3)`, along x, y, z; both read-only."""

    bin_size: NDArray[np.int32]
    item_sizes: NDArray[np.int32]


def read_instance(path: Path) -> BinPackingData:
    """Read a file of either format; ``.json`` marks the second.

    Raises
    ------
    InstanceFormatError
        The file is missing, is not text, holds something else than integers (or than the object above), has
        wrong counts, is truncated or goes on after the last item, a side is below 1 or above the bin's.
    """
    text = read_text(path)
    return parse_json(text, path) if path.suffix == ".json" else parse_instance(text, path)


def parse_instance(text: str, path: Path | str) -> BinPackingData:
    """Parse the plain text format; `path` names it in errors. See :func:`read_instance`."""
    lines = list(integer_lines(text, path))
    if not lines:
        raise InstanceFormatError(path, None, "no data line")
    number, head = lines[0]
    if len(head) != 1 or not 1 <= head[0] <= MAX_ITEMS:
        raise InstanceFormatError(path, number, f"expected the number of items, 1..{MAX_ITEMS}")
    if len(lines) - 2 < head[0]:
        raise InstanceFormatError(path, lines[-1][0], f"expected the bin and {head[0]} items, the file ends")
    if len(lines) - 2 > head[0]:
        raise InstanceFormatError(path, lines[head[0] + 2][0], f"data after the last of {head[0]} items")
    size = _sides(path, *lines[1], None)
    return _data(size, [_sides(path, line, values, size) for line, values in lines[2:]])


def parse_json(text: str, path: Path | str) -> BinPackingData:
    """Parse the JSON format; `path` names it in errors. See :func:`read_instance`."""
    table = json_object(text, path, "bin", "items")
    items = table["items"]
    if not isinstance(items, list) or not 1 <= len(items) <= MAX_ITEMS:
        raise InstanceFormatError(path, None, f"'items' is not a list of 1..{MAX_ITEMS} items")
    size = _sides(path, None, table["bin"], None)
    return _data(size, [_sides(path, None, item, size) for item in items])


def _sides(path: Path | str, line: int | None, values: Any, bin_size: list[int] | None) -> list[int]:
    fault = side_fault(values, bin_size)
    if fault is not None:
        raise InstanceFormatError(path, line, fault)
    return list(values)


def _data(size: list[int], items: list[list[int]]) -> BinPackingData:
    return BinPackingData(np.array(size, np.int32), np.array(items, np.int32).reshape(len(items), 3))


def operator_environment(bin_size: NDArray[np.int32], item_sizes: NDArray[np.int32]) -> dict[str, Any]:
    """Return the card's keys for a bin `(3,)` and items `(n, 3)`; fresh, writable arrays."""
    return {
        "num_activities": len(item_sizes),
        "bin_size": np.array(bin_size, dtype=np.int32),
        "item_sizes": np.array(item_sizes, dtype=np.int32),
        "item_volumes": item_sizes.prod(axis=1, dtype=np.int64),
        "upper_bound": len(item_sizes),
    }


def environment_of_file(path: Path) -> dict[str, Any]:
    """Return what operators see of the instance in a file; raises InstanceFormatError."""
    data = read_instance(path)
    return operator_environment(data.bin_size, data.item_sizes)
