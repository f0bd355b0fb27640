"""The values of charts that the browser draws: plain, with every text made safe to show."""

from __future__ import annotations

from typing import Any

from dga2d.runtime.inspection.measures import Measure, measure_in
from dga2d.runtime.report.charts import AXES, GapPlot
from dga2d.runtime.report.data import ReportData
from dga2d.runtime.report.evaluations import HeatMap
from dga2d.runtime.report.milestones import Milestones
from dga2d.runtime.report.render import transition_names
from dga2d.runtime.terminal.output import shown_lines

COLUMNS = (
    *("generation", "calls", "tokens", "minutes", "best", "own", "validation", "bounds", "instances"),
    "failed",
)
"""What stands in a row; named once, as a long run has many rows."""


def gap_values(data: ReportData) -> dict[str, Any]:
    """Return the convergence of a run: a row per closed generation, levels, accepted edits, and why the
    best and the checkpoint changed; figures are in their own unit."""
    measure = measure_in(data.view)
    spent = {closing.generation: closing for closing in data.closings}
    intervals = {one.generation: one for one in data.milestones.validated}
    rows = []
    for row in data.view["history"]:
        generation = row["generation"]
        one, closing = intervals.get(generation), spent[generation]
        bounds = None if one is None else measure.ends(one.interval_percent)
        rows.append(
            (
                generation,
                closing.calls,
                closing.tokens,
                round(closing.minutes, 3),
                measure.optional(row["best_so_far_percent"]),
                measure.optional(row["best_gap_percent"]),
                measure.optional(row["validation_gap_percent"]),
                None if bounds is None else [round(bound, 4) for bound in bounds],
                None if one is None else one.instances,
                row["failures"],
            )
        )
    return {
        "measure": _describe_measure(measure),
        "axes": {axis: name for axis, name in AXES.items() if _moves(rows, axis)},
        "columns": COLUMNS,
        "rows": rows,
        "levels": [
            {"name": level.name, "value": measure.value(level.gap_percent)}
            for level in data.milestones.levels
        ],
        "edits": _edits(data.milestones),
        "turns": [
            (turn.kind, turn.generation, turn.seq, shown_lines(turn.text), turn.edit)
            for turn in data.milestones.turns
        ],
    }


def compared_values(plot: GapPlot) -> dict[str, Any]:
    """Return what a chart of several runs shows: a line per run, or per group of them with its band."""
    return {
        "measure": _describe_measure(plot.measure),
        "series": [
            {
                "name": shown_lines(curve.name),
                "points": [(point.x, point.value, point.low, point.high) for point in curve.points],
            }
            for curve in plot.curves
        ],
        "levels": [
            {
                "name": shown_lines(level.name),
                "value": plot.measure.value(level.gap_percent),
                "curve": level.curve,
            }
            for level in plot.levels
        ],
    }


def heat_values(map_: HeatMap, name: str, unit: str, digits: int) -> dict[str, Any]:
    """Return operators by generation; `name` is what is shown, with its unit and decimal places."""
    return {
        "measure": {"word": name, "axis": name, "unit": unit, "digits": digits},
        "sides": ("operator", "generation"),
        "rows": [shown_lines(operator) for operator in map_.operators],
        "columns": map_.generations,
        "values": [
            [_figure(map_.values.get((operator, generation))) for generation in map_.generations]
            for operator in map_.operators
        ],
    }


def transition_values(data: ReportData) -> dict[str, Any]:
    """Return the credit of every edge of the graph, by source and target."""
    sources, targets = transition_names(data)
    credit = {(source, target): value for source, target, value in data.edges}
    return {
        "measure": {"word": "credit", "axis": "credit", "unit": "", "digits": 4},
        "sides": ("from", "to"),
        "rows": [shown_lines(source) for source in sources],
        "columns": [shown_lines(target) for target in targets],
        "values": [[_figure(credit.get((source, target))) for target in targets] for source in sources],
    }


def _figure(value: float | None) -> float | None:
    """Return a value with the six digits that a picture can show."""
    return None if value is None else float(f"{value:.6g}")


def _describe_measure(measure: Measure) -> dict[str, Any]:
    return {
        "word": measure.word,
        "axis": measure.axis,
        "unit": measure.unit,
        "digits": measure.digits,
    }


def _moves(rows: list[tuple[Any, ...]], axis: str) -> bool:
    place = COLUMNS.index(axis)
    return axis == "generation" or (bool(rows) and rows[-1][place] > rows[0][place])


def _edits(milestones: Milestones) -> list[tuple[int, int, str, bool]]:
    """Return generation, event and words of each edit, and whether there is code to see."""
    return [
        (edit.generation, edit.seq, shown_lines(edit.text), edit.brings_code) for edit in milestones.edits
    ]
