"""The convergence plot as coordinates: the templates only draw what is computed here."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

WIDTH, HEIGHT = 720, 280
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 12, 30


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
    """Gap in percent over generations."""

    series: tuple[Series, ...]
    y_ticks: tuple[tuple[float, str], ...]
    x_ticks: tuple[tuple[float, str], ...]


def convergence(history: list[dict[str, Any]]) -> Chart | None:
    """Plot of the rows of ``show --json``'s ``history``; ``None`` while every candidate has failed."""
    names = {
        "best so far": "best_so_far_percent",
        "best of generation": "best_gap_percent",
        "validation": "validation_gap_percent",
    }
    reached = [row["best_so_far_percent"] for row in history if row["best_so_far_percent"] is not None]
    if not reached:
        return None
    low, high = _range(reached)
    last = history[-1]["generation"]
    series = []
    for name, key in names.items():
        values = [(row["generation"], row[key]) for row in history if row[key] is not None]
        marks = tuple(_mark(generation, value, last, low, high) for generation, value in values)
        series.append(Series(name, " ".join(f"{m.x:.1f},{m.y:.1f}" for m in marks), marks))
    y_ticks = tuple((_y(value, low, high), f"{value:.4g}") for value in _ticks(low, high, 5))
    x_ticks = tuple(
        (_x(round(value), last), str(round(value))) for value in _ticks(1, last, 10) if value == round(value)
    )
    return Chart(tuple(series), y_ticks, x_ticks)


def _range(best_so_far: list[float]) -> tuple[float, float]:
    """From 0, or below the best where it beats the reference, to above the first incumbent."""
    low = min(0.0, best_so_far[-1])
    high = max(1.2 * best_so_far[0], 3.0 * best_so_far[-1], low + 0.1)
    return 1.1 * low, high


def _mark(generation: int, value: float, last: int, low: float, high: float) -> Mark:
    return Mark(
        _x(generation, last),
        _y(min(value, high), low, high),
        value > high,
        f"generation {generation}: {value:.2f} %",
    )


def _x(generation: int, last: int) -> float:
    share = (generation - 1) / max(last - 1, 1)
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def _y(value: float, low: float, high: float) -> float:
    return TOP + (high - value) / (high - low) * (HEIGHT - TOP - BOTTOM)


def _ticks(low: float, high: float, wanted: int) -> list[float]:
    """About `wanted` round numbers between `low` and `high`."""
    raw = max(high - low, 1e-9) / wanted
    magnitude = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * magnitude for factor in (1, 2, 5, 10) if factor * magnitude >= raw)
    first = math.ceil(low / step)
    return [index * step for index in range(first, math.floor(high / step) + 1)]
