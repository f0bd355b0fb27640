"""Several runs by their held-out tests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.runtime.run_states import BEGUN, STEPS, header

from dga2d.events import ImplementationId, InstanceKey, OperatorId
from dga2d.events import payloads as p
from dga2d.replay.state.outcomes import Outcome, Outcomes
from dga2d.replay.state.run_state import RunState, TestState
from dga2d.runtime.errors import RunStateError, UsageError
from dga2d.runtime.inspection.comparing import comparison_view, holm, two_sided

KEYS = tuple(InstanceKey(f"g/{i}") for i in range(6))
EVOLVED = (p.Step(operator=OperatorId("program"), implementation=ImplementationId("program.1")),)


def run_with(evolved: list[float | None], baseline: list[float | None], **settings: Any) -> RunState:
    """A run with its test; objectives are against references of 100, so that gaps are the differences."""
    entries = tuple(p.InstanceEntry(key=key, reference=100.0) for key in KEYS)
    started = header().model_copy(
        update={"splits": p.SplitManifest(train=entries, validation=(), test=entries, digest="d")}
    )
    outcomes = {
        (number, key): Outcome(None, "timeout") if gap is None else Outcome(100.0 + gap, None)
        for number, row in enumerate((evolved, baseline))
        for key, gap in zip(KEYS, row, strict=False)
    }
    candidates = (
        p.TestCandidate(label="evolved", pipeline=EVOLVED, time_limit_s=None),
        p.TestCandidate(label="baseline", pipeline=STEPS, time_limit_s=None),
    )
    test = TestState(
        1, 1, False, candidates, KEYS[: len(evolved)], Outcomes.of(outcomes), mean_gaps=(0.0, 0.0)
    )
    changed = BEGUN.settings.model_copy(update=settings)
    return replace(BEGUN, started=started, settings=changed, test=test)


BASELINE: list[float | None] = [10.0, 10.0, 10.0, 10.0, 10.0, 10.0]


def test_the_best_mean_comes_first_and_a_baseline_once() -> None:
    view = comparison_view(
        {
            "a": run_with([4.0, 5.0, 6.0, 4.0, 5.0, 6.0], BASELINE, method="eoh"),
            "b": run_with([1.0, 2.0, 3.0, 1.0, 2.0, 3.0], BASELINE),
        }
    )
    assert view["instances"] == 6
    rows = [(row["name"], row["method"], row["gap_percent"]) for row in view["algorithms"]]
    assert rows == [("b", "dga2d", 2.0), ("a", "eoh", 5.0), ("safe baseline", None, 10.0)]
    pair = view["pairs"][0]
    assert (pair["first"], pair["second"], pair["points"]) == ("b", "a", 3.0)
    assert (pair["won"], pair["lost"]) == (6, 0)
    # six signs alike have a chance of 1/64, which counts twice for two tests and twice for two sides
    assert pair["p_value"] == pytest.approx(4 / 64)
    assert (pair["p_corrected"], pair["is_different"]) == (
        pytest.approx(4 / 64),
        False,
    )  # the largest of three


def test_failures_come_before_gaps() -> None:
    view = comparison_view(
        {
            "a": run_with([1.0, None, 1.0, 1.0, 1.0, 1.0], BASELINE),
            "b": run_with([2.0, 2.0, 2.0, 2.0, 2.0, 2.0], BASELINE),
        }
    )
    assert [(row["name"], row["failures"]) for row in view["algorithms"]][:2] == [
        ("b", 0),
        ("safe baseline", 0),
    ]
    assert view["algorithms"][2]["gap_percent"] == 1.0


def test_only_instances_that_all_were_tested_on_count() -> None:
    view = comparison_view({"a": run_with([1.0, 2.0, 3.0], BASELINE[:3]), "b": run_with([3.0] * 6, BASELINE)})
    assert view["instances"] == 3


def test_references_that_runs_measured_are_those_of_the_first() -> None:
    one, other = (run_with([5.0] * 6, BASELINE) for _ in range(2))
    entries = tuple(p.InstanceEntry(key=key, reference=105.0, scale=50.0, origin="baseline") for key in KEYS)
    splits = other.header.splits.model_copy(update={"test": entries})
    other = replace(other, started=other.header.model_copy(update={"splits": splits}))
    view = comparison_view({"a": one, "b": other})
    assert [row["gap_percent"] for row in view["algorithms"]] == [5.0, 5.0, 10.0]
    assert view["pairs"][0]["points"] == 0.0
    assert view["references_of"] == "a"
    assert comparison_view({"a": one, "b": one})["references_of"] is None


@pytest.mark.parametrize(
    ("other", "error", "told"),
    [
        (replace(run_with([1.0] * 6, BASELINE), test=None), RunStateError, "make it with `dga2d test b`"),
        (run_with([1.0] * 6, BASELINE, work=100), UsageError, "a and b differ in their budget per instance"),
    ],
    ids=["untested", "budget"],
)
def test_runs_that_cannot_be_compared_are_refused(other: RunState, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        comparison_view({"a": run_with([1.0] * 6, BASELINE), "b": other})


def test_p_values_are_corrected_for_their_number() -> None:
    # sorted 0.01, 0.02, 0.03: times 3, 2 and 1, and never less than the one before
    assert holm([0.03, None, 0.01, 0.02]) == [0.04, None, 0.03, 0.04]
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def test_a_difference_is_tested_on_both_sides() -> None:
    steady = [1.0, 1.1, 0.9, 1.0, 1.2, 0.8]
    assert two_sided(steady) == two_sided([-d for d in steady])
    assert (two_sided(steady) or 1.0) < 0.01
    assert two_sided([0.0, 0.0]) is None
    assert two_sided([1.0, -1.0, 1.0, -1.0]) == 1.0
