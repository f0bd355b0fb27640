"""Work that grows with the instance as the safe baseline's speed does: what is given, and what is told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import pytest
from tests.agents.memory_log import MemoryLog
from tests.agents.outside_world import CountingEvaluator
from tests.agents.simulation import Simulation

from dga2d.agents.ports import EvaluationRequest
from dga2d.agents.prompt_program import budget_text, program_rows
from dga2d.agents.work_calibration import processor_limit, work_on
from dga2d.domains.core.contract import Implementation, Instance
from dga2d.replay.state.fold import fold_all
from dga2d.replay.state.run_state import RunState
from dga2d.replay.state.work_rates import WorkRates

WORK = 1000
SIZES = {f"g/train{i}": 10 * (1 + i) for i in range(6)}
SIZES |= {f"g/validation{i}": 70 + 10 * i for i in range(2)} | {f"g/test{i}": 90 + 10 * i for i in range(2)}
"""As in `Instances`."""


class SlowOnLargeOnes(CountingEvaluator):
    """Makes as many units a second as its `speed` divided by the size of the instance."""

    speed: ClassVar[float] = 500_000.0

    def rate(self, step: Implementation, instance: Instance) -> float:
        return self.speed / SIZES.get(instance.key, 10)


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[EvaluationRequest]:
    return SlowOnLargeOnes.takes_over(monkeypatch)


def evaluations(requests: list[EvaluationRequest]) -> list[EvaluationRequest]:
    return [one for one in requests if one.key.startswith("evaluation/") and one.unit == "work"]


def by_size(simulation: Simulation, **changes: Any) -> tuple[RunState, MemoryLog]:
    return simulation.changed(
        work=WORK, work_by_size=True, gate_instances=3, race_contenders=2, **changes
    ).run()


def test_every_instance_is_given_the_work_that_takes_the_baseline_as_long(
    simulation: Simulation, requests: list[EvaluationRequest]
) -> None:
    state, _ = by_size(simulation)
    asked = evaluations(requests)
    middle = state.work_rates.middle
    assert middle is not None
    assert {one.key.split("/")[1] for one in asked} == {"train", "race", "gate", "validation"}
    smallest, largest = (
        point.size for point in (state.work_rates.reference[0], state.work_rates.reference[-1])
    )
    assert smallest < middle.size < largest
    for one in asked:
        assert one.budget is not None
        size = min(max(SIZES[one.instance.key], smallest), largest)  # the nearest rate holds beyond them
        assert one.budget * size == pytest.approx(WORK * middle.size, rel=0.06)  # two digits
    assert len({one.budget for one in asked}) > 3


def test_the_processor_time_an_evaluation_may_take_is_the_same_on_all_sizes(
    simulation: Simulation, requests: list[EvaluationRequest]
) -> None:
    state, _ = by_size(simulation)
    limits = [processor_limit(state, size) for size in (10, 30, 60, 100)]
    assert limits == pytest.approx([limits[0]] * 4, rel=0.03)
    flat = replace(state, settings=state.settings.model_copy(update={"work_by_size": False}))
    assert (processor_limit(flat, 60) or 0.0) > 1.02 * (processor_limit(flat, 10) or 0.0)


@pytest.mark.parametrize(
    "changes", [{"calibration": "off"}, {"work_by_size": False}, {"work": None, "time_limit": 2.0}]
)
def test_without_rates_or_the_setting_the_budget_is_the_runs(
    simulation: Simulation, requests: list[EvaluationRequest], changes: dict[str, Any]
) -> None:
    simulation.changed(**{"work": WORK, "work_by_size": True, **changes}).run()
    assert evaluations(requests)
    assert all(one.budget is None for one in evaluations(requests))


def test_a_run_that_goes_on_on_a_slower_machine_keeps_its_budgets(
    simulation: Simulation, requests: list[EvaluationRequest], monkeypatch: pytest.MonkeyPatch
) -> None:
    small = simulation.changed(work=WORK, work_by_size=True)
    _, whole = small.run()
    once = {one.key: one.budget for one in evaluations(requests)}
    requests.clear()
    monkeypatch.setattr(SlowOnLargeOnes, "speed", 100_000.0)
    middle = next(event.seq for event in whole.events if event.type == "GenerationCompleted")
    state, log = small.run(whole.until(middle))
    assert state.work_rates.reference != state.work_rates.first_reference
    again = {one.key: one.budget for one in evaluations(requests)}
    assert again
    assert {key: once[key] for key in again} == again
    assert small.made_again(log) > 0


def test_beyond_the_sizes_that_were_measured_the_nearest_one_holds(
    simulation: Simulation, requests: list[EvaluationRequest]
) -> None:
    state, _ = by_size(simulation)
    assert work_on(state, 10) > work_on(state, 30) > work_on(state, 60)
    assert work_on(state, 10**6) == work_on(state, 60)
    assert work_on(state, 1) == work_on(state, 10)


def test_a_baseline_without_a_rate_leaves_all_with_the_same_work(simulation: Simulation) -> None:
    first = fold_all(simulation.changed(work=WORK, work_by_size=True).run()[1].events[:1])
    state = replace(first, work_rates=WorkRates())
    assert {work_on(state, size) for size in (10, 100, 1000)} == {WORK}
    assert budget_text(state, 2).startswith("1000 work units per instance for the whole pipeline")


def test_a_prompt_tells_the_least_and_the_most(
    simulation: Simulation, requests: list[EvaluationRequest]
) -> None:
    state, _ = by_size(simulation, prompt_edition=7)
    rates = state.work_rates.first_reference
    least, most = work_on(state, rates[-1].size), work_on(state, rates[0].size)
    told = budget_text(state, 3)
    assert f"1000 work units on an instance of middle size, {least} to {most} on others" in told
    assert "seconds of the processor" in told  # one figure, whatever the size
    assert "by size" not in told


def test_a_prompt_tells_the_time_of_a_position(
    simulation: Simulation, requests: list[EvaluationRequest]
) -> None:
    state, _ = by_size(simulation, prompt_edition=10)
    middle = state.work_rates.middle
    assert middle is not None
    shown = 500 * WORK * middle.size / SlowOnLargeOnes.speed
    assert program_rows(state, state.header.baseline)[0].split("; ")[0].endswith(f"about {shown:.3g} ms")
