"""What page and report say about failed evaluations, and heat maps of operators by generation."""

from __future__ import annotations

from tests.runtime.run_states import evaluation

from dga2d.runtime.report.evaluations import FailureGroup, HeatCell, HeatMap, group_failures
from dga2d.runtime.report.notes import Evaluation, Noted, Notes


def noted(seq: int, failure: str | None, split: str, diagnostic: str) -> Noted[Evaluation]:
    change = {"failure": failure, "split": split, "diagnostic": diagnostic}
    return Noted(seq, Evaluation.of(evaluation().model_copy(update=change)))


def test_every_kind_of_failure_is_counted_by_split_and_has_its_last_diagnostic() -> None:
    notes = Notes(
        evaluations=[
            noted(4, "timeout", "train", ""),
            noted(5, None, "train", ""),
            noted(6, "crashed", "train", "line 3"),
            noted(8, "crashed", "validation", "line 4"),
            noted(9, "crashed", "train", "line 5"),
            noted(11, "forbidden", "train", "open"),
        ]
    )
    assert group_failures(notes) == (
        FailureGroup("crashed", (("train", 2), ("validation", 1)), 9, "line 5"),
        FailureGroup("forbidden", (("train", 1),), 11, "open"),
        FailureGroup("timeout", (("train", 1),), 4, ""),
    )


def test_a_run_without_failures_has_no_kinds_of_them() -> None:
    assert group_failures(Notes(evaluations=[noted(5, None, "train", "")])) == ()


def test_of_a_long_run_a_column_of_a_heat_map_is_the_mean_of_several_generations() -> None:
    values = {("a", 1): 0.5, ("a", 2): 0.3, ("a", 3): -0.1, ("b", 2): 0.2}
    joined = HeatMap(("a", "b"), (1, 2, 3), values).joined(2)
    assert (joined.generations, joined.span) == ((1, 3), 2)
    assert joined.values == {("a", 1): 0.4, ("b", 1): 0.2, ("a", 3): -0.1}
    assert joined.cells == (
        HeatCell("a", 1, 0.4, 1.0),
        HeatCell("a", 3, -0.1, -0.5),
        HeatCell("b", 1, 0.2, 0.5**0.5),
    )


def test_a_short_heat_map_stays_as_it_is() -> None:
    whole = HeatMap(("a",), (1, 2), {("a", 2): 0.0})
    assert whole.joined(2) == whole
    assert whole.cells == (HeatCell("a", 2, 0.0, 0.0),)
