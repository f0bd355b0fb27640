"""What a call takes besides its units: told apart from them, and counted in work budgets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agents.memory_log import MemoryLog
from tests.agents.outside_world import CountingEvaluator, Instances
from tests.agents.simulation import Simulation

from dga2d.agents.ports import EvaluationReply, EvaluationRequest
from dga2d.agents.work_calibration import RateMeter, told_apart
from dga2d.domains.core.contract import Implementation, Instance, OperatorName
from dga2d.events import Draft, InstanceKey, RecordedEvent
from dga2d.events import payloads as p
from dga2d.replay.errors import InvariantError
from dga2d.replay.state.fold import fold, fold_all
from dga2d.replay.state.run_state import RunState
from dga2d.replay.state.work_rates import RESOLUTION_S, is_measurable

Recorder = Callable[[int, Draft], RecordedEvent]

RATE = 50_000.0
"""Units per processor second of every implementation."""
CALL_S = {"climb": 0.004, "kick": 0.0001}
"""Processor seconds of a call by operator, on the smallest instance."""
WORK = 5000


def size_of(instance: Instance) -> int:
    """Return the numbers of a simulation's instance."""
    if instance.group == "smoke":
        return 10
    part = instance.name.rstrip("0123456789")
    return 10 * (1 + {"train": 0, "validation": 6, "test": 8}[part] + int(instance.name.removeprefix(part)))


def call_s(step: Implementation, instance: Instance) -> float:
    """Return what a call takes: in proportion to the numbers of the instance."""
    return CALL_S.get(step.operator, 0.0) * size_of(instance) / 10


class WithCalls(CountingEvaluator):
    """Every call takes its time besides what its units do."""

    def rate(self, step: Implementation, instance: Instance) -> float:
        return RATE

    async def evaluate(self, request: EvaluationRequest) -> EvaluationReply:
        plain = await super().evaluate(replace(request, cpu_limit_s=None))
        calls = [call_s(step, request.instance) for step in request.steps]
        trace = tuple(
            position.model_copy(update={"elapsed_s": position.elapsed_s + seconds})
            for position, seconds in zip(plain.trace, calls, strict=False)
        )
        return replace(plain, trace=trace, cpu_s=plain.cpu_s + sum(calls))


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[EvaluationRequest]:
    return WithCalls.takes_over(monkeypatch)


def measured(work: int, cpu_s: float) -> p.WorkRatePoint:
    return p.WorkRatePoint(instance=InstanceKey("g/i"), size=10, work=work, cpu_s=cpu_s)


@given(st.floats(0.003, 1.0), st.floats(1e-7, 1e-4), st.integers(2000, 10**6), st.floats(0.5, 2.0))
def test_calls_and_units_are_told_apart(call: float, unit: float, work: int, more: float) -> None:
    units = round(more * work)
    found = told_apart(measured(work, 2 * call + unit * work), 16, units, 16 * call + unit * units)
    whole = 2 * call + unit * work
    least = max(0.1 * whole, RESOLUTION_S)
    if unit * work >= least:
        assert found.call_s == pytest.approx(call, rel=1e-6)
        assert found.cpu_s == pytest.approx(unit * work, rel=1e-4)
    else:  # something must be left for the units
        assert found.cpu_s == pytest.approx(least)
    assert 2 * found.call_s + found.cpu_s == pytest.approx(whole)
    assert is_measurable(found)


@given(st.integers(1, 1000), st.floats(0.001, 1.0), st.sampled_from([4, 16]))
def test_code_that_charges_by_calls_pays_for_them_already(units: int, call: float, calls: int) -> None:
    two = measured(2 * units, 2 * call)
    assert told_apart(two, calls, calls * units, calls * call) == two


def test_calls_too_short_to_be_measured_cost_nothing() -> None:
    two = measured(20_000, 0.1)
    assert told_apart(two, 16, 20_000, 0.1 + 14 * 0.9 * RESOLUTION_S) == two
    assert told_apart(two, 16, 20_000, 0.05) == two  # units that are cheaper in short calls


def test_enough_is_left_to_tell_the_rate_by() -> None:
    found = told_apart(measured(100, 0.007), 16, 100, 16 * 0.0035)
    assert found.call_s == pytest.approx(0.0025)
    assert found.cpu_s == pytest.approx(RESOLUTION_S)
    assert is_measurable(found)


def state_of(simulation: Simulation, *, told: bool) -> tuple[RunState, MemoryLog]:
    return simulation.changed(work=WORK, call_costs=told, gate_instances=2, race_contenders=4).run()


