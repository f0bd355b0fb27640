"""The instance on which new implementations are tried: Jackson's 11 tasks with cycle time 7, optimum 8.

The bin-packing bound is 7, so that no operator finds its work done before it has begun.

References
----------
J. R. Jackson, A computing procedure for a line balancing problem, Management Science 2, 1956.
"""

from __future__ import annotations

import numpy as np

from dga2d.domains.salbp1.line import LineData

OPTIMUM = 8

_CYCLE_TIME = 7
_TIMES = (6, 2, 5, 7, 1, 2, 3, 6, 5, 5, 4)
_EDGES = (
    (0, 1),
    (0, 2),
    (0, 3),
    (0, 4),
    (1, 5),
    (2, 6),
    (3, 6),
    (4, 6),
    (5, 7),
    (6, 8),
    (7, 9),
    (8, 10),
    (9, 10),
)


def jackson() -> LineData:
    """Jackson's line."""
    return LineData(_CYCLE_TIME, np.array(_TIMES, dtype=np.int32), np.array(_EDGES, dtype=np.int32))
