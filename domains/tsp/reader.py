"""Strict reader of TSPLIB's symmetric instances (``.tsp``), and writer of ``.tour`` files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.shared.integer_lines import read_text
from dga2d.domains.shared.routing.tsplib import TRIANGLES, Dialect, TsplibReader

SUFFIXES = (".tsp",)
"""Endings of instance files."""

MAX_CITIES: Final = 10_000
"""Largest instance read: its int64 distance matrix takes 800 MB."""
EDGE_TYPES: Final = ("EUC_2D", "CEIL_2D", "MAN_2D", "MAX_2D", "GEO", "ATT", "EXPLICIT")
"""All definitions of edge lengths that the symmetric instances of TSPLIB have."""
_DIALECT: Final = Dialect(
    values={
        "TYPE": ("TSP",),
        "EDGE_WEIGHT_TYPE": EDGE_TYPES,
        "EDGE_WEIGHT_FORMAT": ("FULL_MATRIX", "FUNCTION", *TRIANGLES),
        "NODE_COORD_TYPE": ("TWOD_COORDS", "NO_COORDS"),
        "DISPLAY_DATA_TYPE": ("NO_DISPLAY", "COORD_DISPLAY", "TWOD_DISPLAY"),
    },
    texts=("NAME", "COMMENT", "DIMENSION"),
    numbers=("VEHICLES",),
    sections=("NODE_COORD_SECTION", "DISPLAY_DATA_SECTION", "EDGE_WEIGHT_SECTION", "FIXED_EDGES_SECTION"),
)


class TsplibFile(NamedTuple):
    """What a TSPLIB file of type TSP says."""

    name: str
    """The file's NAME; the file's stem where it has none."""
    coords: NDArray[np.float64] | None
    """float64 `(n, 2)`, city i of the file at row i - 1; ``None`` where the file has none."""
    edge_type: str
    """One of `EDGE_TYPES`."""
    weights: NDArray[np.int64] | None
    """int64 `(n, n)` for ``EXPLICIT``, else ``None``."""
    fixed: NDArray[np.int32]
    """int32 `(k, 2)`, cities from 0: edges that every tour must have."""

    def data(self) -> dict[str, Any]:
        """Return an instance's data: ``coords`` alone for points in the plane with EUC_2D, else also
        ``edge_type``, and ``weights`` and ``fixed`` where there are any.

        Where the file has no points, those of ``coords`` stand in for them: the distances of each city from
        city 0 and from the one farthest from it.
        """
        coords = self.coords
        if coords is None:
            assert self.weights is not None
            far = int(self.weights[0].argmax())
            coords = np.column_stack((self.weights[0], self.weights[far])).astype(np.float64)
        found: dict[str, Any] = {"coords": coords}
        if self.edge_type != "EUC_2D":
            found["edge_type"] = self.edge_type
        if self.weights is not None:
            found["weights"] = self.weights
        if len(self.fixed):
            found["fixed"] = self.fixed
        for value in found.values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
        return found


def read_tsplib(path: Path) -> TsplibFile:
    """Read an instance of any of `EDGE_TYPES`; ``VEHICLES`` is checked but means nothing here.

    Raises
    ------
    InstanceFormatError
        The file cannot be read, has another type or edge weight type, an unknown or repeated keyword or
        section, ids that are repeated, missing or out of 1 … DIMENSION, something that is not a finite
        decimal number as coordinate, an asymmetric matrix, fixed edges that no tour can have, text after its
        end, more than `MAX_CITIES` cities or an extent above `tsplib.MAX_LENGTH`.
    """
    return _Reader(read_text(path), path, _DIALECT).instance(path)


class _Reader(TsplibReader):
    """Puts the instance together."""

    def instance(self, path: Path) -> TsplibFile:
        self.require("TYPE", "DIMENSION", "EDGE_WEIGHT_TYPE")
        size = self.positive("DIMENSION", MAX_CITIES)
        edge_type = self.header["EDGE_WEIGHT_TYPE"].text
        weights = self.weights(size) if edge_type == "EXPLICIT" else None
        coords = self.points(size, is_required=edge_type != "EXPLICIT")
        name = self.header["NAME"].text if "NAME" in self.header else path.stem
        return TsplibFile(name, coords, edge_type, weights, self.fixed(size))

    def fixed(self, size: int) -> NDArray[np.int32]:
        """Return the edges that every tour must have."""
        if "FIXED_EDGES_SECTION" not in self.sections:
            return np.empty((0, 2), np.int32)
        values = self.integers("FIXED_EDGES_SECTION")
        start, _ = self.sections["FIXED_EDGES_SECTION"]
        if len(values) % 2 == 0 or values[-1][1] != -1:
            raise self.fail(values[-1][0] if values else start, "expected pairs of cities, then -1")
        line_of: dict[tuple[int, int], int] = {}
        degree = [0] * (size + 1)
        for (number, a), (_, b) in zip(values[:-1:2], values[1:-1:2], strict=True):
            if not (1 <= a <= size and 1 <= b <= size and a != b):
                raise self.fail(number, f"expected two different cities in 1..{size}, got {a} {b}")
            edge = (min(a, b) - 1, max(a, b) - 1)
            if edge in line_of:
                raise self.fail(number, f"edge {a} {b} is fixed twice")
            line_of[edge] = number
            for city in (a, b):
                degree[city] += 1
                if degree[city] > 2:
                    raise self.fail(number, f"city {city} has three fixed edges: no tour has them all")
        if closing := _closed_early(list(line_of), size):
            raise self.fail(line_of[closing], "fixed edges form a cycle that leaves cities out")
        return np.array(list(line_of), np.int32).reshape(-1, 2)


def _closed_early(edges: list[tuple[int, int]], size: int) -> tuple[int, int] | None:
    """Return the edge that closes a cycle of fewer than all cities, if there is one."""
    root = list(range(size))

    def top(city: int) -> int:
        while root[city] != city:
            city = root[city]
        return city

    for a, b in edges:
        if top(a) == top(b) and len(edges) < size:
            return a, b
        root[top(a)] = top(b)
    return None


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


def length_matrix(data: Mapping[str, Any]) -> NDArray[np.int64]:
    """Return the edge lengths of an instance's data (see `TsplibFile.data`): int64 `(n, n)`, symmetric, zero
    diagonal.

    References
    ----------
    G. Reinelt, TSPLIB 95, Universität Heidelberg, 1995, section 2: the formulas of GEO and ATT; degrees are
    cut to whole ones, as its optimal lengths were computed.
    """
    edge_type = data.get("edge_type", "EUC_2D")
    if edge_type == "EUC_2D":
        return euc_2d_matrix(data["coords"])
    if edge_type == "EXPLICIT":
        return np.array(data["weights"], dtype=np.int64)
    if edge_type == "GEO":
        return _geo_matrix(data["coords"])
    x, y = data["coords"][:, 0], data["coords"][:, 1]
    dx, dy = np.abs(x[:, None] - x[None, :]), np.abs(y[:, None] - y[None, :])
    if edge_type == "CEIL_2D":
        lengths = np.ceil(np.sqrt(dx * dx + dy * dy))
    elif edge_type == "ATT":
        exact = np.sqrt((dx * dx + dy * dy) / 10.0)
        nearest = np.floor(exact + 0.5)
        lengths = np.where(nearest < exact, nearest + 1, nearest)
    elif edge_type == "MAN_2D":
        lengths = np.floor(dx + dy + 0.5)
    else:
        lengths = np.maximum(np.floor(dx + 0.5), np.floor(dy + 0.5))
    return np.asarray(lengths.astype(np.int64))


def _geo_matrix(coords: NDArray[np.float64]) -> NDArray[np.int64]:
    degrees = np.trunc(coords)
    radians = 3.141592 * (degrees + 5.0 * (coords - degrees) / 3.0) / 180.0
    latitude, longitude = radians[:, 0], radians[:, 1]
    q1 = np.cos(longitude[:, None] - longitude[None, :])
    q2 = np.cos(latitude[:, None] - latitude[None, :])
    q3 = np.cos(latitude[:, None] + latitude[None, :])
    cosine = np.clip(0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3), -1.0, 1.0)
    lengths = np.floor(6378.388 * np.arccos(cosine) + 1.0).astype(np.int64)
    np.fill_diagonal(lengths, 0)
    return lengths


def operator_environment(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the card's keys for an instance's data (see `TsplibFile.data`); fresh, writable copies.

    Where edges are fixed, each is shorter by ``fixed_discount`` in the matrix than in the file, so much that
    no shortest tour leaves one out, and ``fixed_edges``, int32 `(k, 2)`, names them.
    """
    distances = length_matrix(data)
    environment = {
        "num_nodes": len(distances),
        "coords": np.array(data["coords"], dtype=np.float64),
        "distance_matrix": distances,
        "upper_bound": nearest_neighbour_length(distances),
    }
    if "fixed" in data:
        fixed = np.array(data["fixed"], dtype=np.int32)
        discount = 4 * int(distances.max()) + 1
        for a, b in ((fixed[:, 0], fixed[:, 1]), (fixed[:, 1], fixed[:, 0])):
            distances[a, b] -= discount
        environment |= {"fixed_edges": fixed, "fixed_discount": discount}
    return environment


def environment_of_file(path: Path) -> dict[str, Any]:
    """Return what operators see of the instance in a file; raises InstanceFormatError."""
    return operator_environment(read_tsplib(path).data())
