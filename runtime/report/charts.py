"""Figures over what was spent: the data of the plots, and their coordinates where no script draws them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from dga2d.runtime.inspection.measures import GAP, Measure
from dga2d.runtime.report.milestones import (
    EVOLVED_HELD_OUT,
    EditMark,
    Level,
    Milestones,
    TurningPoint,
    ValidatedBest,
)

LEFT, RIGHT, TOP, BOTTOM = 52, 12, 12, 30
WIDE = (720, 280)
NARROW = (360, 220)
NAMED = (880, 280)
"""Size of a chart that names its lines at the right of its plot, where they hide nothing."""
NAMES, NAME_HEIGHT = 190, 14
"""Width of the room for such names with what leads to them, and height of one."""
STACKED_MARKS = 5
"""Marks of edits that are drawn above each other; further ones of a generation share the last place."""
Axis = Literal["generation", "calls", "tokens", "minutes"]
AXES: dict[Axis, str] = {
    "generation": "generation",
    "calls": "model calls",
    "tokens": "tokens of model calls",
    "minutes": "minutes by the clock",
}
CurveKind = Literal["steps", "dots", "intervals"]


@dataclass(frozen=True)
class Point:
    """A figure, in its own unit, at a place of the axis."""

    x: float
    value: float
    label: str
    low: float | None = None
    """Bound of the 95 % interval of the mean; ``None`` where there is none."""
    high: float | None = None


@dataclass(frozen=True)
class Curve:
    """Values of one kind."""

    name: str
    kind: CurveKind
    points: tuple[Point, ...]


@dataclass(frozen=True)
class GapPlot:
    """Gaps in percent, or scores, over an axis."""

    measure: Measure
    axis: Axis
    span: tuple[float, float]
    """Ends of the axis."""
    curves: tuple[Curve, ...]
    levels: tuple[Level, ...] = ()
    edits: tuple[tuple[float, EditMark], ...] = ()
    """With their place on the axis."""
    turns: tuple[tuple[Point, TurningPoint], ...] = ()
    """With the point of the curve that they moved."""

    @property
    def axis_name(self) -> str:
        return AXES[self.axis]

    @property
    def values(self) -> list[float]:
        """Everything that must be seen: all but the best of single generations, which may be far off."""
        points = [point for curve in self.curves if curve.kind != "dots" for point in curve.points]
        bounds = [bound for p in points for bound in (p.low, p.value, p.high) if bound is not None]
        return bounds + [self.measure.value(level.gap_percent) for level in self.levels]


def convergence(
    history: Sequence[dict[str, Any]],
    axis: Axis = "generation",
    milestones: Milestones | None = None,
    measure: Measure = GAP,
) -> GapPlot | None:
    """Return the plot of the rows of ``show --json``'s ``history`` (with `axis` among their keys).

    It is ``None`` while every candidate has failed.
    """
    told = milestones or Milestones()
    if all(row["best_so_far_percent"] is None for row in history):
        return None
    places = {row["generation"]: float(row[axis]) for row in history}
    found = {one.generation: one for one in told.validated}
    curves = (
        Curve("best so far", "steps", _points(measure, history, axis, "best_so_far_percent")),
        Curve("best of generation", "dots", _points(measure, history, axis, "best_gap_percent")),
        Curve("validation", "intervals", _points(measure, history, axis, "validation_gap_percent", found)),
    )
    edits = tuple((places[edit.generation], edit) for edit in told.edits if edit.generation in places)
    turned = {"best": "best_so_far_percent", "checkpoint": "validation_gap_percent"}
    rows = {row["generation"]: row for row in history}
    turns = tuple(
        (Point(places[turn.generation], measure.value(gap), turn.text), turn)
        for turn in told.turns
        if (gap := rows.get(turn.generation, {}).get(turned[turn.kind])) is not None
    )
    span = (float(history[0][axis]), float(history[-1][axis]))
    return GapPlot(measure, axis, span, curves, told.levels, edits, turns)


def comparison(
    runs: Sequence[tuple[str, Sequence[dict[str, Any]], Sequence[Level]]], measure: Measure = GAP
) -> GapPlot | None:
    """Return the plot of the best so far over generations of several `runs`: name, history and levels.

    It is ``None`` where no candidate of theirs succeeded.
    """
    drawn = [
        (Curve(name, "steps", points), levels)
        for name, history, levels in runs
        if (points := _points(measure, history, "generation", "best_so_far_percent"))
    ]
    curves = tuple(curve for curve, _ in drawn)
    held_out = tuple(
        Level(f"{curve.name}: {level.name}", level.gap_percent, place)
        for place, (curve, levels) in enumerate(drawn)
        for level in levels
        if level.name == EVOLVED_HELD_OUT
    )
    last = max((history[-1]["generation"] for _, history, _ in runs if history), default=1)
    return GapPlot(measure, "generation", (1.0, float(last)), curves, held_out) if curves else None


def _points(
    measure: Measure,
    history: Sequence[dict[str, Any]],
    axis: Axis,
    key: str,
    found: dict[int, ValidatedBest] | None = None,
) -> tuple[Point, ...]:
    points = []
    for row in history:
        if row[key] is None:
            continue
        text = f"generation {row['generation']}: {measure.text(row[key])}"
        one = (found or {}).get(row["generation"])
        bounds = None if one is None else one.interval_percent
        low, high = measure.ends(bounds) or (None, None)
        if one is not None:
            text += f" on {one.instances} instances"
        if bounds is not None:
            text += f", 95 % interval {measure.span(bounds)}"
        points.append(Point(float(row[axis]), measure.value(row[key]), text, low, high))
    return tuple(points)


# ------------------------------------------------------------ coordinates


@dataclass(frozen=True)
class Mark:
    """A measured value, in user units of the drawing."""

    x: float
    y: float
    is_clipped: bool
    """The value lies above or below the plot and is drawn at its border."""
    label: str
    low: float | None = None
    """Ends of the interval in the drawing."""
    high: float | None = None


@dataclass(frozen=True)
class Series:
    """One curve of the plot; `points` are its vertices as an SVG attribute."""

    name: str
    kind: CurveKind
    points: str
    marks: tuple[Mark, ...]
    band: str = ""
    """Outline of the band around a line of several runs, likewise; empty where there is none."""


@dataclass(frozen=True)
class DrawnLevel:
    """A line across the plot."""

    name: str
    text: str
    """Its figure."""
    y: float
    text_y: float
    """Middle of its name, clear of other names."""
    curve: int | None = None
    """As in `Level`."""


@dataclass(frozen=True)
class DrawnEdit:
    """Middle of the mark of an edit."""

    x: float
    y: float
    seq: int
    text: str


@dataclass(frozen=True)
class DrawnTurn:
    """Middle of the mark that says why a curve moved."""

    x: float
    y: float
    kind: Literal["best", "checkpoint"]
    text: str
    edit: int | None
    """As in `TurningPoint`."""


@dataclass(frozen=True)
class Chart:
    """A plot as coordinates."""

    measure: Measure
    axis: Axis
    axis_name: str
    width: int
    height: int
    series: tuple[Series, ...]
    levels: tuple[DrawnLevel, ...]
    edits: tuple[DrawnEdit, ...]
    turns: tuple[DrawnTurn, ...]
    y_ticks: tuple[tuple[float, str], ...]
    x_ticks: tuple[tuple[float, str], ...]
    right: int = RIGHT
    """Room at the right of the plot; where there is more than `RIGHT`, it names the lines."""


@dataclass(frozen=True)
class _Scale:
    """Where values lie in the drawing; those outside of `low` to `high` are drawn at the nearer border."""

    width: int
    height: int
    first: float
    last: float
    low: float
    high: float
    right: int

    def x(self, value: float) -> float:
        share = (value - self.first) / ((self.last - self.first) or 1.0)
        return LEFT + share * (self.width - LEFT - self.right)

    def y(self, value: float) -> float:
        share = (self.high - min(max(value, self.low), self.high)) / (self.high - self.low)
        return TOP + share * (self.height - TOP - BOTTOM)

    def series(self, curve: Curve) -> Series:
        marks = tuple(
            Mark(
                self.x(p.x),
                self.y(p.value),
                not self.low <= p.value <= self.high,
                p.label,
                None if p.low is None else self.y(p.low),
                None if p.high is None else self.y(p.high),
            )
            for p in curve.points
        )
        line = _vertices(curve.kind, [(mark.x, mark.y) for mark in marks])
        return Series(curve.name, curve.kind, _attribute(line), marks, _band(curve.kind, marks))


def _vertices(kind: CurveKind, places: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the vertices of a line; what was best stays best until the next value."""
    vertices: list[tuple[float, float]] = []
    for x, y in places:
        if kind == "steps" and vertices:
            vertices.append((x, vertices[-1][1]))
        vertices.append((x, y))
    return vertices


