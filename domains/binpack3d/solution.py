"""Solution files: where each item lies.

There is no common format. The text starts with comment lines (``#``: the instance, the meaning of the
lines), then a line ``items bins score``, then one line per item in the order of the instance: item, bin
(from 0), lowest corner x y z, sides dx dy dz.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.binpack3d.verifier import packing_of
from dga2d.domains.packing.placements import packing_text


def solution_text_of(
    key: str,
    bin_size: NDArray[np.int32],
    item_sizes: NDArray[np.int32],
    sequence: NDArray[Any],
    objective: float,
) -> str:
    """Text of a verified solution."""
    packing = packing_of(bin_size, item_sizes, sequence)
    first = f"{len(item_sizes)} {int(packing.bins.max()) + 1} {objective!r}"
    return packing_text(key, "items bins score", first, packing)
