"""Strict reader of CVRPLIB instances (``.vrp``, TSPLIB's keywords with capacity, demands and depot)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.shared.integer_lines import integer, read_text

SUFFIXES: Final = frozenset({".vrp"})
EdgeType = Literal["EUC_2D", "CEIL_2D", "EXPLICIT"]

TRIANGLES: Final = {
    "LOWER_ROW": (np.tril_indices, -1),
    "LOWER_DIAG_ROW": (np.tril_indices, 0),
    "UPPER_ROW": (np.triu_indices, 1),
    "UPPER_DIAG_ROW": (np.triu_indices, 0),
}
"""EDGE_WEIGHT_FORMAT → numpy's row-wise indices of the triangle it lists, and their first diagonal."""
MAX_NODES: Final = 10_000
"""Largest instance read: its int32 distance matrix takes 400 MB."""
MAX_LENGTH: Final = 1_000_000_000
"""Largest width or height of the point set and largest explicit edge: every length fits into 31 bits."""
MAX_DEMAND: Final = 1_000_000_000

_VALUES: Final = {
    "TYPE": ("CVRP", "DVRP"),
    "EDGE_WEIGHT_TYPE": ("EUC_2D", "CEIL_2D", "EXPLICIT"),
    "EDGE_WEIGHT_FORMAT": ("FULL_MATRIX", "FUNCTION", *TRIANGLES),
    "NODE_COORD_TYPE": ("TWOD_COORDS",),
    "DISPLAY_DATA_TYPE": ("NO_DISPLAY", "COORD_DISPLAY", "TWOD_DISPLAY"),
}
_KEYS: Final = frozenset(
    {"NAME", "COMMENT", "DIMENSION", "CAPACITY", "VEHICLES", "DISTANCE", "SERVICE_TIME", *_VALUES}
)
_SECTIONS: Final = frozenset(
    {"NODE_COORD_SECTION", "DISPLAY_DATA_SECTION", "EDGE_WEIGHT_SECTION", "DEMAND_SECTION", "DEPOT_SECTION"}
)
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_BLANKS: Final = re.compile(r"[ \t]+")


@dataclass(frozen=True)
class RoutingData:
    """What makes an instance: either points or explicit edge lengths, demands, capacity."""

    coords: NDArray[np.float64] | None
    """float64 `(n, 2)`, the depot first; ``None`` where the file has none."""
    edge_type: EdgeType
    weights: NDArray[np.int64] | None
    """int64 `(n, n)` for ``EXPLICIT``, else ``None``."""
    demands: NDArray[np.int64]
    """int64 `(n,)`, 0 for the depot."""
    capacity: int
    name: str = ""
    has_duration_limit: bool = field(default=False, compare=False)
    """The file names a limit on route lengths or service times, which the CVRP's card does not know."""

    def __post_init__(self) -> None:
        for array in (self.coords, self.weights, self.demands):
            if array is not None:
                array.setflags(write=False)


class _Line(NamedTuple):
    number: int
    text: str


def read_instance(path: Path) -> RoutingData:
    """Read an instance with planar (EUC_2D, CEIL_2D) or explicit edge lengths.

    Keyword lines may have any spacing round the colon, sections and the nodes in them any order; ``EOF`` may
    be missing. Explicit matrices are read as TSPLIB defines their format, whatever the line breaks; that is
    also how CVRPLIB's optima of the old E instances with LOWER_ROW were computed. ``VEHICLES``, ``DISTANCE``
    and ``SERVICE_TIME`` are checked but mean nothing: the card has no fleet size and no limit on durations.

    Raises
    ------
    InstanceFormatError
        The file cannot be read, has another type, an unknown or repeated keyword or section, too few or too
        many numbers, ids repeated or out of 1 … DIMENSION, something that is not a finite decimal number, a
        negative demand or one above the capacity, a depot other than node 1 or with a demand, an asymmetric
        matrix, text after its end, or sizes above `MAX_NODES`, `MAX_LENGTH` and `MAX_DEMAND`.
    """
    return parse_instance(read_text(path), path)


def parse_instance(text: str, path: Path | str) -> RoutingData:
    """The same for the text of a file; `path` names it in errors."""
    return _Reader(text, path).instance()


