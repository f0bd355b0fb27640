"""Where panels, axes and legends lie on a drawing, in pixels from the upper left."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.drawing.frames import Span, spans_of, ticks_of
from dga2d.domains.drawing.model import Bar, Drawing, Line, Panel, Points, Role, Segments, Solid


class Size(NamedTuple):
    """How much room a drawing has."""

    width: float
    tallest: float
    """Of a panel whose units are equally long."""
    room: float
    """Height of all panels together; what they ask for is shortened to it."""
    most_named: int
    """Categories up to which the legend names them."""


WIDTH = 760.0
MOST_NAMED = 24
USUAL = Size(WIDTH, 560.0, math.inf, MOST_NAMED)
SMALL = Size(410.0, 190.0, 190.0, 6)
"""For a column of a page: letters are as large as they are elsewhere."""
GAP, TITLE, LINE = 14.0, 24.0, 16.0
CHARACTER = 6.1
"""About the width of a character of 11 pixels."""
BOLD, TITLE_LINE = 8.0, 17.0
"""About the width of a character of the title, and the height of its lines."""


class Key(NamedTuple):
    """An entry of the legend and where it begins."""

    x: float
    y: float
    mark: Literal["fill", "line", "dot"]
    look: int | Role
    name: str
    is_dashed: bool = False


@dataclass(frozen=True)
class Frame:
    """The rectangle between the axes of a panel, and what it covers."""

    panel: Panel
    x: float
    y: float
    width: float
    height: float
    across: Span
    upwards: Span

    def at(self, points: NDArray[Any]) -> Points:
        """Return places in pixels, `(…, 2)`, of points in the panel's units."""
        shares = np.stack(
            (
                _share(points[..., 0], self.across, self.panel.x.is_log),
                _share(points[..., 1], self.upwards, self.panel.y.is_log),
            ),
            axis=-1,
        )
        if not self.panel.is_downward:
            shares[..., 1] = 1.0 - shares[..., 1]
        return shares * (self.width, self.height) + (self.x, self.y)

    @property
    def x_ticks(self) -> list[tuple[float, str]]:
        """Places in pixels and texts along the x axis."""
        ticks = ticks_of(self.panel.x, self.across, max(2, int(self.width // 75)))
        return [(float(self.at(np.array([value, self.upwards[0]]))[0]), text) for value, text in ticks]

    @property
    def y_ticks(self) -> list[tuple[float, str]]:
        """The same along the y axis."""
        least = 13.0 if self.panel.y.ticks is not None else 32.0
        ticks = ticks_of(self.panel.y, self.upwards, max(2, int(self.height // least)))
        return [(float(self.at(np.array([self.across[0], value]))[1]), text) for value, text in ticks]


def _share(values: NDArray[Any], span: Span, is_log: bool) -> NDArray[np.float64]:
    low, high = span
    if is_log:
        values, low, high = np.log10(np.maximum(values, low)), np.log10(low), np.log10(high)
    shares: NDArray[np.float64] = (values - low) / ((high - low) or 1.0)
    return shares


class Sheet(NamedTuple):
    """A drawing with all places fixed."""

    width: float
    height: float
    title: tuple[str, ...]
    """Its lines."""
    frames: tuple[Frame, ...]
    keys: tuple[Key, ...]
    notes: tuple[tuple[float, str], ...]
    """Height and text."""


def laid_out(drawing: Drawing, size: Size = USUAL) -> Sheet:
    """Return where everything lies."""
    title = tuple(wrap(drawing.title, int((size.width - 2 * GAP) / BOLD)))
    y = TITLE + 4 + TITLE_LINE * max(len(title) - 1, 0)
    frames: list[Frame] = []
    asked = sum(max((panel.height for panel in row), default=0.0) for row in drawing.rows)
    share = min(1.0, size.room / asked) if asked else 1.0
    for row in drawing.rows:
        made = _row(row, y, size, share)
        frames += made
        y = max((frame.y + frame.height + _below(frame.panel) for frame in made), default=y) + GAP
    keys, y = _legend(drawing, y, size)
    texts = (*_unnamed_note(drawing, size), *drawing.notes)
    notes = tuple((y + LINE * i, note) for i, note in enumerate(texts, start=1))
    return Sheet(size.width, y + LINE * len(notes) + 8, title, tuple(frames), keys, notes)


def _row(row: Sequence[Panel], top: float, size: Size, share: float) -> list[Frame]:
    width = (size.width - GAP * (len(row) + 1)) / max(len(row), 1)
    return [_frame(panel, GAP + i * (width + GAP), top, width, size, share) for i, panel in enumerate(row)]


def _frame(panel: Panel, left: float, top: float, width: float, size: Size, share: float) -> Frame:
    across, upwards = spans_of(panel)
    y, height = top + (LINE if panel.title else 0.0), panel.height * share
    if not panel.has_frame:
        least = height if width > size.width / 2 else 0.0
        frame = Frame(panel, left, y, width, min(max(least, width * 0.9), size.room), across, upwards)
        return _equal(frame, size)
    draft = Frame(panel, left, y, width, height, across, upwards)
    texts = max((len(text) for _, text in draft.y_ticks), default=0)
    room = CHARACTER * min(texts, 24) + (LINE if panel.y.words else 0.0) + 8
    frame = Frame(panel, left + room, y, width - room - 6, height, across, upwards)
    return _equal(frame, size) if panel.is_equal else frame


def _equal(frame: Frame, size: Size) -> Frame:
    """Return the frame with its spans widened so that units are as long across as upwards."""
    wide, tall = (span[1] - span[0] for span in (frame.across, frame.upwards))
    height = frame.height
    if frame.panel.has_frame:
        height = min(max(frame.width * tall / wide, frame.height), size.tallest)
    unit = max(wide / frame.width, tall / height)
    more_x, more_y = (frame.width * unit - wide) / 2, (height * unit - tall) / 2
    return Frame(
        frame.panel,
        frame.x,
        frame.y,
        frame.width,
        height,
        (frame.across[0] - more_x, frame.across[1] + more_x),
        (frame.upwards[0] - more_y, frame.upwards[1] + more_y),
    )


def _below(panel: Panel) -> float:
    return (LINE if panel.has_frame else 0.0) + (LINE if panel.x.words else 0.0)


def _legend(drawing: Drawing, top: float, size: Size) -> tuple[tuple[Key, ...], float]:
    """Return the entries in rows, and where the last row ends."""
    keys: list[Key] = []
    x, y = GAP, top + LINE / 2
    for draft in _entries(drawing, size):
        width = 34 + CHARACTER * len(draft.name)
        if keys and x + width > size.width - GAP:
            x, y = GAP, y + LINE
        keys.append(draft._replace(x=x, y=y))
        x += width
    return tuple(keys), (y + LINE / 2 if keys else top)


def _unnamed_note(drawing: Drawing, size: Size) -> list[str]:
    """Return what is said of categories that are too many for the legend."""
    return [
        f"Colours and patterns: {panel.categories[0]} to {panel.categories[-1]}; pointing at one names it."
        for panel in drawing.panels
        if len(panel.categories) > size.most_named
    ]


def _entries(drawing: Drawing, size: Size) -> list[Key]:
    entries: dict[str, Key] = {}
    for panel in drawing.panels:
        used = {shape.category for shape in panel.shapes if isinstance(shape, Bar | Solid)}
        if len(panel.categories) <= size.most_named:
            for category, name in enumerate(panel.categories):
                if category in used:
                    entries.setdefault(name, Key(0, 0, "fill", category, name))
        for shape in panel.shapes:
            if isinstance(shape, Bar | Solid) or not shape.name:
                continue
            mark: Literal["line", "dot"] = "line" if isinstance(shape, Line | Segments) else "dot"
            is_dashed = isinstance(shape, Line) and shape.is_dashed
            entries.setdefault(shape.name, Key(0, 0, mark, shape.look, shape.name, is_dashed))
    return list(entries.values())
