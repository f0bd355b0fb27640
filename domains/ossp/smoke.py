"""The instance on which new implementations are tried: the first of Taillard's 4 × 4 problems, optimum 193.

References
----------
E. Taillard, Benchmarks for basic scheduling problems, European Journal of Operational Research 64(2), 1993.
"""

from __future__ import annotations

import numpy as np

from dga2d.domains.ossp.reader import OpenShopData

OPTIMUM = 193
"""Seven above the largest load of a machine or job, so that no search stops early."""

_TIMES = ((34, 2, 54, 61), (15, 89, 70, 9), (38, 19, 28, 87), (95, 7, 34, 29))


def four_by_four() -> OpenShopData:
    """Times of the instance."""
    return OpenShopData(np.array(_TIMES, dtype=np.int32))