def test_equal_work_is_equal_time_with_all_calls(
    simulation: Simulation, requests: list[EvaluationRequest]
) -> None:
    state, _ = state_of(simulation, told=True)
    evaluations = [one for one in requests if one.key.startswith("evaluation/") and one.unit == "work"]
    assert any(any(one.call_costs) for one in evaluations)
    for one in evaluations:
        times = [call_s(step, one.instance) for step in one.steps]
        units_s = state.work_rates.seconds(WORK - sum(one.call_costs), size_of(one.instance))
        worth = state.work_rates.seconds(WORK, size_of(one.instance))
        assert units_s is not None
        untold = sum(time for time in times if time < RESOLUTION_S)
        assert sum(times) + units_s == pytest.approx(worth, abs=untold + 0.002)
    climbing = {name for name, operator in state.operator_of.items() if operator == "climb"}
    assert climbing & {*state.work_rates.calls}
    assert not {*state.work_rates.calls} - climbing


def test_a_log_with_costs_of_calls_is_decided_again(
    simulation: Simulation, requests: list[EvaluationRequest]
) -> None:
    changed = simulation.changed(work=WORK, call_costs=True, gate_instances=2)
    _, log = changed.run()
    assert any(
        point.call_s > 0.0
        for event in log.events
        if isinstance(event.payload, p.WorkRateMeasured)
        for point in event.payload.points
    )
    assert changed.made_again(log) > 0


def test_without_the_setting_no_call_is_looked_at(
    simulation: Simulation, requests: list[EvaluationRequest]
) -> None:
    state, _ = state_of(simulation, told=False)
    assert not state.work_rates.calls
    assert all(one.call_costs in ((), (0.0,) * len(one.steps)) for one in requests)
    assert max(len(one.steps) for one in requests if one.key.startswith("work-rate/")) <= 4


class Slow:
    """Code whose calls take so long that sixteen of them pass the limit, or four as well."""

    def __init__(self, call: float) -> None:
        self.call = call
        self.asked: list[int] = []

    async def evaluate(self, request: EvaluationRequest) -> EvaluationReply:
        calls, work = len(request.steps), round(request.budget or 0)
        self.asked.append(calls)
        spent_s = calls * self.call + 1e-6 * work
        if request.cpu_limit_s is not None and spent_s > request.cpu_limit_s:
            return EvaluationReply(None, "timeout", "too much", 2.0, 0, (), None, request.cpu_limit_s)
        one = p.PositionTrace(
            score_before=1.0, score_after=1.0, elapsed_s=spent_s / calls, work=work // calls
        )
        return EvaluationReply(1.0, None, "", spent_s, work, (one,) * calls, None, cpu_s=spent_s)


@pytest.mark.parametrize(
    ("call", "asked", "is_told"), [(0.05, [2, 16], True), (0.3, [2, 16, 4], True), (0.6, [2, 16, 4], False)]
)
def test_fewer_calls_are_made_where_many_take_too_long(
    simulation: Simulation, call: float, asked: list[int], is_told: bool
) -> None:
    state = fold_all(simulation.changed(work=100_000, call_costs=True).run()[1].events)
    instances = Instances([entry.key for entry in state.header.splits.train])
    evaluator = Slow(call)
    code = Implementation(OperatorName("build"), "", "a test")
    points = anyio.run(RateMeter(evaluator, instances).measure, state, "build", (code,))
    assert [point.call_s for point in points] == pytest.approx([call if is_told else 0.0] * len(points))
    first = len(points) * [2]
    assert evaluator.asked == (
        first + asked[1:] * len(points) if is_told else first + asked[1:]
    )  # the largest tells of the others


def test_a_negative_time_of_a_call_is_refused(
    simulation: Simulation, requests: list[EvaluationRequest], record: Recorder
) -> None:
    _, log = state_of(simulation, told=True)
    event = [e for e in log.events if e.type == "WorkRateMeasured"][1]
    payload = event.payload
    assert isinstance(payload, p.WorkRateMeasured)
    point = payload.points[0].model_copy(update={"call_s": -1.0})
    wrong = payload.model_copy(update={"points": (point,)})
    with pytest.raises(InvariantError, match="a number below its range"):
        fold(
            fold_all(log.events[: event.seq - 1]),
            record(event.seq, Draft("evaluator_pool", wrong, 1, event.caused_by)),
        )
