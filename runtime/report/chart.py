"""Convergence plots as coordinates: the templates only draw what is computed here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

LEFT, RIGHT, TOP, BOTTOM = 52, 12, 12, 30
WIDE = (720, 280)
NARROW = (360, 220)
Axis = Literal["generation", "calls", "tokens"]


@dataclass(frozen=True)
class Mark:
    """A measured value, in user units of the drawing."""

    x: float
    y: float
    is_clipped: bool
    """The value lies above the plot and is drawn at its upper border."""
    label: str


@dataclass(frozen=True)
class Series:
    """One line of the plot; `points` are its vertices as an SVG attribute."""

    name: str
    points: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class Chart:
    """Gap in percent over what was spent."""

    axis: str
    width: int
    height: int
    series: tuple[Series, ...]
    y_ticks: tuple[tuple[float, str], ...]
    x_ticks: tuple[tuple[float, str], ...]


@dataclass(frozen=True)
class _Scale:
    """Where values lie in the drawing; values above `high` are drawn there."""

    width: int
    height: int
    first: float
    last: float
    low: float
    high: float

    def x(self, value: float) -> float:
        share = (value - self.first) / ((self.last - self.first) or 1.0)
        return LEFT + share * (self.width - LEFT - RIGHT)

    def y(self, value: float) -> float:
        share = (self.high - min(value, self.high)) / (self.high - self.low)
        return TOP + share * (self.height - TOP - BOTTOM)

    def series(self, name: str, values: Iterable[tuple[float, float, str]]) -> Series:
        """From triples of abscissa, gap and label."""
        marks = tuple(Mark(self.x(x), self.y(gap), gap > self.high, label) for x, gap, label in values)
        return Series(name, " ".join(f"{m.x:.1f},{m.y:.1f}" for m in marks), marks)

    def chart(self, axis: str, series: Sequence[Series]) -> Chart:
        y_ticks = tuple((self.y(value), f"{value:.4g}") for value in _ticks(self.low, self.high, 5))
        across = _ticks(self.first, max(self.last, self.first + 1), max(4, self.width // 72))
        x_ticks = tuple(
            (self.x(value), _whole(value)) for value in across if value == round(value) and value <= self.last
        )
        return Chart(axis, self.width, self.height, tuple(series), y_ticks, x_ticks)


def convergence(
    history: list[dict[str, Any]], axis: Axis = "generation", size: tuple[int, int] = WIDE
) -> Chart | None:
    """Plot of the rows of ``show --json``'s ``history`` (with ``tokens`` for that axis); ``None`` while every
    candidate has failed.
    """
    names = {
        "best so far": "best_so_far_percent",
        "best of generation": "best_gap_percent",
        "validation": "validation_gap_percent",
    }
    reached = _reached(history)
    if not reached:
        return None
    scale = _Scale(*size, history[0][axis], history[-1][axis], *_range(reached))
    series = [scale.series(name, _values(history, axis, key)) for name, key in names.items()]
    return scale.chart(axis, series)


def comparison(runs: Sequence[tuple[str, list[dict[str, Any]]]]) -> Chart | None:
    """Best gap so far over generations of several `runs`, pairs of name and history; ``None`` where no
    candidate of theirs succeeded.
    """
    ranges = [_range(reached) for _, history in runs if (reached := _reached(history))]
    if not ranges:
        return None
    last = max(history[-1]["generation"] for _, history in runs if history)
    scale = _Scale(*WIDE, 1, last, min(low for low, _ in ranges), max(high for _, high in ranges))
    series = [
        scale.series(name, _values(history, "generation", "best_so_far_percent")) for name, history in runs
    ]
    return scale.chart("generation", series)


def _reached(history: list[dict[str, Any]]) -> list[float]:
    return [row["best_so_far_percent"] for row in history if row["best_so_far_percent"] is not None]


def _values(history: list[dict[str, Any]], axis: Axis, key: str) -> Iterable[tuple[float, float, str]]:
    for row in history:
        if row[key] is not None:
            yield row[axis], row[key], f"generation {row['generation']}: {row[key]:.2f} %"


def _range(best_so_far: list[float]) -> tuple[float, float]:
    """From 0, or below the best where it beats the reference, to above the first incumbent."""
    low = min(0.0, best_so_far[-1])
    high = max(1.2 * best_so_far[0], 3.0 * best_so_far[-1], low + 0.1)
    return 1.1 * low, high


def _ticks(low: float, high: float, wanted: int) -> list[float]:
    """About `wanted` round numbers between `low` and `high`."""
    raw = max(high - low, 1e-9) / wanted
    magnitude = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * magnitude for factor in (1, 2, 5, 10) if factor * magnitude >= raw)
    first = math.ceil(low / step)
    return [index * step for index in range(first, math.floor(high / step) + 1)]


def _whole(value: float) -> str:
    return f"{value / 1000:g}k" if value >= 10_000 else str(round(value))
