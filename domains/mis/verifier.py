"""Independent verifier: reads the set from the vector and looks for an edge inside it.

It shares no code with the compiled decoder: the edges of the selected vertices are taken from the adjacency
matrix itself, not from bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.contract import State, Verdict
from dga2d.domains.encoding import array_violation


def verify_vector(adjacency: NDArray[np.uint8], state: State) -> Verdict:
    """Check `state` against a graph, uint8 `(n, n)`; never raises on a broken one."""
    sequence: Any = getattr(state, "sequence", None)
    violation = array_violation(sequence, len(adjacency))
    if violation is not None:
        return Verdict(None, violation)
    for vertex, value in enumerate(sequence.tolist()):
        if value not in (0, 1):
            return Verdict(None, f"entry {vertex} is {value}, expected 0 or 1")
    chosen = selected(sequence)
    violation = edge_violation(adjacency, chosen)
    return Verdict(float(len(chosen)), None) if violation is None else Verdict(None, violation)


def selected(sequence: NDArray[Any]) -> list[int]:
    """Vertices whose entry is not 0, ascending, from 0."""
    return [vertex for vertex, value in enumerate(sequence.tolist()) if value]


def edge_violation(adjacency: NDArray[np.uint8], chosen: list[int]) -> str | None:
    """The first edge between two of the vertices `chosen`; ``None`` if they are independent."""
    for vertex in chosen:
        neighbours = set(np.flatnonzero(adjacency[vertex]).tolist()).intersection(chosen)
        if neighbours:
            return f"vertices {vertex} and {min(neighbours)} are both selected and adjacent"
    return None
