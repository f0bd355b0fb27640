"""A weighted undirected graph, as a list of edges and in CSR form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.instance_data import ReadOnlyArrays


@dataclass(frozen=True)
class WeightedGraph(ReadOnlyArrays):
    """Simple graph: no loops, no parallel edges. The arrays are read-only."""

    n_vertices: int
    edges: NDArray[np.int32]
    """int32 `(m, 2)`: end points of each edge, from 0."""
    weights: NDArray[np.int32]
    """int32 `(m,)`: weight of each edge, of either sign."""


class Csr(NamedTuple):
    """Adjacency by vertices; each edge stands there twice."""

    offsets: NDArray[np.int32]
    """int32 `(n + 1,)`: where the neighbours of each vertex begin."""
    neighbours: NDArray[np.int32]
    """int32 `(2 m,)`: ascending for each vertex."""
    weights: NDArray[np.int32]
    """int32 `(2 m,)`"""


def csr_of(n_vertices: int, edges: NDArray[np.int32], weights: NDArray[np.int32]) -> Csr:
    """Return the CSR form of a list of edges; fresh, writable arrays."""
    tails = np.concatenate((edges[:, 0], edges[:, 1]))
    heads = np.concatenate((edges[:, 1], edges[:, 0]))
    order = np.lexsort((heads, tails))
    offsets = np.zeros(n_vertices + 1, np.int32)
    np.cumsum(np.bincount(tails, minlength=n_vertices), out=offsets[1:])
    return Csr(offsets, heads[order].astype(np.int32), np.tile(weights, 2)[order].astype(np.int32))


def edges_of(csr: Csr) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the end points, int32 `(m, 2)`, and weights, int32 `(m,)`, of the edges of a CSR form; inverse
    of :func:`csr_of` up to the order of edges and end points.
    """
    tails = np.repeat(np.arange(csr.offsets.size - 1, dtype=np.int32), np.diff(csr.offsets))
    once = tails < csr.neighbours
    return np.stack((tails[once], csr.neighbours[once]), axis=1), csr.weights[once]
