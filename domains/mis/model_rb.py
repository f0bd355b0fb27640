"""Random graphs with a hidden largest independent set: Model RB, as in BHOSLIB's instances frbN-D.

Who knows the numbers that a graph was made from knows the hidden set. The graphs of the suite were therefore
made once, by ``benchmarks/model_rb_instances.py`` from random numbers of the operating system that nobody
kept, and are shipped as they are.

References
----------
K. Xu, F. Boussemart, F. Hemery, C. Lecoutre, Random constraint satisfaction: easy generation of hard
(satisfiable) instances, Artificial Intelligence 171, 2007. K. Xu, BHOSLIB, 2004: alpha = 0.8, p = 0.25,
r = 0.8 / ln(4/3).
"""

from __future__ import annotations

import lzma
import math
import random
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

TIGHTNESS: Final = 0.25
"""p: share of the vertex pairs of two chosen cliques that become edges."""
CONSTRAINTS: Final = 0.8 / math.log(4.0 / 3.0)
"""r: there are round(r N ln N) pairs of cliques."""
SIZES: Final = ((30, 15), (35, 17), (40, 19), (45, 21), (50, 23), (53, 24), (56, 25), (59, 26))
"""Number and size of the cliques of the shipped graphs, as in BHOSLIB."""
SHIPPED: Final[Mapping[str, int]] = {"model_rb.xz": 5, "model_rb_further.xz": 6}
"""Graphs of each size in each shipped file; they are numbered through, from 1."""
_FILTERS: Final = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 0, "lp": 0, "pb": 0}]


class HiddenSetGraph(NamedTuple):
    """A graph together with its secret."""

    adjacency: NDArray[np.uint8]
    hidden: list[int]
    """One vertex of each clique; no two of them are adjacent."""


def model_rb(cliques: int, size: int, rng: random.Random) -> HiddenSetGraph:
    """Return `cliques` ≥ 2 disjoint cliques of `size` vertices, joined at random, and what it hides.

    The matrix is uint8 `(cliques · size,) * 2`. Vertex ``size * c + i`` is the i-th of clique c. One vertex
    of each clique is hidden from the random edges between cliques, so the independence number is `cliques`.
    """
    hidden = [rng.randrange(size) for _ in range(cliques)]
    adjacency = np.kron(np.eye(cliques, dtype=np.uint8), 1 - np.eye(size, dtype=np.uint8))
    n_edges = round(TIGHTNESS * size * size)
    for _ in range(round(CONSTRAINTS * cliques * math.log(cliques))):
        first, second = rng.sample(range(cliques), 2)
        forbidden = hidden[first] * size + hidden[second]
        for pair in rng.sample(range(size * size - 1), n_edges):
            i, j = divmod(pair + (pair >= forbidden), size)
            u, v = first * size + i, second * size + j
            adjacency[u, v] = adjacency[v, u] = 1
    return HiddenSetGraph(adjacency, [size * c + i for c, i in enumerate(hidden)])


def pack(graphs: Iterable[NDArray[np.uint8]], shapes: Sequence[tuple[int, int]]) -> bytes:
    """Return `graphs` in the format of the shipped files: of each pair of cliques a bit per pair of vertices.

    `shapes` holds number and size of the cliques of each graph. All is compressed by xz.
    """
    parts = []
    for adjacency, (cliques, size) in zip(graphs, shapes, strict=True):
        blocks = adjacency.reshape(cliques, size, cliques, size).transpose(0, 2, 1, 3)
        upper = blocks[np.triu_indices(cliques, 1)].reshape(-1, size * size)
        parts.append(np.packbits(upper, axis=1).tobytes())
    return lzma.compress(b"".join(parts), format=lzma.FORMAT_XZ, check=lzma.CHECK_SHA256, filters=_FILTERS)


def unpack(data: bytes, cliques: int, size: int) -> NDArray[np.uint8]:
    """Return the graph of `_packed_bytes(cliques, size)` bytes: uint8 `(cliques · size,) * 2`."""
    rows = np.frombuffer(data, np.uint8).reshape(math.comb(cliques, 2), -1)
    upper = np.unpackbits(rows, axis=1, count=size * size).reshape(-1, size, size)
    blocks = np.zeros((cliques, cliques, size, size), np.uint8)
    first, second = np.triu_indices(cliques, 1)
    blocks[first, second] = upper
    blocks[second, first] = upper.transpose(0, 2, 1)
    blocks[np.arange(cliques), np.arange(cliques)] = 1 - np.eye(size, dtype=np.uint8)
    return blocks.transpose(0, 2, 1, 3).reshape(cliques * size, cliques * size)


def shipped_graph(cliques: int, size: int, number: int) -> NDArray[np.uint8]:
    """Return graph `number` of one of `SIZES`; the array is the caller's."""
    for file, per_size in SHIPPED.items():
        start = 0
        for shape in SIZES:
            length = _packed_bytes(*shape)
            if shape == (cliques, size) and number <= per_size:
                start += length * (number - 1)
                return unpack(_read_shipped(file)[start : start + length], cliques, size)
            start += length * per_size
        number -= per_size
    raise ValueError(f"no graph of {cliques} cliques of {size} vertices has that number; sizes: {SIZES}")


def _packed_bytes(cliques: int, size: int) -> int:
    return math.comb(cliques, 2) * math.ceil(size * size / 8)


@cache
def _read_shipped(file: str) -> bytes:
    return lzma.decompress((files(__package__) / file).read_bytes())
