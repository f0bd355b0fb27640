"""The instance on which new implementations are tried: the flexible version of the 6 × 6 problem, optimum 55.

Six operations may go to a second machine, the others are bound to one.

References
----------
J. Hurink, B. Jurisch, M. Thole, Tabu search for the job-shop scheduling problem with multi-purpose machines,
OR Spektrum 15, 1994: mt06 of edata, after Fisher and Thompson's job shop (1963).
"""

from __future__ import annotations

from dga2d.domains.fjsp.reader import FlexibleShopData, tabulate
from dga2d.domains.jsp.smoke import ft06

OPTIMUM = 55

_ROUTES = (
    ("2", "0", "1", "3", "53", "4"),
    ("1", "2", "4", "5", "0", "3"),
    ("25", "3", "5", "0", "15", "4"),
    ("1", "0", "2", "30", "4", "5"),
    ("2", "1", "4", "51", "0", "3"),
    ("13", "3", "5", "0", "4", "2"),
)
"""Digits are machines, the eligible ones of an operation together."""


def mt06_edata() -> FlexibleShopData:
    """Machines and times of the instance; an operation takes the same time on all its machines."""
    return tabulate(
        6,
        [
            [
                [(int(machine), time) for machine in machines]
                for machines, time in zip(route, times, strict=True)
            ]
            for route, times in zip(_ROUTES, ft06().times.tolist(), strict=True)
        ],
    )
