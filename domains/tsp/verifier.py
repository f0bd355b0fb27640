"""Independent check of a tour; shares no code with the decoder and, where there are points, measures them
instead of reading the matrix.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dga2d.domains.core.contract import State, Verdict
from dga2d.domains.tsp.reader import format_tour


def verify_tour(data: Mapping[str, Any], sequence: object) -> Verdict:
    """Check that `sequence` visits every city once, over every fixed edge, and add up its length.

    Parameters
    ----------
    data
        An instance's data, as :meth:`dga2d.domains.tsp.reader.TsplibFile.data` returns them.
    sequence
        Expected to be an int32 array of shape `(n,)`; anything else is a violation, never an exception.
    """
    coords = data["coords"]
    violation = _first_violation(len(coords), sequence)
    if violation is not None:
        return Verdict(None, violation)
    assert isinstance(sequence, np.ndarray)
    tour: list[int] = sequence.tolist()
    left_out = _first_left_out(tour, data.get("fixed", ()))
    if left_out is not None:
        return Verdict(None, left_out)
    edge_type = data.get("edge_type", "EUC_2D")
    pairs = zip(tour, tour[1:] + tour[:1], strict=True)
    if edge_type == "EXPLICIT":
        return Verdict(float(sum(int(data["weights"][a, b]) for a, b in pairs)), None)
    points = [(float(x), float(y)) for x, y in coords.tolist()]
    length = sum(edge_length(edge_type, points[a], points[b]) for a, b in pairs if a != b)
    return Verdict(float(length), None)


def edge_length(edge_type: str, one: tuple[float, float], other: tuple[float, float]) -> int:
    """Return the length of the edge between two points, by TSPLIB's definition of `edge_type`."""
    (x, y), (next_x, next_y) = one, other
    squares = (x - next_x) ** 2 + (y - next_y) ** 2
    if edge_type == "EUC_2D":
        return math.floor(math.sqrt(squares) + 0.5)
    if edge_type == "CEIL_2D":
        return math.ceil(math.sqrt(squares))
    if edge_type == "MAN_2D":
        return math.floor(abs(x - next_x) + abs(y - next_y) + 0.5)
    if edge_type == "MAX_2D":
        return max(math.floor(abs(x - next_x) + 0.5), math.floor(abs(y - next_y) + 0.5))
    if edge_type == "ATT":
        exact = math.sqrt(squares / 10.0)
        nearest = math.floor(exact + 0.5)
        return nearest + 1 if nearest < exact else nearest
    (latitude, longitude), (next_latitude, next_longitude) = _on_the_globe(one), _on_the_globe(other)
    q1 = math.cos(longitude - next_longitude)
    q2, q3 = math.cos(latitude - next_latitude), math.cos(latitude + next_latitude)
    cosine = 0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3)
    return math.floor(6378.388 * math.acos(min(max(cosine, -1.0), 1.0)) + 1.0)


def _on_the_globe(point: tuple[float, float]) -> tuple[float, float]:
    """Return latitude and longitude in radians of ``DDD.MM``: degrees and minutes."""
    latitude, longitude = (math.modf(value) for value in point)
    return (
        3.141592 * (latitude[1] + 5.0 * latitude[0] / 3.0) / 180.0,
        3.141592 * (longitude[1] + 5.0 * longitude[0] / 3.0) / 180.0,
    )


def _first_left_out(tour: list[int], fixed: Any) -> str | None:
    position_of = {city: position for position, city in enumerate(tour)}
    for a, b in (map(int, edge) for edge in fixed):
        if (position_of[a] - position_of[b]) % len(tour) not in (1, len(tour) - 1):
            return f"the fixed edge between cities {a} and {b} is not in the tour"
    return None


def _first_violation(n_cities: int, sequence: object) -> str | None:
    if type(sequence) is not np.ndarray:
        return f"sequence is a {type(sequence).__name__}, not an array"
    if sequence.dtype != np.int32:
        return f"sequence has dtype {sequence.dtype}, not int32"
    if sequence.shape != (n_cities,):
        return f"sequence has shape {sequence.shape}, not ({n_cities},)"
    position_of: dict[int, int] = {}
    for position, city in enumerate(sequence.tolist()):
        if not 0 <= city < n_cities:
            return f"city {city} at position {position} is outside 0..{n_cities - 1}"
        if city in position_of:
            return f"city {city} is visited at positions {position_of[city]} and {position}"
        position_of[city] = position
    return None


def verified_objective(environment: Mapping[str, Any], state: State) -> Verdict:
    """Return the tour length by the independent verifier, or the first broken constraint."""
    weights = environment["distance_matrix"].copy()
    fixed = environment.get("fixed_edges", np.empty((0, 2), np.int32))
    for a, b in fixed.tolist():
        weights[a, b] += environment["fixed_discount"]
        weights[b, a] += environment["fixed_discount"]
    data = {"coords": environment["coords"], "edge_type": "EXPLICIT", "weights": weights, "fixed": fixed}
    return verify_tour(data, state.sequence)


def solution_text(name: str, environment: Mapping[str, Any], state: State, objective: float) -> str:
    """Return the text of a verified tour; nothing of `environment` is needed."""
    del environment
    return format_tour(name, state.sequence, int(objective))
