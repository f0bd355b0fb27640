"""Graphs of the DIMACS clique benchmarks that are mathematical constructions, vertex for vertex.

Each function gives the graph whose largest *independent set* is sought: the complement of the clique
instance of that name. Numbering follows the published files.

References
----------
J. Hasselberg, P. M. Pardalos, G. Vairaktarakis, Test case generators and computational results for the
maximum clique problem, Journal of Global Optimization 3, 1993: Hamming, Johnson and Keller graphs.
J. C. Lagarias, P. W. Shor, Keller's cube-tiling conjecture is false in high dimensions, 1992.
C. Mannino, A. Sassano, Solving hard set covering problems, Operations Research Letters 18, 1995: the Steiner
triple problems as graphs. D. R. Fulkerson, G. L. Nemhauser, L. E. Trotter, Two computationally difficult set
covering problems that arise in computing the 1-width of incidence matrices of Steiner triple systems, 1974.
"""

from __future__ import annotations

from itertools import combinations, permutations, product

import numpy as np
from numpy.typing import NDArray

Triples = tuple[tuple[int, int, int], ...]


def hamming(bits: int, distance: int) -> NDArray[np.uint8]:
    """Words of `bits` bits in numerical order, adjacent when they differ in fewer than `distance` places.

    An independent set is a binary code of minimum distance `distance`.
    """
    words = np.array(list(product((0, 1), repeat=bits)), dtype=np.int16)
    return _closer_than(words, distance)


def johnson(bits: int, weight: int, distance: int) -> NDArray[np.uint8]:
    """As :func:`hamming`, for the words with `weight` ones: a constant-weight code."""
    chosen = sorted(combinations(range(bits - 1, -1, -1), weight), key=lambda ones: sum(1 << i for i in ones))
    words = np.zeros((len(chosen), bits), np.int16)
    for row, ones in enumerate(chosen):
        words[row, list(ones)] = 1
    return _closer_than(words, distance)


def _closer_than(words: NDArray[np.int16], distance: int) -> NDArray[np.uint8]:
    ones = words.sum(axis=1, dtype=np.int64)
    apart = ones[:, None] + ones[None, :] - 2 * (words.astype(np.int64) @ words.T.astype(np.int64))
    return _without_loops(apart < distance)


def keller(dimension: int) -> NDArray[np.uint8]:
    """Complement of the neighbourhood of a vertex in the Keller graph of `dimension`.

    Vertices are the words over 0 … 3, in lexicographic order, with at least two entries other than 0 and at
    least one 2; two are *not* adjacent here when they differ in at least two places, in one of them by 2.
    """
    words = np.array(
        [
            word
            for word in product(range(4), repeat=dimension)
            if 2 in word and sum(entry != 0 for entry in word) >= 2
        ],
        dtype=np.int8,
    )
    places = np.zeros((len(words), len(words)), np.int16)
    by_two = np.zeros((len(words), len(words)), np.bool_)
    for column in words.T:
        difference = (column[:, None] - column[None, :]) % 4
        places += difference != 0
        by_two |= difference == 2
    return _without_loops((places < 2) | ~by_two)


def _without_loops(matrix: NDArray[np.bool_]) -> NDArray[np.uint8]:
    adjacency = matrix.astype(np.uint8)
    np.fill_diagonal(adjacency, 0)
    return adjacency


A3: Triples = ((0, 1, 2),)
A9: Triples = (
    *((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 4, 8), (0, 3, 7), (0, 5, 6)),
    *((1, 3, 8), (1, 4, 6), (1, 5, 7), (2, 5, 8), (2, 4, 7), (2, 3, 6)),
)
"""The Steiner triple system of order 9 in the numbering of ``MANN_a9``."""


def triple_system(triples: Triples, points: int) -> Triples:
    """Steiner triple system on 3 · `points` points: M. Hall's product with the system of order 3."""
    copies = [(x + at, y + at, z + at) for at in (0, points, 2 * points) for x, y, z in triples]
    mixed = [
        (triple[a], points + triple[b], 2 * points + triple[c])
        for a, b, c in permutations(range(3))
        for triple in triples
    ]
    across = [(x, points + x, 2 * points + x) for x in range(points)]
    return (*copies, *mixed, *across)


def projective_triples(dimension: int) -> Triples:
    """Return the lines of the projective space over two elements, a Steiner triple system.

    Point i of the 2^(dimension + 1) - 1 stands for the non-zero word i + 1; a line holds x, y and x xor y.
    """
    points = range(1, 2 ** (dimension + 1))
    return tuple((x - 1, y - 1, (x ^ y) - 1) for x, y in combinations(points, 2) if y < x ^ y)


def steiner(triples: Triples, points: int) -> NDArray[np.uint8]:
    """Return the covering problem of a triple system as an independent-set problem.

    The first `points` vertices are the points left *out* of a cover; each triple adds a triangle whose
    corners are joined with its three points. The independence number is the number of triples plus `points`
    minus the smallest number of points that meet every triple.
    """
    n = points + 3 * len(triples)
    adjacency = np.zeros((n, n), np.uint8)
    for i, triple in enumerate(triples):
        corners = range(points + 3 * i, points + 3 * i + 3)
        for u, v in (*combinations(corners, 2), *zip(triple, corners, strict=True)):
            adjacency[u, v] = adjacency[v, u] = 1
    return adjacency