def _band(kind: CurveKind, marks: Sequence[Mark]) -> str:
    """Return the outline of what lies between the ends of a stepped curve's intervals."""
    ends = [(mark.x, mark.low, mark.high) for mark in marks if mark.low is not None and mark.high is not None]
    if kind != "steps" or all(low == high for _, low, high in ends):
        return ""
    there = _vertices(kind, [(x, low) for x, low, _ in ends])
    back = _vertices(kind, [(x, high) for x, _, high in ends])
    return _attribute(there + back[::-1])


def _attribute(vertices: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in vertices)


def draw_chart(plot: GapPlot, size: tuple[int, int] = WIDE) -> Chart:
    """Return the coordinates of a plot; everything but single bad generations lies inside."""
    low, high = _range(plot.values, plot.measure)
    right = NAMES if size == NAMED and plot.levels else RIGHT
    scale = _Scale(*size, *plot.span, low, high, right)
    across = _ticks(scale.first, max(scale.last, scale.first + 1), max(4, scale.width // 72))
    return Chart(
        plot.measure,
        plot.axis,
        plot.axis_name,
        *size,
        series=tuple(scale.series(curve) for curve in plot.curves),
        levels=_levels(scale, plot.levels, plot.measure),
        edits=_edits(scale, plot.edits),
        turns=tuple(
            DrawnTurn(scale.x(point.x), scale.y(point.value), turn.kind, _tell_turn(turn), turn.edit)
            for point, turn in plot.turns
        ),
        y_ticks=tuple((scale.y(value), f"{value:.4g}") for value in _ticks(low, high, 5)),
        x_ticks=tuple(
            (scale.x(value), _whole(value))
            for value in across
            if value == round(value) and value <= scale.last
        ),
        right=right,
    )


def _levels(scale: _Scale, levels: Iterable[Level], measure: Measure) -> tuple[DrawnLevel, ...]:
    found = sorted(levels, key=lambda level: -measure.value(level.gap_percent))
    heights = [scale.y(measure.value(level.gap_percent)) for level in found]
    places, lowest = list(heights), float(scale.height - BOTTOM)
    for i in range(1, len(places)):
        places[i] = max(places[i], places[i - 1] + NAME_HEIGHT)
    for i in reversed(range(len(places))):
        places[i] = min(places[i], lowest)
        lowest = places[i] - NAME_HEIGHT
    return tuple(
        DrawnLevel(level.name, measure.text(level.gap_percent), y, place, level.curve)
        for level, y, place in zip(found, heights, places, strict=True)
    )


def _tell_turn(turn: TurningPoint) -> str:
    return f"generation {turn.generation}: {turn.text}"


def _edits(scale: _Scale, edits: Iterable[tuple[float, EditMark]]) -> tuple[DrawnEdit, ...]:
    heights: dict[float, int] = {}
    drawn = []
    for place, edit in edits:
        stacked = min(heights.get(place, 0), STACKED_MARKS - 1)
        heights[place] = stacked + 1
        y = scale.height - BOTTOM - 5 - 9 * stacked
        drawn.append(DrawnEdit(scale.x(place), y, edit.seq, edit.text))
    return tuple(drawn)


def _range(values: Sequence[float], measure: Measure) -> tuple[float, float]:
    """Return a range from 0, or below what beats the reference, to above the largest value; for scores, whose
    0 means nothing, one around them."""
    if measure is not GAP:
        low, high = min(values), max(values)
        margin = 0.06 * max(high - low, 1e-3)
        return low - margin, high + margin
    low, high = min(0.0, *values), max(0.0, *values)
    reach = max(high - low, 0.1)
    return low - (0.06 * reach if low < 0.0 else 0.0), high + 0.06 * reach


def _ticks(low: float, high: float, wanted: int) -> list[float]:
    """Return about `wanted` round numbers between `low` and `high`."""
    raw = max(high - low, 1e-9) / wanted
    magnitude = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * magnitude for factor in (1, 2, 5, 10) if factor * magnitude >= raw)
    first = math.ceil(low / step)
    return [index * step for index in range(first, math.floor(high / step) + 1)]


def _whole(value: float) -> str:
    return f"{value / 1000:g}k" if value >= 10_000 else str(round(value))
