"""Strict reader of TSPLIB instances with EUC_2D distances, and writer of ``.tour`` files."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.errors import InstanceFormatError

MAX_CITIES: Final = 10_000
"""Largest instance read: its int64 distance matrix takes 800 MB."""
MAX_EXTENT: Final = 1e9
"""Largest width or height of the point set: every distance fits into 31 bits."""
_TEXT_KEYS: Final = frozenset({"NAME", "COMMENT", "DISPLAY_DATA_TYPE", "NODE_COORD_TYPE"})
_EXPECTED: Final = {"TYPE": ("TSP",), "EDGE_WEIGHT_TYPE": ("EUC_2D",), "NODE_COORD_TYPE": ("TWOD_COORDS",)}
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


class TsplibFile(NamedTuple):
    """What a TSPLIB file of type TSP says."""

    name: str
    """The file's NAME; the file's stem where it has none."""
    coords: NDArray[np.float64]
    """float64 `(n, 2)`, city i of the file at row i - 1."""


class _Line(NamedTuple):
    number: int
    text: str


def read_tsplib(path: Path) -> TsplibFile:
    """Read an instance with ``EDGE_WEIGHT_TYPE: EUC_2D``.

    Keyword lines may have any spacing round the colon; cities may stand in any order; ``EOF`` may be missing.

    Raises
    ------
    InstanceFormatError
        The file cannot be read, has another type or edge weight type, an unknown or repeated keyword, ids
        that are repeated, missing or out of 1 … DIMENSION, something that is not a finite decimal number as
        coordinate, text after its end, more than `MAX_CITIES` cities or an extent above `MAX_EXTENT`.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InstanceFormatError(path, None, f"cannot be read: {error}") from error
    lines = (_Line(i, line.strip()) for i, line in enumerate(text.split("\n"), 1) if line.strip())
    header = _header(path, lines)
    coords = _coordinates(path, lines, _dimension(path, header))
    _expect_end(path, lines)
    extent = float(np.ptp(coords, axis=0).max())
    if extent > MAX_EXTENT:
        raise InstanceFormatError(path, None, f"points lie {extent:g} apart, more than {MAX_EXTENT:g}")
    return TsplibFile(header["NAME"].text if "NAME" in header else path.stem, coords)


def _header(path: Path, lines: Iterator[_Line]) -> dict[str, _Line]:
    """Return the keyword lines up to NODE_COORD_SECTION; each value with its line number."""
    header: dict[str, _Line] = {}
    for number, text in lines:
        key, colon, value = (part.strip() for part in text.partition(":"))
        if key == "NODE_COORD_SECTION":
            if value:
                raise InstanceFormatError(path, number, "unexpected text after NODE_COORD_SECTION")
            for required in ("TYPE", "DIMENSION", "EDGE_WEIGHT_TYPE"):
                if required not in header:
                    raise InstanceFormatError(path, number, f"{required} is missing")
            return header
        if not colon:
            raise InstanceFormatError(path, number, f"expected 'KEYWORD : value', got {text!r}")
        if key not in _TEXT_KEYS and key not in _EXPECTED and key != "DIMENSION":
            raise InstanceFormatError(path, number, f"unknown keyword {key!r}")
        if key in header and key != "COMMENT":
            raise InstanceFormatError(path, number, f"{key} is given twice")
        if key in _EXPECTED and value not in _EXPECTED[key]:
            raise InstanceFormatError(path, number, f"expected {key} {_EXPECTED[key][0]}, got {value!r}")
        header[key] = _Line(number, value)
    raise InstanceFormatError(path, None, "NODE_COORD_SECTION is missing")


def _dimension(path: Path, header: dict[str, _Line]) -> int:
    number, text = header["DIMENSION"]
    size = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
    if not 1 <= size <= MAX_CITIES:
        raise InstanceFormatError(path, number, f"expected 1 <= DIMENSION <= {MAX_CITIES}, got {text!r}")
    return size


