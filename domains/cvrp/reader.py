"""Strict reader of CVRPLIB instances (``.vrp``, TSPLIB's keywords with capacity, demands and depot)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, cast

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.instance_data import ReadOnlyArrays
from dga2d.domains.shared.integer_lines import integer, read_text
from dga2d.domains.shared.routing.tsplib import TRIANGLES, Dialect, TsplibReader

SUFFIXES: Final = frozenset({".vrp"})
EdgeType = Literal["EUC_2D", "CEIL_2D", "EXACT_2D", "EXPLICIT"]

MAX_NODES: Final = 10_000
"""Largest instance read: its int32 distance matrix takes 400 MB."""
MAX_DEMAND: Final = 1_000_000_000
EXACT_UNITS: Final = 1000
"""Operators see the lengths of ``EXACT_2D``, which are not rounded, in thousandths, rounded to nearest."""
MAX_EXACT_LENGTH: Final = 1_000_000
"""Largest width or height of the point set with ``EXACT_2D``: thousandths fit into 31 bits."""

_DIALECT: Final = Dialect(
    values={
        "TYPE": ("CVRP", "DVRP"),
        "EDGE_WEIGHT_TYPE": ("EUC_2D", "CEIL_2D", "EXACT_2D", "EXPLICIT"),
        "EDGE_WEIGHT_FORMAT": ("FULL_MATRIX", "FUNCTION", *TRIANGLES),
        "NODE_COORD_TYPE": ("TWOD_COORDS",),
        "DISPLAY_DATA_TYPE": ("NO_DISPLAY", "COORD_DISPLAY", "TWOD_DISPLAY"),
    },
    texts=("NAME", "COMMENT", "DIMENSION", "CAPACITY"),
    numbers=("VEHICLES", "DISTANCE", "SERVICE_TIME"),
    sections=(
        "NODE_COORD_SECTION",
        "DISPLAY_DATA_SECTION",
        "EDGE_WEIGHT_SECTION",
        "DEMAND_SECTION",
        "DEPOT_SECTION",
    ),
)


@dataclass(frozen=True)
class RoutingData(ReadOnlyArrays):
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
    max_length: float | None = None
    """Most that a route's edges and the service at its customers may come to, in the unit of lengths;
    ``None`` where there is no limit."""
    service: float = 0.0
    """What the service at each customer counts against that limit; no part of the objective."""


def read_instance(path: Path) -> RoutingData:
    """Read an instance with planar (EUC_2D, CEIL_2D, EXACT_2D) or explicit edge lengths.

    Explicit matrices are read as TSPLIB defines their format, whatever the line breaks; that is also how
    CVRPLIB's optima of the old E instances with LOWER_ROW were computed. ``VEHICLES`` is checked but means
    nothing: the card has no fleet size. ``DISTANCE`` limits the length of a route, ``SERVICE_TIME`` included.

    Raises
    ------
    InstanceFormatError
        The file cannot be read, has another type, an unknown or repeated keyword or section, too few or too
        many numbers, ids repeated or out of 1 … DIMENSION, something that is not a finite decimal number, a
        negative demand or one above the capacity, none or several depots, or one with a demand, an asymmetric
        matrix, text after its end, or sizes above `MAX_NODES`, `MAX_LENGTH`, `MAX_EXACT_LENGTH` and
        `MAX_DEMAND`.
    """
    return parse_instance(read_text(path), path)


def parse_instance(text: str, path: Path | str) -> RoutingData:
    """The same for the text of a file; `path` names it in errors."""
    return _Reader(text, path, _DIALECT).instance()


class _Reader(TsplibReader):
    """Puts the instance together."""

    def instance(self) -> RoutingData:
        self.require("TYPE", "DIMENSION", "EDGE_WEIGHT_TYPE", "CAPACITY")
        size = self.positive("DIMENSION", MAX_NODES)
        if size < 2:
            raise self.fail(self.header["DIMENSION"].number, "expected a depot and at least one customer")
        capacity = self.positive("CAPACITY", MAX_DEMAND)
        edge_type = cast(EdgeType, self.header["EDGE_WEIGHT_TYPE"].text)
        weights = self.weights(size) if edge_type == "EXPLICIT" else None
        coords = self.points(size, is_required=edge_type != "EXPLICIT")
        if edge_type == "EXACT_2D" and coords is not None and np.ptp(coords, axis=0).max() > MAX_EXACT_LENGTH:
            raise self.fail(None, f"points of EXACT_2D lie more than {MAX_EXACT_LENGTH} apart")
        demands, lines = self.demands(size, capacity)
        depot = self.depot(size)
        if demands[depot]:
            raise self.fail(lines[depot], f"the depot has a demand of {demands[depot]}")
        if depot:  # the others keep their order
            order = np.array([depot, *(node for node in range(size) if node != depot)])
            demands = demands[order]
            coords = None if coords is None else coords[order]
            weights = None if weights is None else weights[np.ix_(order, order)]
        name = self.header["NAME"].text if "NAME" in self.header else ""
        limit, service = self.limit("DISTANCE"), self.limit("SERVICE_TIME") or 0.0
        return RoutingData(coords, edge_type, weights, demands, capacity, name, limit, service)

    def limit(self, key: str) -> float | None:
        """Return the number behind a keyword; ``None`` where the file has none."""
        return float(self.header[key].text) if key in self.header else None

    def demands(self, size: int, capacity: int) -> tuple[NDArray[np.int64], list[int]]:
        """Return the demand of each node, int64 `(size,)`, and the line it stands on."""
        demands, lines = np.empty(size, dtype=np.int64), [0] * size
        for number, node, tokens in self.rows("DEMAND_SECTION", size, 1):
            demand = integer(self.path, number, tokens[0])
            if not 0 <= demand <= capacity:
                raise self.fail(number, f"expected a demand in 0..{capacity}, the capacity, got {demand}")
            demands[node] = demand
            lines[node] = number
        return demands, lines

    def depot(self, size: int) -> int:
        """Return the only depot, from 0: node 1 in most published sets, the last one in some of CMT's."""
        if "DEPOT_SECTION" not in self.sections:
            raise self.fail(None, "DEPOT_SECTION is missing")
        values = self.integers("DEPOT_SECTION")
        if not values or values[-1][1] != -1:
            start, _ = self.sections["DEPOT_SECTION"]
            raise self.fail(values[-1][0] if values else start, "expected -1 at the end of DEPOT_SECTION")
        if len(values) != 2 or not 1 <= values[0][1] <= size:
            raise self.fail(values[0][0], f"expected one depot, a node in 1..{size}")
        return values[0][1] - 1


