"""Random job shops of 100 × 100, made as Taillard's are, with times up to 999.

They count only where their group is named: an evaluation of one takes as long as that of a hundred others.

References
----------
E. Taillard, Benchmarks for basic scheduling problems, European Journal of Operational Research 64(2), 1993:
the generator. G. Da Col, E. C. Teppan, Industrial-size job shop scheduling with constraint programming,
Operations Research Perspectives 9, 2022: job shops of this size. That theirs are made so follows from the
bounds they give; the rule itself was not looked up.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final, NamedTuple

from dga2d.domains.core.contract import Part
from dga2d.domains.jsp.reader import JobShopData
from dga2d.domains.jsp.taillard import generate

GROUP: Final = "random100x100"
SIZE: Final = 100
LONGEST: Final = 999


class LargeShop(NamedTuple):
    """What describes an instance."""

    number: int
    """From 1."""
    part: Part | None = None
    """As in `InstanceRef`: it is drawn."""

    def data(self) -> JobShopData:
        """Return the machines and times."""
        seeds = (715_827_883 + 104_729 * self.number, 179_424_673 + 1_299_709 * self.number)
        return generate(SIZE, SIZE, *seeds, LONGEST)


@cache
def shops() -> Mapping[str, LargeShop]:
    """Return the instances of the group by name."""
    return {f"r{number}": LargeShop(number) for number in range(1, 7)}
