"""Independent verifier: adds up the cut from the list of edges; shares no code with the decoder.

In a solution file comment lines begin with ``#``. Then follow a line ``n cut``, the number of vertices and
the weight of the cut, and one line per vertex in rising order, ``i s``: the vertex, counted from 1 as in
rudy's files, and its side, 1 or 2 as in the solution files that accompany the results of Benlic and Hao
(2013).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import State, Verdict
from dga2d.domains.core.encoding import array_violation
from dga2d.domains.maxcut.graph import Csr, edges_of


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


def sides_text(key: str, sides: NDArray[Any], cut: int) -> str:
    """Return the text of the solution of instance `key` with 0/1 `sides`."""
    lines = [f"# {key}: number of vertices and weight of the cut; then each vertex and its side"]
    lines.append(f"{len(sides)} {cut}")
    lines += [f"{vertex} {side + 1}" for vertex, side in enumerate(sides.tolist(), start=1)]
    return "\n".join(lines) + "\n"


def verified_objective(environment: Mapping[str, Any], state: State) -> Verdict:
    """Return the weight of the cut by the independent verifier, or the first broken constraint."""
    csr = Csr(environment["offsets"], environment["neighbors"], environment["edge_weights"])
    return verify_sides(environment["num_nodes"], *edges_of(csr), state)


def solution_text(name: str, environment: Mapping[str, Any], state: State, objective: float) -> str:
    """Return the text of a verified solution; nothing of `environment` is needed."""
    del environment
    return sides_text(f"file/{name}", state.sequence, int(objective))
