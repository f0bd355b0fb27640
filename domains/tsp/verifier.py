"""Independent check of a tour; shares no code with the decoder and reads coordinates, not the matrix."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import State, Verdict
from dga2d.domains.tsp.reader import format_tour


def verify_tour(coords: NDArray[np.float64], sequence: object) -> Verdict:
    """Check that `sequence` visits every city once and add up its EUC_2D length.

    Parameters
    ----------
    coords
        float64 `(n, 2)`.
    sequence
        Expected to be an int32 array of shape `(n,)`; anything else is a violation, never an exception.
    """
    violation = _first_violation(len(coords), sequence)
    if violation is not None:
        return Verdict(None, violation)
    assert isinstance(sequence, np.ndarray)
    points = [(float(coords[city, 0]), float(coords[city, 1])) for city in sequence.tolist()]
    length = 0
    for (x, y), (next_x, next_y) in zip(points, points[1:] + points[:1], strict=True):
        length += math.floor(math.sqrt((x - next_x) ** 2 + (y - next_y) ** 2) + 0.5)
    return Verdict(float(length), None)


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
    return verify_tour(environment["coords"], state.sequence)


def solution_text(name: str, environment: Mapping[str, Any], state: State, objective: float) -> str:
    """Return the text of a verified tour; nothing of `environment` is needed."""
    del environment
    return format_tour(name, state.sequence, int(objective))
