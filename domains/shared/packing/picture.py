"""Packings as pictures: bins with their boxes in oblique projection."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dga2d.domains.shared.packing.geometry import Packing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_BINS = 24
"""Bins drawn at most; the title says how many there are."""


def packing_figure(packing: Packing, size: Sequence[int], colours: Sequence[int], title: str) -> Figure:
    """Draw one 3D axis per bin; boxes with the same entry of `colours` have the same colour.

    Drawn from the back to the front, so that nearer boxes hide farther ones. Only `MAX_BINS` bins are drawn,
    the first ones and the last.
    """
    from matplotlib.figure import Figure

    n_bins = int(packing.bins.max(initial=-1)) + 1
    shown = list(range(n_bins)) if n_bins <= MAX_BINS else [*range(MAX_BINS - 1), n_bins - 1]
    columns = max(1, min(6, math.ceil(math.sqrt(len(shown)))))
    rows = max(1, math.ceil(len(shown) / columns))
    edge = 7.0 if len(shown) <= 1 else 3.2
    figure = Figure(figsize=(edge * columns, edge * rows + 0.6), layout="constrained")
    hidden = f", {n_bins - len(shown)} bins not drawn" if n_bins > len(shown) else ""
    figure.suptitle(title + hidden)
    for place, number in enumerate(shown or [0], start=1):
        axes = figure.add_subplot(rows, columns, place, projection="3d")
        _draw_bin(axes, packing, number, size, colours)
        axes.set_title(f"bin {number}: {int((packing.bins == number).sum())} boxes", fontsize="small")
    return figure


def _draw_bin(axes: Any, packing: Packing, number: int, size: Sequence[int], colours: Sequence[int]) -> None:
    from matplotlib import colormaps
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]

    palette = colormaps["tab20"]
    faces, shades = [], []
    for item in np.flatnonzero(packing.bins == number).tolist():
        faces += _faces(packing.low[item].tolist(), packing.high[item].tolist())
        shades += [palette(colours[item] % palette.N)] * 6
    if faces:
        axes.add_collection3d(Poly3DCollection(faces, facecolors=shades, edgecolors="black", linewidths=0.4))
    axes.set(xlim=(0, size[0]), ylim=(0, size[1]), zlim=(0, size[2]))
    axes.set(xlabel="x", ylabel="y", zlabel="z")
    axes.tick_params(labelsize="x-small")
    axes.set_box_aspect(size)


def _faces(low: list[int], high: list[int]) -> list[list[tuple[float, ...]]]:
    (x0, y0, z0), (x1, y1, z1) = low, high
    bottom = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
    lower, upper = [(x, y, z0) for x, y in bottom], [(x, y, z1) for x, y in bottom]
    walls = [[lower[i], lower[i - 1], upper[i - 1], upper[i]] for i in range(4)]
    return [lower, upper, *walls]  # type: ignore[list-item]
