"""Compiled decoder: minus the weight of the cut a 0/1 vector describes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from dga2d.domains.core.contract import Decoder, State
from dga2d.domains.core.encoding import int32_array
from dga2d.domains.maxcut.card import INVALID_SCORE
from dga2d.domains.maxcut.graph import Csr, edges_of


@njit(cache=True)
def negative_cut(sides, edges):  # type: ignore[no-untyped-def]
    """Return minus the weight of the cut of int32 `sides`, or INVALID_SCORE unless all entries are 0 or
    1.

    `edges`, int32 `(3, m)`: lower ends, higher ends and weights, each edge once.
    """
    union = np.uint32(0)
    for v in range(sides.size):
        union |= np.uint32(sides[v])  # unsigned: negative entries become huge
    if union > 1:
        return INVALID_SCORE
    cut = np.int64(0)
    for k in range(edges.shape[1]):
        # a mask instead of a branch: whether an edge is cut is a coin toss
        is_cut = sides[np.uint32(edges[0, k])] ^ sides[np.uint32(edges[1, k])]
        cut += edges[2, k] & -np.int64(is_cut)
    return -cut


def make_decoder(environment: Mapping[str, Any]) -> Decoder:
    """Return the decoder of one environment.

    It keeps copies of the data, so that code which scribbles on `environment` cannot change a score; a call
    with a contiguous int32 array allocates nothing. Other integer arrays are converted; anything that is
    not a one-dimensional integer array of length ``num_nodes`` scores INVALID_SCORE.
    """
    size = int(environment["num_nodes"])
    edges = _edges(environment)

    def decode(state: State) -> float:
        sequence = int32_array(state.sequence, (size,), 2)
        if sequence is None:
            return float(INVALID_SCORE)
        return float(negative_cut(sequence, edges))

    decode(State(np.zeros(size, np.int32)))  # compiled, or loaded from numba's cache, before it is used
    return decode


def _edges(environment: Mapping[str, Any]) -> NDArray[np.int32]:
    """Return the lower ends, higher ends and weights of the edges, int32 `(3, m)`."""
    csr = Csr(*(np.array(environment[key]) for key in ("offsets", "neighbors", "edge_weights")))
    ends, weights = edges_of(csr)
    return np.ascontiguousarray(np.stack((ends[:, 0], ends[:, 1], weights)).astype(np.int32))
