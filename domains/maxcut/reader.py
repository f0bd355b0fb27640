"""Reader of the rudy format of weighted graphs.

The first line holds the numbers of vertices and edges, ``n m``; then follows one line ``i j w`` per edge:
two different vertices, counted from 1, and an integer weight.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.maxcut.card import INVALID_SCORE
from dga2d.domains.maxcut.graph import WeightedGraph, csr_of
from dga2d.domains.shared.integer_lines import integer_lines, read_text

SUFFIXES = ("", ".txt", ".rud", ".rudy", ".mc", ".graph")
"""Names an instance file may end in."""
MAX_VERTICES = 1_000_000
"""A first line that asks for more is taken for a mistake before memory is taken for it."""


def read_instance(path: Path) -> WeightedGraph:
    """Read one file in rudy's format.

    Raises
    ------
    InstanceFormatError
        The file is missing, is not text, holds something else than integers, is truncated or goes on after
        the last edge, has a line of another length, a vertex out of range, a loop or a repeated edge, or
        weights so large that a cut could reach the score of an invalid state.
    """
    return parse_instance(read_text(path), path)


def parse_instance(text: str, path: Path | str) -> WeightedGraph:
    """Parse the text of a file; `path` names it in errors. See :func:`read_instance`."""
    n_vertices, n_edges, line = 0, -1, 0
    edges: dict[tuple[int, int], int] = {}
    for line, values in integer_lines(text, path):
        if n_edges < 0:
            n_vertices, n_edges = _sizes(path, line, values)
        elif len(edges) == n_edges:
            raise InstanceFormatError(path, line, f"goes on after the last of {n_edges} edges")
        else:
            edge, weight = _edge(path, line, values, n_vertices)
            if edge in edges:
                raise InstanceFormatError(path, line, f"edge {edge[0] + 1} {edge[1] + 1} occurs twice")
            edges[edge] = weight
    if n_edges < 0:
        raise InstanceFormatError(path, None, "holds no numbers")
    if len(edges) < n_edges:
        raise InstanceFormatError(path, line, f"ends after {len(edges)} of {n_edges} edges")
    if sum(map(abs, edges.values())) >= INVALID_SCORE:
        raise InstanceFormatError(path, None, f"weights add up to {INVALID_SCORE} or more")
    ends = np.array(list(edges), dtype=np.int32).reshape(n_edges, 2)
    return WeightedGraph(n_vertices, ends, np.array(list(edges.values()), dtype=np.int32))


def _sizes(path: Path | str, line: int, values: list[int]) -> tuple[int, int]:
    if len(values) != 2:
        raise InstanceFormatError(
            path, line, f"expected the numbers of vertices and edges, got {len(values)}"
        )
    n_vertices, n_edges = values
    if not 1 <= n_vertices <= MAX_VERTICES:
        raise InstanceFormatError(path, line, f"number of vertices {n_vertices} is not in 1..{MAX_VERTICES}")
    if not 0 <= n_edges <= n_vertices * (n_vertices - 1) // 2:
        raise InstanceFormatError(path, line, f"{n_vertices} vertices cannot have {n_edges} edges")
    return n_vertices, n_edges


def _edge(path: Path | str, line: int, values: list[int], n_vertices: int) -> tuple[tuple[int, int], int]:
    """Return the edge with its lower end first, from 0, and its weight."""
    if len(values) != 3:
        raise InstanceFormatError(
            path, line, f"expected two vertices and a weight, got {len(values)} numbers"
        )
    a, b, weight = values
    for vertex in (a, b):
        if not 1 <= vertex <= n_vertices:
            raise InstanceFormatError(path, line, f"vertex {vertex} is not in 1..{n_vertices}")
    if a == b:
        raise InstanceFormatError(path, line, f"vertex {a} is joined to itself")
    return (min(a, b) - 1, max(a, b) - 1), weight


def operator_environment(
    n_vertices: int, edges: NDArray[np.int32], weights: NDArray[np.int32]
) -> dict[str, Any]:
    """Return the card's keys for a graph; fresh, writable arrays."""
    csr = csr_of(n_vertices, edges, weights)
    return {
        "num_nodes": int(n_vertices),
        "num_edges": len(weights),
        "neighbors": csr.neighbours,
        "edge_weights": csr.weights,
        "offsets": csr.offsets,
    }


def environment_of_file(path: Path) -> dict[str, Any]:
    """Return what operators see of the instance in a file; raises InstanceFormatError."""
    graph = read_instance(path)
    return operator_environment(graph.n_vertices, graph.edges, graph.weights)