def _coordinates(path: Path, lines: Iterator[_Line], size: int) -> NDArray[np.float64]:
    coords = np.full((size, 2), math.nan)
    seen = np.zeros(size, dtype=np.bool_)
    number = 0
    for found in range(size):
        number, text = next(lines, _Line(number, "EOF"))
        if text == "EOF":
            raise InstanceFormatError(path, number or None, f"ends after {found} of {size} cities")
        tokens = text.split()
        if len(tokens) != 3:
            raise InstanceFormatError(path, number, f"expected 'id x y', got {text!r}")
        city = int(tokens[0]) if tokens[0].isascii() and tokens[0].isdigit() and len(tokens[0]) < 10 else 0
        if not 1 <= city <= size:
            raise InstanceFormatError(path, number, f"expected a city id in 1..{size}, got {tokens[0]!r}")
        if seen[city - 1]:
            raise InstanceFormatError(path, number, f"city {city} is given twice")
        seen[city - 1] = True
        coords[city - 1] = [_number(path, number, token) for token in tokens[1:]]
    return coords


def _number(path: Path, line: int, token: str) -> float:
    value = float(token) if _NUMBER.fullmatch(token) else math.nan
    if not math.isfinite(value):
        raise InstanceFormatError(path, line, f"expected a finite decimal number, got {token!r}")
    return value


def _expect_end(path: Path, lines: Iterator[_Line]) -> None:
    has_ended = False
    for number, text in lines:
        if text != "EOF" or has_ended:
            raise InstanceFormatError(path, number, f"unexpected text after the last city: {text!r}")
        has_ended = True


def format_tour(name: str, tour: NDArray[np.int32], length: int) -> str:
    """Return the text of a TSPLIB ``.tour`` file: cities from 1, one per line, ended by -1."""
    head = [
        f"NAME : {name}.tour",
        f"COMMENT : Length {length}",
        "TYPE : TOUR",
        f"DIMENSION : {len(tour)}",
        "TOUR_SECTION",
    ]
    return "\n".join([*head, *(str(int(city) + 1) for city in tour), "-1", "EOF", ""])


def euc_2d_matrix(coords: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the distances floor(sqrt(dx² + dy²) + 0.5) between all points: int64 `(n, n)`, symmetric, zero
    diagonal.

    References
    ----------
    G. Reinelt, "TSPLIB - A Traveling Salesman Problem Library", ORSA Journal on Computing 3, 1991.
    """
    x, y = coords[:, 0], coords[:, 1]
    dx = x[:, None] - x[None, :]
    dy = y[:, None] - y[None, :]
    return np.floor(np.sqrt(dx * dx + dy * dy) + 0.5).astype(np.int64)


def nearest_neighbour_length(distances: NDArray[np.int64]) -> int:
    """Return the length of the nearest-neighbour tour that starts in city 0; ties go to the lower index.

    `distances`: int64 `(n, n)`, n ≥ 1.
    """
    is_open = np.ones(len(distances), dtype=np.bool_)
    is_open[0] = False
    total, city = 0, 0
    far = np.iinfo(np.int64).max
    while is_open.any():
        nearest = int(np.argmin(np.where(is_open, distances[city], far)))
        total += int(distances[city, nearest])
        is_open[nearest] = False
        city = nearest
    return total + int(distances[city, 0])


def operator_environment(coords: NDArray[np.float64]) -> dict[str, Any]:
    """Return the card's keys for `coords`, float64 `(n, 2)`; fresh, writable copies."""
    own = np.array(coords, dtype=np.float64)
    distances = euc_2d_matrix(own)
    return {
        "num_nodes": len(own),
        "coords": own,
        "distance_matrix": distances,
        "upper_bound": nearest_neighbour_length(distances),
    }


def environment_of_file(path: Path) -> dict[str, Any]:
    """Return what operators see of the instance in a file; raises InstanceFormatError."""
    return operator_environment(read_tsplib(path).coords)