class _Reader:
    """Collects keywords and sections, then puts the instance together."""

    def __init__(self, text: str, path: Path | str) -> None:
        self.path = path
        self.header: dict[str, _Line] = {}
        self.sections: dict[str, tuple[int, list[_Line]]] = {}
        """Section → line number of its keyword, and its lines."""
        self._collect(
            _Line(i, line.strip(" \t\r")) for i, line in enumerate(text.split("\n"), 1) if line.strip(" \t\r")
        )

    def fail(self, line: int | None, reason: str) -> InstanceFormatError:
        return InstanceFormatError(self.path, line, reason)

    def _collect(self, lines: Iterator[_Line]) -> None:
        section: list[_Line] | None = None
        has_ended = False
        for line in lines:
            if has_ended:
                raise self.fail(line.number, f"unexpected text after EOF: {line.text!r}")
            key, colon, value = (part.strip(" \t") for part in line.text.partition(":"))
            if key == "EOF" and not colon:
                has_ended = True
            elif key in _SECTIONS:
                section = self._open_section(line.number, key, value)
            elif colon or section is None:
                self._keyword(line, key, value, bool(colon))
                section = None
            else:
                section.append(line)

    def _open_section(self, number: int, key: str, value: str) -> list[_Line]:
        if value:
            raise self.fail(number, f"unexpected text after {key}")
        if key in self.sections:
            raise self.fail(number, f"{key} is given twice")
        self.sections[key] = (number, [])
        return self.sections[key][1]

    def _keyword(self, line: _Line, key: str, value: str, has_colon: bool) -> None:
        if not has_colon:
            raise self.fail(line.number, f"expected 'KEYWORD : value', got {line.text[:60]!r}")
        if key not in _KEYS:
            raise self.fail(line.number, f"unknown keyword {key[:40]!r}")
        if key in self.header and key != "COMMENT":
            raise self.fail(line.number, f"{key} is given twice")
        if key in _VALUES and value not in _VALUES[key]:
            raise self.fail(line.number, f"expected {key} to be {' or '.join(_VALUES[key])}, got {value!r}")
        if key in ("VEHICLES", "DISTANCE", "SERVICE_TIME"):
            self.number(line.number, value)
        self.header[key] = _Line(line.number, value)

    def instance(self) -> RoutingData:
        for required in ("TYPE", "DIMENSION", "EDGE_WEIGHT_TYPE", "CAPACITY"):
            if required not in self.header:
                raise self.fail(None, f"{required} is missing")
        size = self.positive("DIMENSION", MAX_NODES)
        if size < 2:
            raise self.fail(self.header["DIMENSION"].number, "expected a depot and at least one customer")
        capacity = self.positive("CAPACITY", MAX_DEMAND)
        edge_type = cast(EdgeType, self.header["EDGE_WEIGHT_TYPE"].text)
        weights = self.weights(size) if edge_type == "EXPLICIT" else None
        coords = self.points(size, is_required=edge_type != "EXPLICIT")
        demands = self.demands(size, capacity)
        self.depot(demands)
        is_limited = self.header["TYPE"].text == "DVRP" or bool(
            {"DISTANCE", "SERVICE_TIME"} & set(self.header)
        )
        name = self.header["NAME"].text if "NAME" in self.header else ""
        return RoutingData(coords, edge_type, weights, demands, capacity, name, is_limited)

    def positive(self, key: str, most: int) -> int:
        number, text = self.header[key]
        value = integer(self.path, number, text)
        if not 1 <= value <= most:
            raise self.fail(number, f"expected 1 <= {key} <= {most}, got {text}")
        return value

    def number(self, line: int, token: str) -> float:
        value = float(token) if _NUMBER.fullmatch(token) else math.nan
        if not math.isfinite(value):
            raise self.fail(line, f"expected a finite decimal number, got {token[:40]!r}")
        return value

    def rows(self, section: str, size: int, width: int) -> Iterator[tuple[int, int, list[str]]]:
        """Yield line number, node (from 0) and values of a section with one line per node, each node once."""
        if section not in self.sections:
            raise self.fail(None, f"{section} is missing")
        start, lines = self.sections[section]
        seen: set[int] = set()
        for number, text in lines:
            if len(seen) == size:
                raise self.fail(number, f"unexpected text after the last node of {section}: {text[:60]!r}")
            tokens = _BLANKS.split(text)
            if len(tokens) != width + 1:
                raise self.fail(number, f"expected a node id and {width} value(s), got {text[:60]!r}")
            node = integer(self.path, number, tokens[0])
            if not 1 <= node <= size:
                raise self.fail(number, f"expected a node id in 1..{size}, got {tokens[0]}")
            if node in seen:
                raise self.fail(number, f"node {node} is given twice in {section}")
            seen.add(node)
            yield number, node - 1, tokens[1:]
        if len(seen) < size:
            last = lines[-1].number if lines else start
            raise self.fail(last, f"{section} ends after {len(seen)} of {size} nodes")

    def points(self, size: int, is_required: bool) -> NDArray[np.float64] | None:
        section = "DISPLAY_DATA_SECTION" if not is_required else "NODE_COORD_SECTION"
        if not is_required and "NODE_COORD_SECTION" in self.sections:
            section = "NODE_COORD_SECTION"
        if not is_required and section not in self.sections:
            return None
        coords = np.empty((size, 2))
        for number, node, tokens in self.rows(section, size, 2):
            coords[node] = [self.number(number, token) for token in tokens]
        extent = float(np.ptp(coords, axis=0).max())
        if extent > MAX_LENGTH:
            raise self.fail(None, f"points lie {extent:g} apart, more than {MAX_LENGTH:g}")
        return coords

    def weights(self, size: int) -> NDArray[np.int64]:
        edge_format = self.header.get("EDGE_WEIGHT_FORMAT", _Line(0, "FUNCTION")).text
        if edge_format == "FUNCTION":
            raise self.fail(None, "explicit edge lengths without EDGE_WEIGHT_FORMAT")
        if "EDGE_WEIGHT_SECTION" not in self.sections:
            raise self.fail(None, "EDGE_WEIGHT_SECTION is missing")
        start, lines = self.sections["EDGE_WEIGHT_SECTION"]
        wanted = n_weights(edge_format, size)
        values: list[int] = []
        for number, text in lines:
            for token in _BLANKS.split(text):
                value = integer(self.path, number, token)
                if not 0 <= value <= MAX_LENGTH:
                    raise self.fail(number, f"expected a length in 0..{MAX_LENGTH}, got {token}")
                values.append(value)
            if len(values) > wanted:
                raise self.fail(number, f"more than {wanted} edge lengths")
        if len(values) < wanted:
            raise self.fail(lines[-1].number if lines else start, f"{len(values)} of {wanted} edge lengths")
        matrix = explicit_matrix(np.array(values, dtype=np.int64), edge_format, size)
        if not np.array_equal(matrix, matrix.T) or matrix.diagonal().any():
            raise self.fail(start, "the edge lengths are not symmetric with a zero diagonal")
        return matrix

    def demands(self, size: int, capacity: int) -> NDArray[np.int64]:
        demands = np.empty(size, dtype=np.int64)
        for number, node, tokens in self.rows("DEMAND_SECTION", size, 1):
            demand = integer(self.path, number, tokens[0])
            if not 0 <= demand <= capacity:
                raise self.fail(number, f"expected a demand in 0..{capacity}, the capacity, got {demand}")
            if node == 0 and demand:
                raise self.fail(number, f"the depot has a demand of {demand}")
            demands[node] = demand
        return demands

    def depot(self, demands: NDArray[np.int64]) -> None:
        """Check that the depot is node 1 alone, as in all published sets; customers are the other nodes."""
        if "DEPOT_SECTION" not in self.sections:
            raise self.fail(None, "DEPOT_SECTION is missing")
        start, lines = self.sections["DEPOT_SECTION"]
        values = [
            (number, integer(self.path, number, token))
            for number, text in lines
            for token in _BLANKS.split(text)
        ]
        if not values or values[-1][1] != -1:
            raise self.fail(values[-1][0] if values else start, "expected -1 at the end of DEPOT_SECTION")
        if [value for _, value in values] != [1, -1]:
            raise self.fail(values[0][0], "expected node 1 as the only depot")


