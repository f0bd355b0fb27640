"""What sizes the packing domains take."""

from __future__ import annotations

from typing import Any, Final

MAX_ITEMS: Final = 5_000
"""Most items of an instance: work arrays grow with its square."""
LONGEST_SIDE: Final = 1_000_000
"""Longest side of a bin: keys of points have 21 bits for each coordinate."""


def side_fault(values: Any, bin_size: list[int] | None) -> str | None:
    """Why `values` are not the three sides of a box that fits a bin; ``None`` if they are.

    Without `bin_size` they are a bin's own sides.
    """
    if not isinstance(values, list) or len(values) != 3:
        return "expected three sides"
    limits = [LONGEST_SIDE] * 3 if bin_size is None else bin_size
    for side, limit in zip(values, limits, strict=True):
        if type(side) is not int or not 1 <= side <= limit:
            return f"a side of {str(side)[:40]} is not in 1..{limit}"
    return None
