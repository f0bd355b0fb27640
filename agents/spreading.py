"""Parts of a list that are as evenly spread as the whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from dga2d.events import InstanceKey, copy_of

Item = TypeVar("Item")


def spread(items: Sequence[Item], size: int | None) -> tuple[Item, ...]:
    """Return `size` items evenly spaced over the sorted list; all of them for ``None``."""
    if size is None or size >= len(items):
        return tuple(items)
    return tuple(items[(2 * i + 1) * len(items) // (2 * size)] for i in range(size))


def spread_copies(keys: Sequence[InstanceKey], size: int) -> tuple[InstanceKey, ...]:
    """Return `size` instances, evenly spaced; where there are fewer they come again as copies, under other
    random streams, none before all others did."""
    found, copy = list(spread(keys, size)), 1
    while len(found) < size:
        copy += 1
        found += [copy_of(key, copy) for key in spread(keys, size - len(found))]
    return tuple(found)


def spread_order(size: int) -> list[int]:
    """Return 0, …, `size` − 1 in an order whose every beginning is as evenly spread as the whole.

    References
    ----------
    J. G. van der Corput, "Verteilungsfunktionen", 1935 (the order of reversed digits).
    """
    width = (size - 1).bit_length()
    return sorted(range(size), key=lambda i: f"{i:0{width}b}"[::-1])