def planar_matrix(coords: NDArray[np.float64], edge_type: EdgeType) -> NDArray[np.int32]:
    """Return the Euclidean distances of `coords`, float64 `(n, 2)`, rounded to the nearest integer (EUC_2D)
    or up.

    Returns int32 `(n, n)`, symmetric, zero diagonal.

    References
    ----------
    G. Reinelt, "TSPLIB - A Traveling Salesman Problem Library", ORSA Journal on Computing 3, 1991.
    """
    x, y = coords[:, 0], coords[:, 1]
    dx, dy = x[:, None] - x[None, :], y[:, None] - y[None, :]
    exact = np.sqrt(dx * dx + dy * dy)
    rounded = np.ceil(exact) if edge_type == "CEIL_2D" else np.floor(exact + 0.5)
    return rounded.astype(np.int32)


def n_weights(edge_format: str, size: int) -> int:
    """Return how many numbers an EDGE_WEIGHT_SECTION of that format has for `size` nodes."""
    if edge_format == "FULL_MATRIX":
        return size * size
    _, diagonal = TRIANGLES[edge_format]
    return size * (size + 1 if diagonal == 0 else size - 1) // 2


def explicit_matrix(weights: NDArray[np.int64], edge_format: str, size: int) -> NDArray[np.int64]:
    """Return the full matrix of the numbers of an EDGE_WEIGHT_SECTION, row by row as TSPLIB defines the
    formats.

    `weights`: int64 `(n_weights(edge_format, size),)`. Returns int64 `(size, size)`; triangles are mirrored.
    """
    if edge_format == "FULL_MATRIX":
        return weights.reshape(size, size)
    indices, diagonal = TRIANGLES[edge_format]
    matrix = np.zeros((size, size), dtype=np.int64)
    matrix[indices(size, diagonal)] = weights
    return np.maximum(matrix, matrix.T)


def operator_environment(data: RoutingData) -> dict[str, Any]:
    """Return the card's keys for `data`; fresh, writable arrays."""
    if data.weights is not None:
        distances = data.weights.astype(np.int32)
    else:
        assert data.coords is not None
        distances = planar_matrix(data.coords, data.edge_type)
    return {
        "dist_matrix": distances,
        "demands": np.array(data.demands, dtype=np.int64),
        "capacity": int(data.capacity),
        "num_nodes": len(data.demands),
        "depot_idx": 0,
    }


def environment_of_file(path: Path) -> dict[str, Any]:
    """Return what operators see of the instance in a file; raises InstanceFormatError."""
    return operator_environment(read_instance(path))
