"""Strict reading of files made of TSPLIB's keywords and sections, which CVRPLIB's files are made of too.

References
----------
G. Reinelt, TSPLIB 95, Universität Heidelberg, 1995: keywords, sections, formats of explicit edge lengths.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.shared.integer_lines import integer

TRIANGLES: Final = {
    "LOWER_ROW": (np.tril_indices, -1),
    "LOWER_DIAG_ROW": (np.tril_indices, 0),
    "UPPER_ROW": (np.triu_indices, 1),
    "UPPER_DIAG_ROW": (np.triu_indices, 0),
    # the matrix is symmetric: the columns of one triangle are the rows of the other
    "UPPER_COL": (np.tril_indices, -1),
    "UPPER_DIAG_COL": (np.tril_indices, 0),
    "LOWER_COL": (np.triu_indices, 1),
    "LOWER_DIAG_COL": (np.triu_indices, 0),
}
"""EDGE_WEIGHT_FORMAT → numpy's row-wise indices of the triangle it lists, and their first diagonal."""
MAX_LENGTH: Final = 1_000_000_000
"""Largest width or height of the point set and largest explicit edge: every length fits into 31 bits."""
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_BLANKS: Final = re.compile(r"[ \t]+")


@dataclass(frozen=True)
class Dialect:
    """Which keywords and sections a problem's files may have."""

    values: Mapping[str, tuple[str, ...]]
    """Keyword → the values that it may have."""
    texts: Collection[str]
    """Keywords whose value is any text."""
    numbers: Collection[str]
    """Keywords whose value is a number."""
    sections: Collection[str]


class Line(NamedTuple):
    """A line of a file, or a keyword's value with the line it stands on."""

    number: int
    text: str


class TsplibReader:
    """Collects the keywords and sections of a file, and gives out what they say.

    Keyword lines may have any spacing round the colon, sections and the nodes in them any order; ``EOF`` may
    be missing. Behind the value of ``TYPE`` a remark may stand, as in some files of TSPLIB.

    Raises
    ------
    InstanceFormatError
        An unknown or repeated keyword or section, a value that the dialect does not know, or text after the
        end; each method raises it where what it is asked for is missing or malformed.
    """

    def __init__(self, text: str, path: Path | str, dialect: Dialect) -> None:
        self.path = path
        self.dialect = dialect
        self.header: dict[str, Line] = {}
        self.sections: dict[str, tuple[int, list[Line]]] = {}
        """Section → line number of its keyword, and its lines."""
        self._collect(
            Line(i, line.strip(" \t\r")) for i, line in enumerate(text.split("\n"), 1) if line.strip(" \t\r")
        )

    def fail(self, line: int | None, reason: str) -> InstanceFormatError:
        return InstanceFormatError(self.path, line, reason)

    def _collect(self, lines: Iterator[Line]) -> None:
        section: list[Line] | None = None
        has_ended = False
        for line in lines:
            if has_ended:
                raise self.fail(line.number, f"unexpected text after EOF: {line.text!r}")
            key, colon, value = (part.strip(" \t") for part in line.text.partition(":"))
            if key == "EOF" and not value:
                has_ended = True
            elif key in self.dialect.sections:
                section = self._open_section(line.number, key, value)
            elif colon or section is None:
                self._keyword(line, key, value, bool(colon))
                section = None
            else:
                section.append(line)

    def _open_section(self, number: int, key: str, value: str) -> list[Line]:
        if value:
            raise self.fail(number, f"unexpected text after {key}")
        if key in self.sections:
            raise self.fail(number, f"{key} is given twice")
        self.sections[key] = (number, [])
        return self.sections[key][1]

    def _keyword(self, line: Line, key: str, value: str, has_colon: bool) -> None:
        values = self.dialect.values
        if not has_colon:
            raise self.fail(line.number, f"expected 'KEYWORD : value', got {line.text[:60]!r}")
        if key not in values and key not in self.dialect.texts and key not in self.dialect.numbers:
            raise self.fail(line.number, f"unknown keyword {key[:40]!r}")
        if key in self.header and key != "COMMENT":
            raise self.fail(line.number, f"{key} is given twice")
        if key == "TYPE":
            value = value.partition(" ")[0]
        if key in values and value not in values[key]:
            raise self.fail(line.number, f"expected {key} to be {' or '.join(values[key])}, got {value!r}")
        if key in self.dialect.numbers:
            self.number(line.number, value)
        self.header[key] = Line(line.number, value)

    def require(self, *keys: str) -> None:
        for key in keys:
            if key not in self.header:
                raise self.fail(None, f"{key} is missing")

    def positive(self, key: str, most: int) -> int:
        """Return the whole number of a keyword, in 1 … `most`."""
        number, text = self.header[key]
        value = int(text) if text.isascii() and text.isdigit() and len(text) <= 12 else 0
        if not 1 <= value <= most:
            raise self.fail(number, f"expected 1 <= {key} <= {most}, got {text[:40]!r}")
        return value

    def number(self, line: int, token: str) -> float:
        value = float(token) if _NUMBER.fullmatch(token) else math.nan
        if not math.isfinite(value):
            raise self.fail(line, f"expected a finite decimal number, got {token[:40]!r}")
        return value

    def integers(self, section: str) -> list[tuple[int, int]]:
        """Return line number and value of all integers of a section, whatever the line breaks."""
        return [
            (number, integer(self.path, number, token))
            for number, text in self.sections[section][1]
            for token in _BLANKS.split(text)
        ]

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
        """Return float64 `(size, 2)`; where they are not required those that are there to be shown, or
        ``None``.
        """
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
        """Return the symmetric matrix of explicit edge lengths, int64 `(size, size)`."""
        edge_format = self.header.get("EDGE_WEIGHT_FORMAT", Line(0, "FUNCTION")).text
        if edge_format == "FUNCTION":
            raise self.fail(None, "explicit edge lengths without EDGE_WEIGHT_FORMAT")
        if "EDGE_WEIGHT_SECTION" not in self.sections:
            raise self.fail(None, "EDGE_WEIGHT_SECTION is missing")
        start, lines = self.sections["EDGE_WEIGHT_SECTION"]
        wanted = n_weights(edge_format, size)
        values = self.integers("EDGE_WEIGHT_SECTION")
        for place, (number, value) in enumerate(values):
            if not 0 <= value <= MAX_LENGTH:
                raise self.fail(number, f"expected a length in 0..{MAX_LENGTH}, got {value}")
            if place == wanted:
                raise self.fail(number, f"more than {wanted} edge lengths")
        if len(values) < wanted:
            raise self.fail(lines[-1].number if lines else start, f"{len(values)} of {wanted} edge lengths")
        matrix = explicit_matrix(np.array([value for _, value in values], np.int64), edge_format, size)
        if not np.array_equal(matrix, matrix.T) or matrix.diagonal().any():
            raise self.fail(start, "the edge lengths are not symmetric with a zero diagonal")
        return matrix


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
