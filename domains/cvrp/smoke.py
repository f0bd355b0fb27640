"""The instance on which new implementations are tried: the first published vehicle routing problem.

References
----------
G. B. Dantzig, J. H. Ramser, The truck dispatching problem, Management Science 6(1), 1959: twelve customers,
distances as a table; four trucks and 290 miles are optimal (they found 294).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from dga2d.domains.cvrp.distances import explicit_matrix
from dga2d.domains.cvrp.reader import RoutingData

OPTIMUM: Final = 290
CAPACITY: Final = 6000
_DEMANDS: Final = (0, 1200, 1700, 1500, 1400, 1700, 1400, 1200, 1900, 1800, 1600, 1700, 1100)
_UPPER_ROWS: Final = """
    9 14 21 23 22 25 32 36 38 42 50 52
    5 12 22 21 24 31 35 37 41 49 51
    7 17 16 23 26 30 36 36 44 46
    10 21 30 27 37 43 31 37 39
    19 28 25 35 41 29 31 29
    9 10 16 22 20 28 30
    7 11 13 17 25 27
    10 16 10 18 20
    6 6 14 16
    12 12 20
    8 10
    10
"""


def truck_dispatching() -> RoutingData:
    """Dantzig and Ramser's example."""
    values = np.array(_UPPER_ROWS.split(), dtype=np.int64)
    weights = explicit_matrix(values, "UPPER_ROW", len(_DEMANDS))
    return RoutingData(None, "EXPLICIT", weights, np.array(_DEMANDS, dtype=np.int64), CAPACITY, "truck")