def planar_matrix(coords: NDArray[np.float64], edge_type: EdgeType) -> NDArray[np.int32]:
    """Return the Euclidean distances of `coords`, float64 `(n, 2)`: rounded to the nearest integer (EUC_2D),
    up (CEIL_2D), or in thousandths, rounded to the nearest (EXACT_2D).

    Returns int32 `(n, n)`, symmetric, zero diagonal.

    References
    ----------
    G. Reinelt, "TSPLIB - A Traveling Salesman Problem Library", ORSA Journal on Computing 3, 1991.
    """
    x, y = coords[:, 0], coords[:, 1]
    dx, dy = x[:, None] - x[None, :], y[:, None] - y[None, :]
    exact = np.sqrt(dx * dx + dy * dy) * (EXACT_UNITS if edge_type == "EXACT_2D" else 1)
    rounded = np.ceil(exact) if edge_type == "CEIL_2D" else np.floor(exact + 0.5)
    return rounded.astype(np.int32)


def operator_environment(data: RoutingData) -> dict[str, Any]:
    """Return the card's keys for `data`; fresh, writable arrays. Where lengths are in parts of the file's
    unit, ``units`` says in how many; where routes are limited, `length_limit` stands there, too.
    """
    if data.weights is not None:
        distances = data.weights.astype(np.int32)
    else:
        assert data.coords is not None
        distances = planar_matrix(data.coords, data.edge_type)
    units = {"units": EXACT_UNITS} if data.edge_type == "EXACT_2D" else {}
    return {
        **units,
        **length_limit(data),
        "dist_matrix": distances,
        "demands": np.array(data.demands, dtype=np.int64),
        "capacity": int(data.capacity),
        "num_nodes": len(data.demands),
        "depot_idx": 0,
    }


def length_limit(data: RoutingData) -> dict[str, int]:
    """Return ``max_route_length`` and ``service_time`` in the unit of the matrix; nothing without a limit.

    Whoever does not look at them still gets routes that keep the limit: the decoder returns to the depot
    where the next customer would exceed it.
    """
    if data.max_length is None:
        return {}
    units = EXACT_UNITS if data.edge_type == "EXACT_2D" else 1
    return {
        "max_route_length": math.floor(data.max_length * units + 1e-6),
        "service_time": math.ceil(data.service * units - 1e-6),
    }


def environment_of_file(path: Path) -> dict[str, Any]:
    """Return what operators see of the instance in a file; raises InstanceFormatError."""
    return operator_environment(read_instance(path))
