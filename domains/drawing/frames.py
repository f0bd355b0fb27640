"""What the axes of a panel cover, alone or over a row of pictures; round numbers along them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from dga2d.domains.drawing.model import Axis, Bar, Dots, Drawing, Line, Panel, Points, Segments, Shape

Span: TypeAlias = tuple[float, float]
MARGIN = 0.04
"""Room around lines and dots, as a share of what they cover."""


def spans_of(panel: Panel) -> tuple[Span, Span]:
    """Return what the x and the y axis cover, the smaller number first."""
    found = [points for shape in panel.shapes for points in _corners(shape)]
    points = np.concatenate(found) if found else np.zeros((0, 2))
    is_tight = any(isinstance(shape, Bar) for shape in panel.shapes)
    return _span(panel.x, points[:, 0], is_tight), _span(panel.y, points[:, 1], is_tight)


def _corners(shape: Shape) -> Iterator[Points]:
    if isinstance(shape, Bar):
        yield np.array([[shape.left, shape.low], [shape.right, shape.high]])
    elif isinstance(shape, Segments):
        yield shape.ends.reshape(-1, 2)
    elif isinstance(shape, Line | Dots):
        yield shape.points
    else:
        yield from (shape.top, shape.left, shape.right)


def _span(axis: Axis, values: Points, is_tight: bool) -> Span:
    if axis.limits is not None:
        return axis.limits
    finite = values[np.isfinite(values) & ((values > 0) | (not axis.is_log))]
    if not finite.size:
        return (0.1, 1.0) if axis.is_log else (0.0, 1.0)
    low, high = float(finite.min()), float(finite.max())
    if axis.is_log:
        return 10 ** math.floor(math.log10(low)), 10 ** (math.floor(math.log10(high)) + 1)
    room = 0.0 if is_tight else MARGIN * (high - low)
    return (low - room, high + room) if high > low else (low - 0.5, high + 0.5)


def ticks_of(axis: Axis, span: Span, wanted: int) -> Sequence[tuple[float, str]]:
    """Return about `wanted` places along an axis with their texts."""
    low, high = span
    if axis.ticks is not None:
        step = max(1, math.ceil(len(axis.ticks) / max(wanted, 1)))
        return [(value, text) for value, text in axis.ticks[::step] if low <= value <= high]
    if axis.is_log:
        first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
        step = max(1, math.ceil((last - first) / max(wanted, 1)))
        return [(10.0**power, f"1e{power}") for power in range(first, last + 1, step)]
    raw = max(high - low, 1e-12) / max(wanted, 1)
    magnitude = 10.0 ** math.floor(math.log10(raw))
    unit = next(factor * magnitude for factor in (1, 2, 5, 10) if factor * magnitude >= raw * (1 - 1e-9))
    if axis.is_whole:
        unit = max(round(unit), 1)
    places = range(math.ceil(low / unit - 1e-9), math.floor(high / unit + 1e-9) + 1)
    return [(place * unit, f"{place * unit:.10g}") for place in places]


def align_axes(drawings: Sequence[Drawing]) -> list[Drawing]:
    """Return the same pictures with axes that cover what any of them shows, so that steps can be compared.

    Panels at the same place belong together. A picture with fewer panels is filled up with empty ones.
    """
    places = {(i, j) for drawing in drawings for i, row in enumerate(drawing.rows) for j in range(len(row))}
    panels = {place: _all_at(drawings, place) for place in places}
    covered = {place: _union(found) for place, found in panels.items()}
    heights = {place: max(panel.height for panel in found) for place, found in panels.items()}
    n_rows = 1 + max((i for i, _ in places), default=-1)
    widths = [1 + max(j for i, j in places if i == row) for row in range(n_rows)]

    def framed(drawing: Drawing, i: int, j: int) -> Panel:
        panel = _at(drawing, (i, j)) or _empty_panel(panels[i, j][0])
        x, y = covered[i, j]
        return replace(
            panel, x=replace(panel.x, limits=x), y=replace(panel.y, limits=y), height=heights[i, j]
        )

    return [
        replace(
            drawing,
            rows=tuple(tuple(framed(drawing, i, j) for j in range(widths[i])) for i in range(n_rows)),
        )
        for drawing in drawings
    ]


def _at(drawing: Drawing, place: tuple[int, int]) -> Panel | None:
    i, j = place
    return drawing.rows[i][j] if i < len(drawing.rows) and j < len(drawing.rows[i]) else None


def _all_at(drawings: Sequence[Drawing], place: tuple[int, int]) -> list[Panel]:
    return [panel for drawing in drawings if (panel := _at(drawing, place)) is not None]


def _empty_panel(panel: Panel) -> Panel:
    """Return what stands for a panel, with the same room, in a picture that has none there."""
    return replace(panel, shapes=(), title="not used" if panel.title else "", categories=())


def _union(panels: Sequence[Panel]) -> tuple[Span, Span]:
    spans = [spans_of(panel) for panel in panels]
    x = min(span[0][0] for span in spans), max(span[0][1] for span in spans)
    y = min(span[1][0] for span in spans), max(span[1][1] for span in spans)
    return x, y
