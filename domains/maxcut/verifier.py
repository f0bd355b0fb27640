"""Independent verifier: adds up the cut from the list of edges; shares no code with the decoder."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.contract import State, Verdict
from dga2d.domains.encoding import array_violation


def verify_sides(
    n_vertices: int, edges: NDArray[np.int32], weights: NDArray[np.int32], state: State
) -> Verdict:
    """Check that `state` puts each vertex on side 0 or 1 and weigh its cut; never raises on a broken one."""
    sequence: Any = getattr(state, "sequence", None)
    violation = array_violation(sequence, n_vertices)
    if violation is not None:
        return Verdict(None, violation)
    sides: list[int] = sequence.tolist()
    for vertex, side in enumerate(sides):
        if side not in (0, 1):
            return Verdict(None, f"vertex {vertex} is on side {side}, not 0 or 1")
    ends, costs = edges.tolist(), weights.tolist()
    cut = sum(weight for (a, b), weight in zip(ends, costs, strict=True) if sides[a] != sides[b])
    return Verdict(float(cut), None)
