"""Job shop scheduling as a :class:`~dga2d.domains.core.contract.Domain`.

The instance on which new implementations are tried: Fisher and Thompson's 6 × 6 problem, optimum 55.

References
----------
H. Fisher, G. L. Thompson, Probabilistic learning combinations of local job-shop scheduling rules, in
Industrial Scheduling, Prentice-Hall, 1963.
"""

from __future__ import annotations

from types import MappingProxyType

from dga2d.domains.core.contract import Instance, Reference
from dga2d.domains.core.instance_data import fields_of
from dga2d.domains.jsp import halves, large, taillard
from dga2d.domains.jsp.reader import JobShopData, parse_instance
from dga2d.domains.shared.shops import further
from dga2d.domains.shared.shops.domain import ShopDomain


class JobShop(ShopDomain):
    """The job shop scheduling problem, makespan objective."""

    safe_pipeline = ("giffler_thompson", "elite_tabu")
    basic_pipeline = ("giffler_thompson", "critical_block_annealing")
    ils_pipeline = ("giffler_thompson", "iterated_tabu")
    group = "ta"
    tables = ("machines", "times")
    own_groups = MappingProxyType(
        {halves.GROUP: halves.shops, large.GROUP: large.shops, further.GROUP: taillard.further_shops}
    )
    only_named = frozenset({halves.GROUP, large.GROUP})
    rehearsed = (15, 15, 840_000_017, 398_000_023)

    def smoke_instance(self) -> Instance:
        reference = Reference(float(SMOKE_OPTIMUM), "optimal", "Carlier and Pinson 1989")
        return Instance(self.name, "ft", "ft06", fields_of(ft06()), reference)


SMOKE_OPTIMUM = 55

_FT06 = """\
6 6
2 1 0 3 1 6 3 7 5 3 4 6
1 8 2 5 4 10 5 10 0 10 3 4
2 5 3 4 5 8 0 9 1 1 4 7
1 5 0 5 2 5 3 3 4 8 5 9
2 9 1 3 4 5 5 4 0 3 3 1
1 3 3 3 5 9 0 10 4 4 2 1
"""
"""The published file: machine and time of each operation."""


def ft06() -> JobShopData:
    """Return the machines and times of ft06."""
    return parse_instance(_FT06, "ft06")
