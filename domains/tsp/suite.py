"""The generated instances: which sizes and seeds, and the tours LKH found for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import repeat
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import InstanceRef, Part, Reference
from dga2d.domains.core.published import shipped_refs
from dga2d.domains.tsp.generator import clustered_cities, uniform_cities

INSTANCES_PER_SIZE: Final[Mapping[int, int]] = {100: 6, 200: 6, 316: 5, 500: 4, 1000: 4}
"""Number of cities → number of instances in each group that are split by draw."""
FURTHER_PER_SIZE: Final[Mapping[int, int]] = {100: 3, 200: 3, 316: 3, 500: 3, 1000: 2}
"""Number of cities → number of further ones in each group for validation, and of as many for the test."""
_LETTERS: Final = {"clustered": "C", "uniform": "E"}


class GeneratedInstance(NamedTuple):
    """What the program needs to make an instance again."""

    group: str
    name: str
    """Class letter, size and number as in the DIMACS challenge: ``E1000.0``."""
    size: int
    seed: int
    part: Part | None

    def cities(self) -> NDArray[np.float64]:
        """Coordinates, float64 `(size, 2)`."""
        make = uniform_cities if self.group == "uniform" else clustered_cities
        return make(self.size, self.seed)


def generated_instances() -> tuple[GeneratedInstance, ...]:
    """Return all generated instances, sorted by group and name.

    The seeds follow the challenge: instance 0 of size n has seed n, instance k > 0 has seed 10 n + k.
    """
    instances = [
        GeneratedInstance(group, f"{letter}{size}.{k}", size, 10 * size + k if k else size, part)
        for group, letter in _LETTERS.items()
        for size in INSTANCES_PER_SIZE
        for k, part in enumerate(_parts(size))
    ]
    return tuple(sorted(instances, key=lambda one: (one.group, one.name)))


def _parts(size: int) -> Iterator[Part | None]:
    """Yield where each instance of a group with that many cities belongs; ``None``: as it is drawn."""
    yield from repeat(None, INSTANCES_PER_SIZE[size])
    yield from repeat("validation", FURTHER_PER_SIZE[size])
    yield from repeat("test", FURTHER_PER_SIZE[size])


@cache
def generated_refs() -> tuple[InstanceRef, ...]:
    """Return the generated instances with their computed references, sorted by key."""
    return shipped_refs(__package__, generated_instances(), _reference)


def _reference(entry: Mapping[str, Any], made_by: Mapping[str, Any]) -> Reference:
    source = f"{made_by['tool']} {made_by['version']}, best of {made_by['runs']} runs, {made_by['effort']}"
    return Reference(float(entry["value"]), "computed", source)


def find_generated(group: str, name: str) -> GeneratedInstance:
    """Return the generated instance called `name` in `group`.

    Raises
    ------
    LookupError
        No generated instance has that name.
    """
    for instance in generated_instances():
        if (instance.group, instance.name) == (group, name):
            return instance
    raise LookupError(f"no generated TSP instance is called {group}/{name}")
