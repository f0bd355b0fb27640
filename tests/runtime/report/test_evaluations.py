"""What page and report say about failed evaluations."""

from __future__ import annotations

from tests.runtime.run_states import evaluation

from dga2d.runtime.report.evaluations import FailureGroup, group_failures
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
