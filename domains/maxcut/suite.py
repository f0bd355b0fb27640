"""The generated instances: the G-set, and further graphs of its families for validation and for the test.

The published set leaves eight graphs to validate on and nine to test on, too few to tell programs apart. The
further ones come from the same generator, in the same sizes and from other seeds; none of them is trained on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from dga2d.domains.core.contract import InstanceRef, Part, Reference
from dga2d.domains.core.published import shipped_refs
from dga2d.domains.core.splits import numbered_copies
from dga2d.domains.maxcut import gset
from dga2d.domains.maxcut.graph import WeightedGraph
from dga2d.domains.maxcut.rudy import RudyGraph, random_graph, toroidal_grid

GROUP: Final = "rudy"
COPIES: Final = 3
"""Graphs of a family in each part."""


class Family(NamedTuple):
    """Graphs of one kind and size, as the G-set has them."""

    make: Callable[..., RudyGraph]
    """Generator of the graph without its signs."""
    shapes: tuple[tuple[int, ...], ...]
    """What `make` takes but the seed: numbers of vertices and densities, or, of grids, which take no seed,
    heights and widths. The copies take them in turn."""
    n_vertices: int
    has_signs: bool
    """Whether weights are +1 and -1 at random; else they are 1."""


def _random(n: int, density: int, *, signs: bool) -> Family:
    return Family(random_graph, ((n, density),), n, signs)


def _planar(n: int, density: int, *, signs: bool) -> Family:
    return Family(gset.planar_union, ((n, density),), n, signs)


FAMILIES: Final[Mapping[str, Family]] = {
    "random-800": _random(800, 6, signs=False),
    "signed-random-800": _random(800, 6, signs=True),
    "torus-800": Family(toroidal_grid, ((100, 8), (50, 16), (25, 32)), 800, True),
    "planar-800": _planar(800, 99, signs=False),
    "signed-planar-800": _planar(800, 99, signs=True),
    "random-1000": _random(1000, 2, signs=False),
    "planar-1000": _planar(1000, 100, signs=False),
    "random-2000": _random(2000, 1, signs=False),
    "signed-random-2000": _random(2000, 1, signs=True),
    "torus-2000": Family(toroidal_grid, ((100, 20), (80, 25), (50, 40)), 2000, True),
    "planar-2000": _planar(2000, 99, signs=False),
    "signed-planar-2000": _planar(2000, 99, signs=True),
}


class GeneratedInstance(NamedTuple):
    """What the program needs to make a graph again."""

    group: str
    name: str
    """Family and number: ``planar-800-1``."""
    family: Family
    number: int
    """From 1."""
    part: Part

    @property
    def seed(self) -> int:
        """The G-set's seeds are 10 n + 1 and on; these begin at 10 n + 101. Unions of planar graphs take the
        next one, too."""
        return 10 * self.family.n_vertices + 99 + 2 * self.number

    def graph(self) -> WeightedGraph:
        """Return the graph."""
        make, shapes, _, has_signs = self.family
        shape = shapes[(self.number - 1) % len(shapes)]
        graph = make(*shape) if make is toroidal_grid else make(*shape, self.seed)
        return (graph.with_random_signs(self.seed) if has_signs else graph).frozen()


@cache
def further_instances() -> tuple[GeneratedInstance, ...]:
    """Return the graphs beside the G-set, sorted by name."""
    numbered = [
        GeneratedInstance(GROUP, f"{name}-{number}", family, number, part)
        for name, family in FAMILIES.items()
        for number, part in numbered_copies(COPIES)
    ]
    return tuple(sorted(numbered, key=lambda one: one.name))


@cache
def generated_refs() -> tuple[InstanceRef, ...]:
    """Return the 41 instances of the G-set and the further ones with their references, sorted by key."""
    return (*gset.generated_refs(), *shipped_refs(__package__, further_instances(), _reference))


def _reference(entry: Mapping[str, Any], made_by: Mapping[str, Any]) -> Reference:
    source = f"{entry['by']}, {entry['seconds']:g} s; {made_by['tools']} were run, not proven"
    return Reference(float(entry["value"]), "computed", source)


def generate(group: str, name: str) -> WeightedGraph | None:
    """Return the graph called `name` in `group`; ``None`` if it is none of those that can be made."""
    if group == gset.GROUP:
        return gset.generate(name)
    found = (one for one in further_instances() if (one.group, one.name) == (group, name))
    return next((one.graph() for one in found), None)
