"""Parts of a list that are as evenly spread as the whole."""

from __future__ import annotations

from collections.abc import Sequence

from dga2d.events import InstanceKey


def spread(keys: Sequence[InstanceKey], size: int | None) -> tuple[InstanceKey, ...]:
    """Return `size` keys evenly spaced over the sorted list; all of them for ``None``."""
    if size is None or size >= len(keys):
        return tuple(keys)
    return tuple(keys[(2 * i + 1) * len(keys) // (2 * size)] for i in range(size))


def spread_order(size: int) -> list[int]:
    """Return 0, …, `size` − 1 in an order whose every beginning is as evenly spread as the whole.

    References
    ----------
    J. G. van der Corput, "Verteilungsfunktionen", 1935 (the order of reversed digits).
    """
    width = (size - 1).bit_length()
    return sorted(range(size), key=lambda i: f"{i:0{width}b}"[::-1])
