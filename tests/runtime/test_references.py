"""Where no reference is known, gaps are against the baseline's own result, on a scale that never vanishes."""

from __future__ import annotations

import pytest

from dga2d.agents.ports import EvaluationReply
from dga2d.domains.core.contract import Reference, normalised_gap
from dga2d.events.payloads import PositionTrace
from dga2d.runtime.runs.start import entries


def reply(start: float, reached: float) -> EvaluationReply:
    """What the baseline's evaluation gave: `start` is the score its first position left."""
    trace = (PositionTrace(score_before=None, score_after=start, elapsed_s=0.0, work=1),)
    return EvaluationReply(reached, None, "", 0.1, 1, trace, b"")


def test_the_baseline_is_the_reference_and_its_objective_the_scale() -> None:
    (entry,) = entries({"g/a": None}, {"g/a": reply(300.0, 200.0)}, "min").values()
    assert (entry.reference, entry.scale, entry.origin) == (200.0, 200.0, "baseline")
    assert normalised_gap(190.0, entry.reference, "min", entry.scale) == pytest.approx(-0.05)


def test_an_optimum_of_zero_is_measured_in_tenths_of_what_the_baseline_gained() -> None:
    (entry,) = entries({"g/a": None}, {"g/a": reply(500.0, 0.0)}, "min").values()
    assert (entry.reference, entry.scale) == (0.0, 50.0)
    assert normalised_gap(5.0, 0.0, "min", entry.scale) == pytest.approx(0.1)


def test_negative_objectives_that_are_maximised_have_a_positive_scale() -> None:
    (entry,) = entries({"g/a": None}, {"g/a": reply(90.0, -40.0)}, "max").values()
    assert (entry.reference, entry.scale) == (-40.0, 40.0)
    assert normalised_gap(-38.0, entry.reference, "max", entry.scale) == pytest.approx(-0.05)


def test_where_nothing_tells_a_scale_it_is_that_of_the_others() -> None:
    found = entries({"g/a": None, "g/b": None}, {"g/a": reply(0.0, 0.0), "g/b": reply(9.0, 8.0)}, "min")
    assert found["g/a"].scale == 8.0
    assert entries({"g/a": None}, {"g/a": reply(0.0, 0.0)}, "min")["g/a"].scale == 1.0


def test_a_penalty_of_a_broken_start_gives_no_scale() -> None:
    assert entries({"g/a": None}, {"g/a": reply(3e30, 7.0)}, "min")["g/a"].scale == 7.0


def test_a_given_reference_too_small_to_divide_by_keeps_its_value() -> None:
    given = {"g/a": Reference(0.0, "optimal", "proven")}
    (entry,) = entries(given, {"g/a": reply(500.0, 20.0)}, "min").values()
    assert (entry.reference, entry.scale, entry.origin) == (0.0, 48.0, None)
