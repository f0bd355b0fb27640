"""Where panels, axes and legends lie on a drawing of the usual width, in pixels from the upper left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.drawing.frames import Span, spans_of, ticks_of
from dga2d.domains.drawing.model import Bar, Drawing, Line, Panel, Points, Role, Segments, Solid

WIDTH = 760.0
GAP, TITLE, LINE = 14.0, 24.0, 16.0
CHARACTER = 6.1
"""About the width of a character of 11 pixels."""
MOST_NAMED = 24
"""Categories up to which the legend names them."""
TALLEST_EQUAL = 560.0


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

    height: float
    frames: tuple[Frame, ...]
    keys: tuple[Key, ...]
    notes: tuple[tuple[float, str], ...]
    """Height and text."""


def laid_out(drawing: Drawing) -> Sheet:
    """Return where everything lies."""
    y = TITLE + 4
    frames: list[Frame] = []
    for row in drawing.rows:
        made = _row(row, y)
        frames += made
        y = max((frame.y + frame.height + _below(frame.panel) for frame in made), default=y) + GAP
    keys, y = _legend(drawing, y)
    notes = tuple((y + LINE * i, note) for i, note in enumerate(drawing.notes, start=1))
    return Sheet(y + LINE * len(notes) + 8, tuple(frames), keys, notes)


def _row(row: Sequence[Panel], top: float) -> list[Frame]:
    width = (WIDTH - GAP * (len(row) + 1)) / max(len(row), 1)
    return [_frame(panel, GAP + i * (width + GAP), top, width) for i, panel in enumerate(row)]


def _frame(panel: Panel, left: float, top: float, width: float) -> Frame:
    across, upwards = spans_of(panel)
    y = top + (LINE if panel.title else 0.0)
    if not panel.has_frame:
        frame = Frame(
            panel,
            left,
            y,
            width,
            max(panel.height if width > WIDTH / 2 else 0.0, width * 0.9),
            across,
            upwards,
        )
        return _equal(frame)
    draft = Frame(panel, left, y, width, panel.height, across, upwards)
    texts = max((len(text) for _, text in draft.y_ticks), default=0)
    room = CHARACTER * min(texts, 24) + (LINE if panel.y.words else 0.0) + 8
    frame = Frame(panel, left + room, y, width - room - 6, panel.height, across, upwards)
    return _equal(frame) if panel.is_equal else frame


def _equal(frame: Frame) -> Frame:
    """Return the frame with its spans widened so that units are as long across as upwards."""
    wide, tall = (span[1] - span[0] for span in (frame.across, frame.upwards))
    height = frame.height
    if frame.panel.has_frame:
        height = min(max(frame.width * tall / wide, frame.height), TALLEST_EQUAL)
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


def _legend(drawing: Drawing, top: float) -> tuple[tuple[Key, ...], float]:
    """Return the entries in rows, and where the last row ends."""
    keys: list[Key] = []
    x, y = GAP, top + LINE / 2
    for draft in _entries(drawing):
        width = 34 + CHARACTER * len(draft.name)
        if keys and x + width > WIDTH - GAP:
            x, y = GAP, y + LINE
        keys.append(draft._replace(x=x, y=y))
        x += width
    return tuple(keys), (y + LINE / 2 if keys else top)


def _entries(drawing: Drawing) -> list[Key]:
    entries: dict[str, Key] = {}
    for panel in drawing.panels:
        used = {shape.category for shape in panel.shapes if isinstance(shape, Bar | Solid)}
        if len(panel.categories) <= MOST_NAMED:
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
