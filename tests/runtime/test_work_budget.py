"""A work budget asked for in seconds is what the baseline's rate says, and the run goes by the same rate."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from dga2d.agents.work_calibration import NOTHING_KNOWN, KnownRates
from dga2d.events import InstanceKey
from dga2d.events.payloads import WorkRatePoint
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.work_rates import BASELINE
from dga2d.runtime.errors import SettingsError, UsageError
from dga2d.runtime.runs.config import make_settings
from dga2d.runtime.runs.estimate import estimate_run
from dga2d.runtime.runs.problem import Problem, settings_for
from dga2d.runtime.runs.sessions import UNCHANGEABLE
from dga2d.runtime.runs.work_budget import settle_work


def point(size: int, rate: float, cpu_s: float = 0.1) -> WorkRatePoint:
    return WorkRatePoint(instance=InstanceKey(f"g/{size}"), size=size, work=round(rate * cpu_s), cpu_s=cpu_s)


def settled(known: KnownRates, **settings: Any) -> tuple[RunSettings, KnownRates]:
    problem = Problem.open("tsp", None)
    return anyio.run(settle_work, problem, RunSettings(library="basic", **settings), 1, known)


def test_the_units_are_those_of_an_instance_of_middle_size() -> None:
    known = KnownRates("old", {BASELINE: (point(10, 9000.0), point(100, 4210.0), point(1000, 700.0))})
    settings, used = settled(known, work_seconds=0.25)
    assert (settings.work, settings.work_seconds) == (1100, 0.25)  # 1,052.5 to two digits
    assert used == known


def test_sizes_at_which_nothing_was_measured_do_not_count() -> None:
    known = KnownRates("old", {BASELINE: (point(10, 9000.0), point(100, 0.0), point(1000, 700.0, 0.001))})
    assert settled(known, work_seconds=1e-9)[0].work == 1
    assert settled(known, work_seconds=1.0)[0].work == 9000


@pytest.mark.parametrize("given", [{}, {"time_limit": 2.0}, {"work": 7}, {"work": 7, "work_seconds": 2.0}])
def test_other_budgets_are_left_as_they_are(given: dict[str, Any]) -> None:
    settings, known = settled(NOTHING_KNOWN, **given)
    assert settings == RunSettings(library="basic", **given)
    assert known is NOTHING_KNOWN


def test_a_baseline_without_a_rate_is_an_error_that_says_what_to_give() -> None:
    known = KnownRates("old", {BASELINE: (point(10, 0.0), point(100, 0.0))})
    with pytest.raises(UsageError, match=r"work_seconds = 2: .* give work or time_limit"):
        settled(known, work_seconds=2.0)


def test_it_takes_the_place_of_other_budgets_of_the_problem_but_not_of_the_user() -> None:
    assert make_settings({}, {"work_seconds": 1.0}, {"work": 5}).work is None
    assert make_settings({}, {"work": 9}, {"work_seconds": 1.0}).work_seconds is None
    assert make_settings({}, {"time_limit": 2.0}, {"work_seconds": 1.0}).work_seconds is None
    assert make_settings({"work": 9}, {"work_seconds": 1.0}, {"work": 5}).work == 9  # a run that goes on
    with pytest.raises(SettingsError, match="two ways to give one budget"):
        settings_for("tsp", {"work": 9}, {"work_seconds": 1.0})
    with pytest.raises(SettingsError, match="needs calibration = measured"):
        make_settings({}, {"work_seconds": 1.0, "calibration": "off"})
    assert "work_seconds" in UNCHANGEABLE


def test_an_estimate_goes_by_the_seconds() -> None:
    slow, quick = (estimate_run(RunSettings(work_seconds=s, evaluators=1)).hours for s in (3.0, 1.0))
    assert slow is not None
    assert quick is not None
    assert slow == pytest.approx(3.0 * quick)
