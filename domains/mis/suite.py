"""The generated instances: constructions with known independence numbers, and shipped Model RB graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import chain, repeat
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import InstanceRef, Part
from dga2d.domains.core.published import reference_of, shipped_table
from dga2d.domains.mis import constructions
from dga2d.domains.mis.model_rb import SIZES, shipped_graph

PARTS: Final[Mapping[Part | None, int]] = {None: 5, "validation": 3, "test": 3}
"""Where how many of the shipped graphs of a size belong, in their order; the first ones as they are drawn."""


class GeneratedInstance(NamedTuple):
    """What the program needs to make an instance again."""

    family: str
    """``hamming``, ``johnson``, ``keller``, ``steiner`` or ``model_rb``."""
    parameters: tuple[int, ...]
    part: Part | None = None

    def graph(self) -> NDArray[np.uint8]:
        """Adjacency matrix of the independent-set instance, uint8 `(n, n)`."""
        return _MAKERS[self.family](*self.parameters)


def steiner_graph(points: int) -> NDArray[np.uint8]:
    """Return the covering graph of the triple systems of order 9, 27, 45 or 81.

    Orders 9 and 27 have the numbering of ``MANN_a9`` and ``MANN_a27``; that of order 45 is the product of the
    lines of the projective space PG(3, 2) with the system of order 3.
    """
    third = {
        27: lambda: constructions.triple_system(constructions.A3, 3),
        45: lambda: constructions.projective_triples(3),
        81: lambda: constructions.triple_system(constructions.triple_system(constructions.A3, 3), 9),
    }
    if points == 9:
        return constructions.steiner(constructions.A9, 9)
    return constructions.steiner(constructions.triple_system(third[points](), points // 3), points)


_MAKERS: Final[Mapping[str, Callable[..., NDArray[np.uint8]]]] = {
    "hamming": constructions.hamming,
    "johnson": constructions.johnson,
    "keller": constructions.keller,
    "steiner": steiner_graph,
    "model_rb": shipped_graph,
}


@cache
def instances() -> Mapping[tuple[str, str], GeneratedInstance]:
    """Return all generated instances by group and name.

    Groups: ``constructions``, whose names are those of the DIMACS files with the same graph, and
    ``model_rb``, ``rb<cliques>-<size>-s<k>``; the s stands for secret. Graphs of earlier versions, named
    without it, were made from seeds that everybody could repeat.
    """
    table: dict[tuple[str, str], GeneratedInstance] = {
        ("constructions", name): GeneratedInstance(entry["family"], tuple(entry["parameters"]))
        for name, entry in shipped_table(__package__)["constructions"].items()
    }
    for cliques, size in SIZES:
        parts: Iterable[Part | None] = chain.from_iterable(repeat(part, n) for part, n in PARTS.items())
        for k, part in enumerate(parts, start=1):
            made = GeneratedInstance("model_rb", (cliques, size, k), part)
            table["model_rb", f"rb{cliques}-{size}-s{k}"] = made
    return table


@cache
def generated_refs() -> tuple[InstanceRef, ...]:
    """Return the generated instances with their references, sorted by key."""
    refs = []
    for (group, name), made in instances().items():
        entry = shipped_table(__package__)["constructions"].get(name)
        if group == "model_rb":
            entry = {
                "best": made.parameters[0],
                "optimal": True,
                "source": shipped_table(__package__)["model_rb"]["source"],
            }
        reference = reference_of("references.json", name, entry)
        refs.append(InstanceRef("mis", group, name, None, reference, made.part))
    return tuple(sorted(refs, key=lambda ref: ref.key))
