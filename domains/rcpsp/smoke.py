"""The instance on which new implementations are tried: eight activities and two resources, optimum 16.

The longest path takes 13 and the work on the first resource at least 14 periods, so that no search stops
early at these bounds.
"""

from __future__ import annotations

import numpy as np

from dga2d.domains.rcpsp.project import Project

OPTIMUM = 16

_DURATIONS = (0, 4, 3, 5, 2, 4, 3, 2, 5, 0)
_REQUESTS = ((0, 0), (2, 1), (3, 0), (1, 2), (2, 2), (3, 1), (1, 3), (2, 0), (2, 2), (0, 0))
_CAPACITIES = (4, 4)
_EDGES = (
    (0, 1), (0, 2), (0, 3), (1, 4), (1, 5), (2, 5), (3, 6), (4, 7), (5, 9), (6, 8), (7, 9), (8, 9),
)  # fmt: skip


def eight_activities() -> Project:
    """Durations, requests, capacities and edges of the instance."""
    return Project(
        np.array(_DURATIONS, np.int32),
        np.array(_REQUESTS, np.int32),
        np.array(_CAPACITIES, np.int32),
        np.array(_EDGES, np.int32),
    )
