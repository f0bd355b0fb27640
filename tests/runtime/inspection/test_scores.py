"""Runs on domains with a score of their own: what people read is the score, not a negated gap."""

from __future__ import annotations

from typing import Any

import pytest

from dga2d.runtime.inspection.views import amount_text, figure_text, measure_word

GAP: dict[str, Any] = {"gap_percent": -86.32, "interval_percent": [-86.53, -86.11], "instances": 33}


def test_a_figure_is_a_gap_in_percent_unless_the_domain_has_a_score() -> None:
    assert figure_text(GAP) == "-86.32 % (95 % interval -86.53 to -86.11, 33 instances)"
    score = {**GAP, "measure": "score"}
    assert figure_text(score) == "0.8632 (95 % interval 0.8611 to 0.8653, 33 instances)"
    assert (measure_word(GAP), measure_word(score)) == ("gap", "score")


@pytest.mark.parametrize(("gap", "text"), [(-1488.4, "14.8840"), (200.0, "-2.0000"), (-0.0, "0.0000")])
def test_a_score_is_a_hundredth_of_the_negated_gap_in_percent(gap: float, text: str) -> None:
    assert amount_text(gap, {"measure": "score"}) == text
