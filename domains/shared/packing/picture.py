"""Packings as pictures: bins with their boxes, seen from above a corner."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dga2d.domains.drawing import Drawing, Panel, boxes_panel
from dga2d.domains.shared.packing.geometry import Packing

MAX_BINS = 24
"""Bins drawn at most; the picture says how many are not."""
COLUMNS = 4


def packing_drawing(packing: Packing, size: Sequence[int], kinds: Sequence[int], title: str) -> Drawing:
    """Draw one panel per bin; boxes with the same entry of `kinds` look the same.

    Only `MAX_BINS` bins are drawn, the first ones and the last.
    """
    n_bins = int(packing.bins.max(initial=-1)) + 1
    shown = list(range(n_bins)) if n_bins <= MAX_BINS else [*range(MAX_BINS - 1), n_bins - 1]
    panels = [_bin(packing, number, size, kinds) for number in shown or [0]]
    columns = 1 if len(panels) == 1 else COLUMNS
    if columns > 1:
        panels += [Panel(has_frame=False, is_equal=True)] * (-len(panels) % columns)
    rows = tuple(tuple(panels[i : i + columns]) for i in range(0, len(panels), columns))
    hidden = n_bins - len(shown)
    return Drawing(title, rows, (f"{hidden} bins are not drawn.",) if hidden else ())


def _bin(packing: Packing, number: int, size: Sequence[int], kinds: Sequence[int]) -> Panel:
    items = np.flatnonzero(packing.bins == number)
    low, high = packing.low[items], packing.high[items]
    words = [
        f"item {item}: {' × '.join(map(str, (b - a).tolist()))} at ({', '.join(map(str, a.tolist()))})"
        for item, a, b in zip(items.tolist(), low, high, strict=True)
    ]
    title = f"bin {number}: {len(items)} boxes"
    return boxes_panel(low, high, size, [kinds[item] for item in items.tolist()], words, title)
