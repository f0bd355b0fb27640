"""Solution files: where each item lies.

There is no common format. The text starts with comment lines (``#``: the instance, the meaning of the
lines), then a line ``items packed fill-rate-in-percent``, then one line per item in the order of the
instance: item, 0 if packed and -1 if left out, lowest corner x y z, sides dx dy dz as packed (zeros where
left out).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.clp3d.verifier import packing_of
from dga2d.domains.packing.placements import packing_text


def solution_text_of(
    key: str,
    bin_size: NDArray[np.int32],
    item_sizes: NDArray[np.int32],
    allowed: NDArray[np.int32],
    sequence: NDArray[Any],
    objective: float,
) -> str:
    """Text of a verified solution."""
    packing = packing_of(bin_size, item_sizes, allowed, sequence)
    first = f"{len(item_sizes)} {int((packing.bins >= 0).sum())} {objective!r}"
    return packing_text(key, "items packed fill-rate-in-percent", first, packing)
