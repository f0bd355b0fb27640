"""The graphs of Rinaldi's generator rudy, in own code, edge for edge.

rudy builds on Knuth's Stanford GraphBase: its portable random numbers, and lists of arcs in which the newest
comes first. That order decides which edge gets which random weight, so it is kept here.

References
----------
G. Rinaldi, rudy: a rudimentary graph generator, 1996.
D. E. Knuth, The Stanford GraphBase, 1993: modules GB_FLIP, GB_RAND, GB_BASIC (board, gunion).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from dga2d.domains.maxcut.graph import WeightedGraph

_MODULUS: Final = 1 << 31
_LAG, _SHORT_LAG = 55, 24
_WARM_UP_ROUNDS: Final = 5


class FlipGenerator:
    """Knuth's X[k] = X[k-55] - X[k-24] modulo 2^31 as GB_FLIP seeds it (other than TAOCP does)."""

    def __init__(self, seed: int) -> None:
        self._table = [0] * _LAG
        previous = bits = seed % _MODULUS
        value = 1
        self._table[0] = previous
        place = 21
        while place:
            self._table[place] = value
            bits = (bits >> 1) + (bits & 1) * (_MODULUS >> 1)
            previous, value = value, (previous - value - bits) % _MODULUS
            place = (place + 21) % _LAG
        # a round of 55 numbers: slot 0 is the one that comes first and was seeded last
        self._table = [*self._table[1:], self._table[0]]
        for _ in range(_WARM_UP_ROUNDS):
            self._next_round()
        self._left = _LAG - 1  # the first number of this round is thrown away too

    def _next_round(self) -> None:
        table = self._table
        for i in range(_LAG):
            table[i] = (table[i] - table[(i + _LAG - _SHORT_LAG) % _LAG]) % _MODULUS
        self._left = _LAG

    def integer(self) -> int:
        """Return the next number, uniform on 0 … 2^31 - 1; a round is handed out from its end."""
        if not self._left:
            self._next_round()
        self._left -= 1
        return self._table[self._left]

    def below(self, bound: int) -> int:
        """Return the next number, uniform on 0 … bound - 1."""
        limit = _MODULUS - _MODULUS % bound
        while (number := self.integer()) >= limit:
            pass
        return number % bound


class RudyGraph:
    """A graph under construction: for each vertex its incident edges, oldest first."""

    def __init__(self, n_vertices: int) -> None:
        self.n_vertices = n_vertices
        self._arcs: list[list[int]] = [[] for _ in range(n_vertices)]
        self._edges: dict[tuple[int, int], int] = {}
        """Ends, the lower first, and the number of the edge."""
        self._weights: list[int] = []

    @property
    def n_edges(self) -> int:
        return len(self._edges)

    def has_edge(self, a: int, b: int) -> bool:
        """Return whether a and b are joined."""
        return (min(a, b), max(a, b)) in self._edges

    def add_edge(self, a: int, b: int) -> None:
        """Join a and b by an edge of weight 1."""
        self._edges[min(a, b), max(a, b)] = self.n_edges
        self._weights.append(1)
        self._arcs[a].append(b)
        self._arcs[b].append(a)

    def higher_neighbours(self, vertex: int) -> Iterator[int]:
        """Neighbours above `vertex`, the one joined last first."""
        return (other for other in reversed(self._arcs[vertex]) if other > vertex)

    def with_random_signs(self, seed: int) -> RudyGraph:
        """Return the same graph; each weight is +1 or -1 (``-random 0 1 seed -times 2 -plus -1``)."""
        generator = FlipGenerator(seed)
        for vertex in range(self.n_vertices):
            for other in self.higher_neighbours(vertex):
                self._weights[self._edges[vertex, other]] = 2 * generator.below(2) - 1
        return self

    def frozen(self) -> WeightedGraph:
        """Return the edges in the order in which rudy prints them."""
        pairs = [(v, other) for v in range(self.n_vertices) for other in self.higher_neighbours(v)]
        weights = [self._weights[self._edges[pair]] for pair in pairs]
        ends = np.array(pairs, dtype=np.int32).reshape(len(pairs), 2)
        return WeightedGraph(self.n_vertices, ends, np.array(weights, dtype=np.int32))


def random_graph(n_vertices: int, density_percent: int, seed: int) -> RudyGraph:
    """``-rnd_graph``: random pairs until a share of all pairs is joined, rounded to the nearest number."""
    graph, generator = RudyGraph(n_vertices), FlipGenerator(seed)
    n_edges = (n_vertices * (n_vertices - 1) * density_percent + 100) // 200
    while graph.n_edges < n_edges:
        a, b = generator.below(n_vertices), generator.below(n_vertices)
        if a != b and not graph.has_edge(a, b):
            graph.add_edge(a, b)
    return graph


def planar_graph(n_vertices: int, density_percent: int, seed: int) -> RudyGraph:
    """``-planar``: each vertex is put into a random triangle and joined to its corners (the outer face is
    never taken); then random edges go until no more than a share of 3 (n - 2) are left; n at least 3.
    """
    generator = FlipGenerator(seed)
    edges = [(0, 1), (0, 2), (1, 2)]
    faces = [(0, 1, 2)]
    for vertex in range(3, n_vertices):
        face = generator.below(len(faces))
        a, b, c = faces[face]
        edges += [(a, vertex), (b, vertex), (c, vertex)]
        faces[face] = (a, b, vertex)
        faces += [(a, c, vertex), (b, c, vertex)]
    most = 3 * (n_vertices - 2)
    while 100 * len(edges) > density_percent * most:
        gone = generator.below(len(edges))
        edges[gone] = edges[-1]
        edges.pop()
    graph = RudyGraph(n_vertices)
    for a, b in edges:
        graph.add_edge(a, b)
    return graph


def union(first: RudyGraph, second: RudyGraph) -> RudyGraph:
    """``+``: the edges of both graphs on the same vertices, common ones once."""
    graph = RudyGraph(first.n_vertices)
    for vertex in range(graph.n_vertices):
        for part in (first, second):
            for other in part.higher_neighbours(vertex):
                if not graph.has_edge(vertex, other):
                    graph.add_edge(vertex, other)
    return graph


def toroidal_grid(height: int, width: int) -> RudyGraph:
    """``-toroidal_grid_2D``: rows and columns closed to circles, all of three vertices or more."""
    graph = RudyGraph(height * width)
    for row in range(height):
        for column in range(width):
            graph.add_edge(row * width + column, row * width + (column + 1) % width)
    for row in range(height):
        for column in range(width):
            graph.add_edge(row * width + column, (row + 1) % height * width + column)
    return graph
