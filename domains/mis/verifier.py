"""Independent verifier: reads the set from the vector and looks for an edge inside it.

It shares no code with the compiled decoder: the edges of the selected vertices are taken from the adjacency
matrix itself, not from bits.

Solution files: the vertices of the set, one per line, in the manner of DIMACS' output format.

The text starts with ``c`` comment lines that name the instance, then ``s mis <size>``, then one line
``v <vertex>`` per vertex of the set, ascending. Vertices count from 1 as in the instance file. For a ``.clq``
instance the set is at the same time a clique of the graph in that file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import State, Verdict
from dga2d.domains.core.encoding import array_violation


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
    """Return the vertices whose entry is not 0, ascending, from 0."""
    return [vertex for vertex, value in enumerate(sequence.tolist()) if value]


def edge_violation(adjacency: NDArray[np.uint8], chosen: list[int]) -> str | None:
    """Return the first edge between two of the vertices `chosen`; ``None`` if they are independent."""
    for vertex in chosen:
        neighbours = set(np.flatnonzero(adjacency[vertex]).tolist()).intersection(chosen)
        if neighbours:
            return f"vertices {vertex} and {min(neighbours)} are both selected and adjacent"
    return None


def set_text(key: str, chosen: Sequence[int]) -> str:
    """Return the text for the vertices `chosen`, which count from 0 and ascend."""
    head = [
        f"c instance {key}",
        "c a set of mutually non-adjacent vertices (a clique of the graph of a .clq file)",
        f"s mis {len(chosen)}",
    ]
    return "\n".join([*head, *(f"v {vertex + 1}" for vertex in chosen), ""])


def verified_objective(environment: Mapping[str, Any], state: State) -> Verdict:
    """Return the size of the set by the independent verifier, or the first broken constraint."""
    return verify_vector(environment["adj"], state)


def solution_text(name: str, environment: Mapping[str, Any], state: State, objective: float) -> str:
    """Return the text of a verified solution; nothing else of `environment` is needed."""
    del environment, objective
    return set_text(f"file/{name}", selected(state.sequence))
