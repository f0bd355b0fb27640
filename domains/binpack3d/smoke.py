"""The instance on which new implementations are tried.

Nine slabs in bins of 10³, of which only two go into one bin, and seven small boxes to fill the gaps: five
bins, one more than the simple bounds say, so that a search for fewer bins never ends at once.
"""

from __future__ import annotations

import numpy as np

from dga2d.domains.binpack3d.reader import BinPackingData

_ITEMS = (
    (6, 6, 4),
    (7, 6, 4),
    (6, 7, 4),
    (8, 6, 4),
    (6, 8, 4),
    (7, 7, 4),
    (6, 6, 4),
    (6, 9, 4),
    (9, 6, 4),
    (3, 10, 5),
    (4, 3, 6),
    (10, 3, 8),
    (2, 5, 7),
    (10, 10, 2),
    (4, 4, 10),
    (5, 2, 2),
)


def sixteen_boxes() -> BinPackingData:
    """Bin and items."""
    return BinPackingData(np.full(3, 10, np.int32), np.array(_ITEMS, dtype=np.int32))
