"""What a drawing shows in sentences, for readers who hear it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from dga2d.domains.drawing.layout import Frame
from dga2d.domains.drawing.model import Axis, Bar, Dots, Line, Shape, Solid

MOST_TOLD: Final = 40
"""Items of a panel that are told one by one."""


def describe(frames: Sequence[Frame]) -> str:
    """Return each panel's title, axes and counts, and the words of its first items."""
    return " ".join(_panel(frame) for frame in frames)


def _panel(frame: Frame) -> str:
    panel = frame.panel
    parts = [panel.title] if panel.title else []
    if panel.has_frame:
        axes = ((panel.x, frame.across), (panel.y, frame.upwards))
        parts += [_axis(axis, *span) for axis, span in axes if axis.words]
    counts = [
        (sum(isinstance(shape, Bar) for shape in panel.shapes), "bar"),
        (sum(isinstance(shape, Solid) for shape in panel.shapes), "box"),
        (sum(len(shape.words) for shape in panel.shapes if isinstance(shape, Dots)), "point"),
        (sum(isinstance(shape, Line) for shape in panel.shapes), "line"),
    ]
    parts += [_count(n, kind) for n, kind in counts if n]
    told = list(islice(_words(panel.shapes), MOST_TOLD))
    more = sum(1 for _ in _words(panel.shapes)) - len(told)
    return (
        ", ".join(parts)
        + (": " if parts else "")
        + "; ".join(told)
        + (f"; and {more} more." if more else ".")
    )


def _axis(axis: Axis, low: float, high: float) -> str:
    if axis.ticks is not None:
        return axis.words
    return f"{axis.words} from {low:.4g} to {high:.4g}"


def _count(n: int, kind: str) -> str:
    plural = "es" if kind == "box" else "s"
    return f"{n} {kind}{'' if n == 1 else plural}"


def _words(shapes: Sequence[Shape]) -> Iterator[str]:
    """Yield the words of items in their order."""
    for shape in shapes:
        yield from shape.words if isinstance(shape, Dots) else (shape.words,)
