"""The generated instances: Uchoa's generator over sizes, positions, demands and route lengths."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from dga2d.domains.core.contract import InstanceRef, Part, Reference
from dga2d.domains.core.published import shipped_refs
from dga2d.domains.cvrp.generator import CustomerPositioning, DemandPattern, DepotPositioning, Recipe

SIZES: Final = (60, 80, 100, 120, 150, 180, 210, 240, 280, 320)
"""Numbers of customers, the same in each group."""
_GROUPS: Final[tuple[CustomerPositioning, ...]] = ("clustered", "half", "random")
_DEPOTS: Final[tuple[DepotPositioning, ...]] = ("centre", "eccentric", "random")
_DEMANDS: Final[tuple[DemandPattern, ...]] = (
    "unitary",
    "1-100",
    "quadrant",
    "5-10",
    "many-small",
    "1-10",
    "50-100",
)
_PARTS: Final[tuple[Part | None, ...]] = (None, "validation", "test")
"""Where the instances of a design belong; the first ones, which came alone for long, are split by draw."""
_ROUTE_LENGTHS: Final = (4.1, 9.3, 6.2, 14.6, 5.4, 21.7, 7.8, 11.5)
"""Spread over the paper's triangular distribution."""


class GeneratedInstance(NamedTuple):
    """Name and recipe of one instance."""

    group: str
    """Positioning of the customers."""
    name: str
    """Nodes and positioning of the depot, and for all but the first a number: ``n101-eccentric-2``."""
    recipe: Recipe
    part: Part | None


@cache
def generated_instances() -> tuple[GeneratedInstance, ...]:
    """Return all generated instances, sorted by group and name."""
    instances = []
    for g, group in enumerate(_GROUPS):
        for s, size in enumerate(SIZES):
            k = g * len(SIZES) + s
            depot = _DEPOTS[(s + g) % 3]
            for copy, part in enumerate(_PARTS):
                demands = _DEMANDS[(2 * k + 3 * copy) % len(_DEMANDS)]
                length = _ROUTE_LENGTHS[(3 * k + 5 * copy) % len(_ROUTE_LENGTHS)]
                recipe = Recipe(size, depot, group, demands, length, 1000 * size + 10 * copy + g)
                number = f"-{copy + 1}" if copy else ""
                name = f"n{size + 1:03}-{depot}{number}"
                instances.append(GeneratedInstance(group, name, recipe, part))
    return tuple(sorted(instances))


@cache
def generated_refs() -> tuple[InstanceRef, ...]:
    """Return the generated instances with their computed references, sorted by key."""
    return shipped_refs(__package__, generated_instances(), _reference)


def _reference(entry: Mapping[str, Any], made_by: Mapping[str, Any]) -> Reference:
    tool = f"{made_by['tool']} {made_by['version']}"
    source = f"{entry['by']}, {entry['seconds']:g} s; {tool} and the safe baseline were run, not proven"
    return Reference(float(entry["value"]), "computed", source)


def find_generated(group: str, name: str) -> GeneratedInstance | None:
    """Return the generated instance called `name` in `group`, if there is one."""
    for instance in generated_instances():
        if (instance.group, instance.name) == (group, name):
            return instance
    return None
