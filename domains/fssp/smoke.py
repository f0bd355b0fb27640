"""The instance on which new implementations are tried: eight jobs on four machines.

Small enough that all 40,320 permutations can be decoded, which a test does.
"""

from __future__ import annotations

import numpy as np

from dga2d.domains.fssp.reader import FlowShopData

BEST = 427
"""Shortest makespan of a permutation schedule, 13 above the lower bound, so that no search stops early."""

_TIMES = (
    (13, 79, 23, 71),
    (31, 13, 14, 94),
    (17, 1, 78, 45),
    (19, 28, 10, 23),
    (94, 75, 8, 29),
    (8, 57, 84, 37),
    (10, 17, 9, 18),
    (66, 20, 46, 61),
)


def eight_by_four() -> FlowShopData:
    """Times of the instance."""
    return FlowShopData(np.array(_TIMES, dtype=np.int32))
