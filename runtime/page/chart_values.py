"""The values of charts that the browser draws: plain, with every text made safe to show."""

from __future__ import annotations

from typing import Any

from dga2d.runtime.inspection.measures import measure_in
from dga2d.runtime.report.charts import AXES, Milestones
from dga2d.runtime.report.data import ReportData
from dga2d.runtime.terminal.output import shown_lines


def gap_values(data: ReportData) -> dict[str, Any]:
    """Return the convergence of a run: a row per closed generation, levels, and accepted edits; figures are
    in their own unit."""
    measure = measure_in(data.view)
    spent = {closing.generation: closing for closing in data.closings}
    intervals = {one.generation: one for one in data.milestones.validated}
    rows = []
    for row in data.view["history"]:
        generation = row["generation"]
        one, closing = intervals.get(generation), spent[generation]
        bounds = None if one is None else measure.ends(one.interval_percent)
        rows.append(
            {
                "generation": generation,
                "calls": closing.calls,
                "tokens": closing.tokens,
                "minutes": round(closing.minutes, 3),
                "best": measure.optional(row["best_so_far_percent"]),
                "own": measure.optional(row["best_gap_percent"]),
                "validation": measure.optional(row["validation_gap_percent"]),
                "bounds": None if bounds is None else [round(bound, 4) for bound in bounds],
                "instances": None if one is None else one.instances,
                "failed": row["failures"],
            }
        )
    return {
        "measure": {
            "word": measure.word,
            "axis": measure.axis,
            "unit": measure.unit,
            "digits": measure.digits,
        },
        "axes": {axis: name for axis, name in AXES.items() if _moves(rows, axis)},
        "rows": rows,
        "levels": [
            {"name": level.name, "value": measure.value(level.gap_percent)}
            for level in data.milestones.levels
        ],
        "edits": _edits(data.milestones),
    }


def _moves(rows: list[dict[str, Any]], axis: str) -> bool:
    return axis == "generation" or (bool(rows) and rows[-1][axis] > rows[0][axis])


def _edits(milestones: Milestones) -> list[dict[str, Any]]:
    return [
        {"generation": edit.generation, "seq": edit.seq, "text": shown_lines(edit.text)}
        for edit in milestones.edits
    ]
