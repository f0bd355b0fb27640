"""Pipelines are found by what they are: names, order and shares. Comparisons are shown in points."""

from __future__ import annotations

from dga2d.events import ImplementationId, OperatorId
from dga2d.events.payloads import ChallengerComparison, ChallengersCompared, Step
from dga2d.runtime.inspection.validations import Programs
from dga2d.runtime.inspection.views import comparison_view


def step(name: str, share: float | None = None) -> Step:
    return Step(operator=OperatorId(name), implementation=ImplementationId(f"{name}.1"), share=share)


def test_a_pipeline_is_found_at_all_its_places_and_no_other_is() -> None:
    programs = Programs[int]()
    programs[1] = programs[4] = (step("a"), step("b"))
    programs[2] = (step("b"), step("a"))
    programs[3] = (step("a", 0.3), step("b", 0.7))  # the same names, other budgets
    assert programs.places((step("a"), step("b"))) == {1, 4}
    assert programs.places((step("a", 0.3), step("b", 0.7))) == {3}
    assert programs.places((step("a"),)) == set()


def test_a_place_that_is_overwritten_is_found_by_its_new_pipeline_alone() -> None:
    programs = Programs[int]()
    programs[1] = (step("a"),)
    programs[1] = (step("b"),)
    assert programs.places((step("a"),)) == set()
    assert programs.places((step("b"),)) == {1}


def test_a_challenger_stands_beside_the_checkpoint_and_the_baseline_it_was_tested_against() -> None:
    def row(candidate: int, gain: float, p_value: float) -> ChallengerComparison:
        interval = (gain - 0.01, gain + 0.01)
        return ChallengerComparison(
            candidate=candidate, pairs=9, mean_gain=gain, interval=interval, won=5, lost=4, p_value=p_value
        )

    compared = ChallengersCompared(
        generation=2,
        checkpoint=1,
        error=0.04,
        comparisons=(row(0, 0.002, 0.4), row(2, -0.06, 1.0)),
        better=(0,),
        over_baseline=(row(0, 0.062, 0.001),),
    )
    beside = {"points": 0.2, "interval_points": [-0.8, 1.2], "pairs": 9, "won": 5, "lost": 4, "p_value": 0.4}
    over = {**beside, "points": 6.2, "interval_points": [5.2, 7.2], "p_value": 0.001}
    assert comparison_view(compared, 0) == {**beside, "is_better": True, "over_baseline": over}
    assert comparison_view(compared, 1) is None
    start = comparison_view(compared, 2)
    assert start is not None
    assert (start["points"], start["is_better"], start["over_baseline"]) == (-6.0, False, None)
