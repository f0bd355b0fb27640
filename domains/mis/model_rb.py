"""Random graphs with a hidden largest independent set: Model RB, as in BHOSLIB's instances frbN-D.

References
----------
K. Xu, F. Boussemart, F. Hemery, C. Lecoutre, Random constraint satisfaction: easy generation of hard
(satisfiable) instances, Artificial Intelligence 171, 2007. K. Xu, BHOSLIB, 2004: alpha = 0.8, p = 0.25,
r = 0.8 / ln(4/3). G. L. Steele, D. Lea, C. H. Flood, Fast splittable pseudorandom number generators, 2014.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

TIGHTNESS: Final = 0.25
"""p: share of the vertex pairs of two chosen cliques that become edges."""
CONSTRAINTS: Final = 0.8 / math.log(4.0 / 3.0)
"""r: there are round(r N ln N) pairs of cliques."""
_MASK: Final = 2**64 - 1


class SplitMix64:
    """Steele, Lea and Flood's generator of 64-bit numbers: the same numbers on every machine."""

    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK

    def below(self, bound: int) -> int:
        """Next number on 0 … `bound` - 1, 1 ≤ `bound` < 2^32."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        z = self._state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return ((z ^ (z >> 31)) * bound) >> 64

    def sample(self, population: int, size: int) -> list[int]:
        """`size` different numbers of 0 … `population` - 1 in random order (Fisher-Yates)."""
        items = list(range(population))
        for i in range(size):
            j = i + self.below(population - i)
            items[i], items[j] = items[j], items[i]
        return items[:size]


def model_rb(cliques: int, size: int, seed: int) -> NDArray[np.uint8]:
    """uint8 `(cliques · size,) * 2`: `cliques` ≥ 2 disjoint cliques of `size` vertices, joined at random.

    Vertex ``size * c + i`` is the i-th of clique c. One vertex of each clique is hidden from the random
    edges between cliques, so the independence number is `cliques`.
    """
    rng = SplitMix64(seed)
    hidden = [rng.below(size) for _ in range(cliques)]
    adjacency = np.kron(np.eye(cliques, dtype=np.uint8), 1 - np.eye(size, dtype=np.uint8))
    n_edges = round(TIGHTNESS * size * size)
    for _ in range(round(CONSTRAINTS * cliques * math.log(cliques))):
        first, second = rng.sample(cliques, 2)
        forbidden = hidden[first] * size + hidden[second]
        for pair in rng.sample(size * size - 1, n_edges):
            i, j = divmod(pair + (pair >= forbidden), size)
            u, v = first * size + i, second * size + j
            adjacency[u, v] = adjacency[v, u] = 1
    return adjacency
