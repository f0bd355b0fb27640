"""What a run's figures are called and how they are written: gaps in percent, or a domain's own scores.

Logs and JSON hold one number for both, ``gap_percent``: of an own score it is minus a hundred times the
score. People, pictures and tables for other programs get the score itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dga2d.events.payloads import RunStarted


def percent(gap: float | None) -> float | None:
    """Return a gap as a percentage with four decimals."""
    return None if gap is None else round(100.0 * gap, 4)


@dataclass(frozen=True)
class Measure:
    """How figures are shown. Arguments are gaps in percent and percentage points, as views have them."""

    word: str
    """``gap`` or ``score``."""
    column: str
    """Head of a column of plain numbers."""
    axis: str
    """Name of an axis, and of what a picture shows."""
    better: str
    """Which direction is better, in words."""
    unit: str
    digits: int
    factor: float
    """What a gap in percent is multiplied by."""
    gain_unit: str
    """Behind a difference."""

    def value(self, gap_percent: float) -> float:
        """Return a figure in its own unit."""
        return round(self.factor * gap_percent, 6) + 0.0

    def optional(self, gap_percent: float | None) -> float | None:
        """Return `value`; ``None`` stays."""
        return None if gap_percent is None else self.value(gap_percent)

    def number(self, gap_percent: float | None) -> str:
        """Return a figure without its unit; empty where there is none."""
        return "" if gap_percent is None else f"{self.factor * gap_percent:.{self.digits}f}"

    def text(self, gap_percent: float | None) -> str:
        """Return a figure with its unit."""
        return "failed" if gap_percent is None else f"{self.number(gap_percent)}{self.unit}"

    def ends(self, bounds: Sequence[float] | None) -> tuple[float, float] | None:
        """Return the ends of an interval of figures, the smaller one first."""
        if bounds is None:
            return None
        low, high = sorted(self.value(bound) for bound in bounds)
        return low, high

    def span(self, bounds: Sequence[float] | None) -> str:
        """Return the ends of an interval of figures as text; empty where there is none."""
        ends = self.ends(bounds)
        return "" if ends is None else f"{ends[0]:.{self.digits}f} to {ends[1]:.{self.digits}f}"

    def gain(self, points: float, sign: str = "", more_digits: int = 0) -> str:
        """Return a difference, above 0 better, without its unit; `sign` is that of a format."""
        return f"{abs(self.factor) * points:{sign}.{self.digits + more_digits}f}"

    def gain_span(self, bounds: Sequence[float] | None, more_digits: int = 0) -> str:
        """Return the ends of an interval of differences; empty where there is none."""
        return "" if bounds is None else " to ".join(self.gain(b, more_digits=more_digits) for b in bounds)

    @property
    def entry(self) -> dict[str, str]:
        """The entry of views that says that their figures stand for scores; none for gaps."""
        return {} if self is GAP else {"measure": self.word}

    def note(self, against: str) -> str:
        """Return what the figures mean, as a sentence; gaps are to what `against` says."""
        if self is GAP:
            return f"Gaps are relative to {against}, averaged over instances; {self.better}."
        return f"Scores are the domain's own, averaged over instances; {self.better}."

    def scale(self, against: str) -> str:
        """Return what a chart shows, as the beginning of a sentence."""
        if self is GAP:
            return f"Gap in percent of {against}: {self.better}"
        return f"Score of the domain's own: {self.better}"


GAP = Measure("gap", "gap %", "gap in percent", "lower is better, negative beats it", " %", 2, 1.0, " points")
SCORE = Measure("score", "score", "score", "higher is better", "", 4, -0.01, "")


def measure_of(header: RunStarted) -> Measure:
    """Return what the figures of a run are."""
    return GAP if header.own_score is None else SCORE


def measure_in(view: Mapping[str, Any]) -> Measure:
    """Return what the figures of a view are."""
    return SCORE if view.get("measure") == SCORE.word else GAP


COLUMNS = {
    "gap_percent": "score",
    "best_gap_percent": "best_score",
    "best_so_far_percent": "best_so_far_score",
    "validation_gap_percent": "validation_score",
    "gap_before_percent": "score_before",
    "gap_after_percent": "score_after",
}
"""Columns of a run's tables → what they are called where they hold scores."""


def measured_rows(rows: Sequence[Mapping[str, Any]], measure: Measure) -> list[dict[str, Any]]:
    """Return the rows of a table for other programs, scores under their own names."""
    if measure is GAP:
        return [dict(row) for row in rows]
    return [
        {
            COLUMNS.get(key, key): measure.optional(value) if key in COLUMNS else value
            for key, value in row.items()
        }
        for row in rows
    ]
