"""Runs on domains with a score of their own: what people read is the score, not a negated gap."""

from __future__ import annotations

from typing import Any

import pytest

from dga2d.events import InstanceKey
from dga2d.runtime.inspection.measures import GAP as GAPS
from dga2d.runtime.inspection.measures import SCORE, measure_in, measured_rows
from dga2d.runtime.inspection.verdict import compare
from dga2d.runtime.inspection.views import figure_text
from dga2d.runtime.report.charts import convergence, draw_chart
from dga2d.runtime.report.milestones import Level, Milestones

GAP: dict[str, Any] = {"gap_percent": -86.32, "interval_percent": [-86.53, -86.11], "instances": 33}


def test_a_figure_is_a_gap_in_percent_unless_the_domain_has_a_score() -> None:
    assert figure_text(GAP) == "-86.32 % (95 % interval -86.53 to -86.11, 33 instances)"
    score = {**GAP, "measure": "score"}
    assert figure_text(score) == "0.8632 (95 % interval 0.8611 to 0.8653, 33 instances)"
    assert (measure_in(GAP), measure_in(score)) == (GAPS, SCORE)


@pytest.mark.parametrize(("gap", "text"), [(-1488.4, "14.8840"), (200.0, "-2.0000"), (-0.0, "0.0000")])
def test_a_score_is_a_hundredth_of_the_negated_gap_in_percent(gap: float, text: str) -> None:
    assert SCORE.text(gap) == text


def test_differences_and_intervals_of_scores_are_in_scores() -> None:
    assert (SCORE.gain(407.0, "+"), GAPS.gain(8.2, "+")) == ("+4.0700", "+8.20")
    assert SCORE.ends([-86.53, -86.11]) == (0.8611, 0.8653)
    ours = {InstanceKey("a"): -90.0, InstanceKey("b"): -91.0}
    theirs = {InstanceKey("a"): -80.0, InstanceKey("b"): -81.0}
    assert compare("test", ours, theirs, measure=SCORE).sentence == (
        "improved by 0.1000 on 2 held-out instances (95 % interval 0.1000 to 0.1000, 2 won, 0 lost)"
    )
    assert compare("test", ours, theirs).sentence.startswith("improved by 10.00 points on 2")


def test_tables_for_other_programs_name_scores_as_such() -> None:
    rows = [{"generation": 1, "best_gap_percent": -86.0, "validation_gap_percent": None, "calls": 3}]
    assert measured_rows(rows, GAPS) == rows
    assert measured_rows(rows, SCORE) == [
        {"generation": 1, "best_score": 0.86, "validation_score": None, "calls": 3}
    ]


def test_a_chart_of_scores_goes_up_and_does_not_begin_at_0() -> None:
    history = [
        {"generation": 1, "best_so_far_percent": -1300.0, "best_gap_percent": -1300.0}
        | {"validation_gap_percent": None},
        {"generation": 2, "best_so_far_percent": -1700.0, "best_gap_percent": 2000.0}
        | {"validation_gap_percent": None},
    ]
    plot = convergence(history, milestones=Milestones(levels=(Level("safe", -1400.0),)), measure=SCORE)
    assert plot is not None
    chart = draw_chart(plot)
    first, second = chart.series[0].marks
    assert second.y < first.y
    assert first.label == "generation 1: 13.0000"
    assert [mark.is_clipped for mark in chart.series[1].marks] == [False, True]
    assert chart.levels[0].text == "14.0000"
    assert min(float(text) for _, text in chart.y_ticks) > 12
