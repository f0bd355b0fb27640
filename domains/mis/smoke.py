"""The instance on which new implementations are tried: the covering problem of the triple system of order 9.

References
----------
C. Mannino, A. Sassano, Solving hard set covering problems, Operations Research Letters 18, 1995.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.mis.constructions import A9, steiner

INDEPENDENCE_NUMBER = 16
"""Twelve triples, and four points that contain none of them."""


def nine_points() -> NDArray[np.uint8]:
    """Graph of 45 vertices and 72 edges (``MANN_a9``)."""
    return steiner(A9, 9)
