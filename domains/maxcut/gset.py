"""The G-set, made again with rudy's own random numbers, and the best cuts the literature knows for it.

Of its 51 graphs with at most 2000 vertices 41 are instances, as many as in the DGA2D paper's table: of each
family the first ones. The others can be loaded by name but belong to no split; the library was tuned on them.

References
----------
C. Helmberg, F. Rendl, A spectral bundle method for semidefinite programming, SIAM Journal on Optimization 10,
2000: families, sizes and seeds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Final, NamedTuple

from dga2d.domains.core.contract import InstanceRef, Reference
from dga2d.domains.core.published import reference_of, shipped_table
from dga2d.domains.maxcut.graph import WeightedGraph
from dga2d.domains.maxcut.rudy import RudyGraph, planar_graph, random_graph, toroidal_grid, union

GROUP: Final = "gset"
HELD_BACK: Final = frozenset({5, 10, 17, 21, 26, 31, 38, 42, 47, 54})
"""Numbers of the graphs that are no instances: the last of every family of four or five."""
_NAME = re.compile(r"(?:G|g|gset_|Gset_)0*([1-9][0-9]*)")


class Recipe(NamedTuple):
    """How to make one graph."""

    make: Callable[..., RudyGraph]
    settings: tuple[int, ...]
    sign_seed: int | None
    """Seed of random signs; ``None`` where all weights are 1."""

    def graph(self) -> WeightedGraph:
        graph = self.make(*self.settings)
        return (graph if self.sign_seed is None else graph.with_random_signs(self.sign_seed)).frozen()


def planar_union(n_vertices: int, density_percent: int, seed: int) -> RudyGraph:
    """Return the union of two planar graphs, of `seed` and of the next."""
    first, second = (planar_graph(n_vertices, density_percent, seed + i) for i in (0, 1))
    return union(first, second)


def _family(
    first: int, make: Callable[..., RudyGraph], *settings: tuple[int, ...], sign_seed: int | None = None
) -> dict[int, Recipe]:
    """Graphs numbered from `first`; those with signs take `sign_seed` and the seeds that follow it."""
    return {
        first + k: Recipe(make, setting, None if sign_seed is None else sign_seed + k)
        for k, setting in enumerate(settings)
    }


def _seeds(n_vertices: int, density_percent: int, first: int, step: int, count: int) -> list[tuple[int, ...]]:
    return [(n_vertices, density_percent, first + step * k) for k in range(count)]


@cache
def recipes() -> Mapping[int, Recipe]:
    """Return the graphs with at most 2000 vertices by their number in the set."""
    dense, sparse = _seeds(800, 6, 8001, 1, 5), _seeds(2000, 1, 20001, 1, 5)
    planar_800, planar_2000 = _seeds(800, 99, 8001, 2, 4), _seeds(2000, 99, 20001, 2, 4)
    return {
        **_family(1, random_graph, *dense),
        **_family(6, random_graph, *dense, sign_seed=8001),
        **_family(11, toroidal_grid, (100, 8), (50, 16), (25, 32), sign_seed=8001),
        **_family(14, planar_union, *planar_800),
        **_family(18, planar_union, *planar_800, sign_seed=8001),
        **_family(22, random_graph, *sparse),
        **_family(27, random_graph, *sparse, sign_seed=20001),
        32: Recipe(toroidal_grid, (100, 20), 20003),  # the seeds fall here
        33: Recipe(toroidal_grid, (80, 25), 20002),
        34: Recipe(toroidal_grid, (50, 40), 20001),
        **_family(35, planar_union, *planar_2000),
        **_family(39, planar_union, *planar_2000, sign_seed=20001),
        **_family(43, random_graph, *_seeds(1000, 2, 10001, 1, 5)),
        **_family(51, planar_union, *_seeds(1000, 100, 10001, 2, 4)),
    }


def generate(name: str) -> WeightedGraph | None:
    """Return the graph called `name`, ``G<number>``; ``None`` if it is none of those that can be made."""
    recipe = recipes().get(int(name[1:])) if re.fullmatch(r"G[1-9][0-9]?", name) else None
    return None if recipe is None else recipe.graph()


@cache
def best_known() -> Mapping[int, Reference]:
    """Best known cuts by number in the set, for larger graphs than can be made here too."""
    table = shipped_table(__package__, "gset.json")
    return {int(name[1:]): reference_of("gset.json", name, entry) for name, entry in table.items()}


@cache
def generated_refs() -> tuple[InstanceRef, ...]:
    """Return the 41 instances, sorted by key."""
    numbers = sorted(recipes().keys() - HELD_BACK, key=str)
    return tuple(InstanceRef("maxcut", GROUP, f"G{k}", None, best_known()[k]) for k in numbers)


def reference_of_name(name: str) -> Reference | None:
    """Return the best known cut of an instance named like a graph of the set (``G14``, ``gset_14``)."""
    match = _NAME.fullmatch(name)
    return best_known().get(int(match[1])) if match else None
