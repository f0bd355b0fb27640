"""Work units of implementations that count differently, in runs whose evaluator knows what they cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import anyio
import pytest
from tests.agents.memory_log import MemoryLog, recorded
from tests.agents.outside_world import CountingEvaluator, Instances
from tests.agents.simulation import Simulation

from dga2d.agents.ports import EvaluationReply, EvaluationRequest
from dga2d.agents.work_calibration import (
    GRACE_S,
    RateMeter,
    not_overcharged,
    units_of_a_round,
    without_idling,
    without_short_calls,
)
from dga2d.domains.core.contract import Implementation, Instance, OperatorName
from dga2d.events import Draft, ImplementationId, InstanceKey, RecordedEvent
from dga2d.events import payloads as p
from dga2d.replay.errors import DecisionMismatchError, InvariantError
from dga2d.replay.state.fold import fold, fold_all
from dga2d.replay.state.run_state import RunState
from dga2d.replay.state.work_rates import RESOLUTION_S, WorkRates

Recorder = Callable[[int, Draft], RecordedEvent]

BASELINE_RATE = 50_000.0
"""Units per processor second of every implementation but those below."""
RATES = {"kick": 300_000.0, "climb": 5000.0}
"""Units per processor second by operator."""


class ByOperator(CountingEvaluator):
    """Rates are those of `RATES`, and the baseline's."""

    def rate(self, step: Implementation, instance: Instance) -> float:
        return RATES.get(step.operator, BASELINE_RATE)


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[EvaluationRequest]:
    return ByOperator.takes_over(monkeypatch)


def rates_of(log: MemoryLog) -> list[p.WorkRateMeasured]:
    return [event.payload for event in log.events if isinstance(event.payload, p.WorkRateMeasured)]


def test_every_implementation_is_measured_once_and_before_it_is_evaluated(
    simulation: Simulation, requests: list[EvaluationRequest]
) -> None:
    _, log = simulation.changed(work=1000).run()
    measured: set[str] = set()
    for event in log.events:
        if isinstance(event.payload, p.WorkRateMeasured):
            assert event.payload.subject not in measured
            assert measured or event.payload.subject == "baseline"
            measured.add(event.payload.subject)
        if isinstance(event.payload, p.EvaluationRecorded) and event.payload.split == "train":
            generation = fold_all(log.events[: event.seq - 1]).generation
            assert generation is not None
            steps = generation.pipelines[event.payload.candidate].steps
            assert {step.implementation for step in steps} <= measured
    assert len(measured) > 3


def test_charges_are_scaled_to_what_they_cost_the_baseline(
    simulation: Simulation, requests: list[EvaluationRequest]
) -> None:
    state, _ = simulation.changed(work=1000).run()
    size = 10
    for operator, rate in RATES.items():
        scales = [
            state.work_rates.scale(name, size)
            for name, of in state.operator_of.items()
            if of == operator and name in state.work_rates.scales
        ]
        reference = state.work_rates.seconds(1.0, size)
        assert reference is not None
        assert scales == pytest.approx([1.0 / reference / rate] * len(scales), rel=0.006)
    evaluations = [request for request in requests if request.key.startswith("evaluation/")]
    assert any(scale != 1.0 for request in evaluations for scale in request.scales)
    for request in evaluations:  # equal work is equal time now
        spent = [
            1.0 / scale / RATES.get(step.operator, BASELINE_RATE)
            for step, scale in zip(request.steps, request.scales, strict=True)
        ]
        assert spent == pytest.approx([spent[0]] * len(spent), rel=0.01)


def test_an_evaluation_may_take_the_time_its_work_stands_for_several_times(
    simulation: Simulation, requests: list[EvaluationRequest]
) -> None:
    state, _ = simulation.changed(work=1000, work_drift=3.0).run()
    worth = state.work_rates.seconds(1000, 10)
    assert worth is not None
    limits = {request.cpu_limit_s for request in requests if request.key.startswith("evaluation/train")}
    assert None not in limits
    assert all(limit is not None and limit >= GRACE_S for limit in limits)
    assert min(limit or 0.0 for limit in limits) == pytest.approx(GRACE_S + 3.0 * worth, rel=0.5)


@pytest.mark.parametrize(("rate", "units"), [(4e6, 3162), (300e3, 316), (50e3, 31), (1e3, 1), (500.0, 1)])
def test_a_round_in_plain_python_counts_about_what_it_takes(
    simulation: Simulation, requests: list[EvaluationRequest], rate: float, units: int
) -> None:
    simulated, _ = simulation.changed(work=1000).run()
    points = [
        p.WorkRatePoint(instance=InstanceKey("x"), size=size, work=round(rate), cpu_s=1.0)
        for size in (5, 10, 20)
    ]
    state = replace(simulated, work_rates=WorkRates().with_reference(points, 1))
    assert units_of_a_round(state) == units
    settings = state.settings.model_copy(update={"calibration": "off"})
    assert units_of_a_round(replace(state, settings=settings)) == 1
    assert units_of_a_round(replace(state, work_rates=WorkRates())) == 1


def test_a_rate_at_which_the_code_idled_is_left_out(
    simulation: Simulation, requests: list[EvaluationRequest]
) -> None:
    """Beside the baseline's 50,000 units a second on every size: 40,000, 20,000 and, idling, 2 millions."""
    state, _ = simulation.changed(work=1000).run()
    points = [
        p.WorkRatePoint(instance=InstanceKey("a/b"), size=size, work=work, cpu_s=0.1)
        for size, work in ((10, 4000), (20, 2000), (40, 200_000))
    ]
    found = without_idling(state, points)
    assert found[:2] == tuple(points[:2])
    assert (found[2].size, found[2].work, found[2].cpu_s) == (40, 0, 0.0)
    assert without_idling(state, points[:2]) == tuple(points[:2])
    assert without_idling(state, points[2:]) == tuple(points[2:])  # nothing to tell by


def test_a_search_that_ended_at_once_tells_nothing_of_its_units(
    simulation: Simulation, requests: list[EvaluationRequest]
) -> None:
    """The optimum of the largest instance was the start: one unit in 2.4 ms, 50,000 a second elsewhere."""
    state, _ = simulation.changed(work=1000).run()

    def point(size: int, work: int, cpu_s: float) -> p.WorkRatePoint:
        return p.WorkRatePoint(instance=InstanceKey("a/b"), size=size, work=work, cpu_s=cpu_s)

    good = [point(10, 5000, 0.1), point(20, 4000, 0.1)]
    found = without_idling(state, [*good, point(40, 1, 0.0024)])
    assert found == (*good, point(40, 0, 0.0))
    short = [point(10, 120, 0.0024), *good[1:], point(40, 60, 0.0012)]  # code that is always short
    assert without_idling(state, short) == tuple(short)


def test_code_that_counts_much_in_no_time_is_not_charged_for_it(
    simulation: Simulation, requests: list[EvaluationRequest]
) -> None:
    """200,000 units in 0.3 ms, where others do 2: too short for a rate, and far too dear without one."""
    state, _ = simulation.changed(work=1000).run()
    dear = p.WorkRatePoint(instance=InstanceKey("a/b"), size=10, work=200_000, cpu_s=0.0003)
    bounded = not_overcharged(state, dear)
    assert bounded == dear.model_copy(update={"cpu_s": RESOLUTION_S})
    name = ImplementationId("dear")
    [scale] = state.work_rates.with_implementation(name, [bounded]).scales[name]
    worth = state.work_rates.seconds(200_000 * scale.scale, 10)
    assert worth == pytest.approx(RESOLUTION_S)
    few = dear.model_copy(update={"work": 5})  # units that are worth less stay as they are
    measured = dear.model_copy(update={"cpu_s": 0.01})
    assert not_overcharged(state, few) == few
    assert not_overcharged(state, measured) == measured


@pytest.mark.parametrize("settings", [{"work": None}, {"work": 1000, "calibration": "off"}])
def test_nothing_is_measured_where_nothing_is_scaled(
    simulation: Simulation, requests: list[EvaluationRequest], settings: dict[str, Any]
) -> None:
    _, log = simulation.changed(**settings).run()
    assert not rates_of(log)
    assert all(request.scales == () and request.cpu_limit_s is None for request in requests)


def test_a_resumed_process_measures_the_baseline_again_and_nothing_else_twice(
    simulation: Simulation, requests: list[EvaluationRequest]
) -> None:
    small = simulation.changed(work=1000)
    _, whole = small.run()
    middle = next(e.seq for e in whole.events if e.type == "GenerationCompleted")
    state, log = small.run(whole.until(middle))
    subjects = [rate.subject for rate in rates_of(log)]
    assert subjects.count("baseline") == 2
    assert len(set(subjects)) == len(subjects) - 1
    assert state.status == "completed"
    assert small.made_again(log) > 0


def test_measurements_are_observed_and_what_is_owed_is_checked(
    simulation: Simulation, requests: list[EvaluationRequest], record: Recorder
) -> None:
    small = simulation.changed(work=1000)
    _, log = small.run()
    assert small.made_again(log) > 0
    seq = next(e.seq for e in log.events if e.type == "EvaluationRecorded")
    early = log.until(seq - 1)
    unknown = p.WorkRateMeasured(subject="build.000000000000", process=1, source="measured", points=())
    forged = record(seq, Draft("evaluator_pool", unknown, None, 1))
    with pytest.raises(InvariantError, match="there is no implementation"):
        fold(fold_all(early.events), forged)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"process": 2}, "of another process"),
        ({"subject": "baseline"}, "the baseline was measured before"),
        ({"points": "negative"}, "a number below its range"),
    ],
)
def test_a_wrong_measurement_is_refused(
    simulation: Simulation,
    requests: list[EvaluationRequest],
    record: Recorder,
    change: dict[str, Any],
    reason: str,
) -> None:
    _, log = simulation.changed(work=1000).run()
    event = [e for e in log.events if e.type == "WorkRateMeasured"][1]
    payload = event.payload
    assert isinstance(payload, p.WorkRateMeasured)
    if change.get("points") == "negative":
        change = {"points": (payload.points[0].model_copy(update={"cpu_s": -1.0}),)}
    wrong = record(event.seq, Draft("evaluator_pool", payload.model_copy(update=change), 1, event.caused_by))
    with pytest.raises(InvariantError, match=reason):
        fold(fold_all(log.events[: event.seq - 1]), wrong)


def test_an_evaluation_before_its_rates_was_not_owed(
    simulation: Simulation, requests: list[EvaluationRequest]
) -> None:
    small = simulation.changed(work=1000)
    _, log = small.run()
    without = MemoryLog(small.settings.llm_calls)
    kept = [event for event in log.events if event.type != "WorkRateMeasured"]
    assert len(kept) < len(log.events)
    without.events.extend(renumbered(kept))
    without.blobs.update(log.blobs)
    with pytest.raises(DecisionMismatchError, match="it was not owed"):
        small.made_again(without)


def renumbered(events: list[RecordedEvent]) -> list[RecordedEvent]:
    numbers = {event.seq: number for number, event in enumerate(events, 1)}
    return [
        recorded(
            numbers[event.seq],
            Draft(event.agent, event.payload, event.generation, numbers.get(event.caused_by or 0)),  # type: ignore[arg-type]
        )
        for event in events
    ]


def test_order_of_answers_does_not_matter(simulation: Simulation, requests: list[EvaluationRequest]) -> None:
    found = []
    for order in (1, 2, 3):
        state, log = replace(simulation.changed(work=1000), order=order).run()
        found.append((dict(state.work_rates.scales), [r.subject for r in sorted(rates_of(log), key=str)]))
    assert found[0] == found[1] == found[2]


class CompilingEvaluator:
    """What it runs compiles for five seconds; a unit takes a microsecond besides."""

    def __init__(self) -> None:
        self.limits: list[float | None] = []

    async def evaluate(self, request: EvaluationRequest) -> EvaluationReply:
        self.limits.append(request.cpu_limit_s)
        work = round(request.budget or 0)
        if request.cpu_limit_s is not None and request.cpu_limit_s < 5.0:
            return EvaluationReply(
                None, "timeout", "too much", 2.0, 0, (), None, request.cpu_limit_s, has_compiled=True
            )
        position = p.PositionTrace(score_before=1.0, score_after=1.0, elapsed_s=1e-6 * work, work=work)
        return EvaluationReply(
            1.0, None, "", 5.0, work, (position,), None, cpu_s=5.0 + 1e-6 * work, has_compiled=True
        )


def test_compilation_is_no_part_of_the_price_of_a_unit(simulation: Simulation) -> None:
    state = replace(fold_all(simulation.changed(work=1_000_000).run()[1].events), work_rates=WorkRates())
    instances = Instances([entry.key for entry in state.header.splits.train])
    code = Implementation(OperatorName("climb"), "", "a test")
    evaluator = CompilingEvaluator()
    points = anyio.run(RateMeter(evaluator, instances).measure, state, "climb", (code,))
    assert [point.cpu_s / point.work for point in points] == pytest.approx([1e-6] * 3)
    assert evaluator.limits == [2.0, 30.0] * 3


class SolvingEvaluator:
    """Code works for a microsecond a unit, unless it finds the instance solved; then it charges nothing."""

    def __init__(self, busy: Callable[[str, str], bool]) -> None:
        self.busy = busy
        """By operator and instance."""
        self.asked: list[str] = []

    async def evaluate(self, request: EvaluationRequest) -> EvaluationReply:
        key = request.key.rpartition("work-rate/")[2].partition("/")[2]
        self.asked.append(key)
        share = round((request.budget or 0) / len(request.steps))
        works = [share if self.busy(step.operator, key) else 0 for step in request.steps]
        trace = tuple(
            p.PositionTrace(score_before=1.0, score_after=1.0, elapsed_s=1e-6 * work + 1e-5, work=work)
            for work in works
        )
        spent_s = sum(position.elapsed_s for position in trace)
        return EvaluationReply(1.0, None, "", spent_s, sum(works), trace, None, cpu_s=spent_s)


def fresh_state(simulation: Simulation) -> tuple[RunState, Instances]:
    state = replace(fold_all(simulation.changed(work=1_000_000).run()[1].events), work_rates=WorkRates())
    return state, Instances([entry.key for entry in state.header.splits.train])


CLIMB, BUILD = (Implementation(OperatorName(name), "", "a test") for name in ("climb", "build"))


def test_instances_that_the_baseline_solves_at_once_are_stood_in_for(simulation: Simulation) -> None:
    state, instances = fresh_state(simulation)
    keys = [entry.key for entry in state.header.splits.train]
    usual = anyio.run(
        RateMeter(SolvingEvaluator(lambda operator, key: True), instances).measure,
        state,
        "baseline",
        (CLIMB,),
    )
    solved = {point.instance for point in usual}
    assert solved < set(keys)
    evaluator = SolvingEvaluator(lambda operator, key: key not in solved)
    points = anyio.run(RateMeter(evaluator, instances).measure, state, "baseline", (BUILD, CLIMB))
    assert points
    assert not {point.instance for point in points} & solved
    assert all(point.cpu_s / point.work == pytest.approx(1e-6, rel=0.01) for point in points)
    known = replace(state, work_rates=WorkRates().with_reference(points, 1))
    evaluator.asked.clear()
    anyio.run(RateMeter(evaluator, instances).measure, known, "climb", (CLIMB,))
    assert dict.fromkeys(evaluator.asked) == dict.fromkeys(point.instance for point in points)


def test_a_last_position_that_has_nothing_to_do_leaves_the_one_before_to_be_measured(
    simulation: Simulation,
) -> None:
    state, instances = fresh_state(simulation)
    evaluator = SolvingEvaluator(lambda operator, key: operator == "build")
    points = anyio.run(RateMeter(evaluator, instances).measure, state, "baseline", (BUILD, CLIMB))
    reference = WorkRates().with_reference(points, 1).reference
    assert [rate.rate for rate in reference] == pytest.approx([1e6] * 3, rel=0.01)


class UnevenEvaluator:
    """Of three runs in a row, each with a stream of its own, the last is three times as fast; some fail."""

    def __init__(self, failing: frozenset[int] = frozenset()) -> None:
        self.failing = failing
        self.seeds: dict[str, list[tuple[int, ...]]] = {}

    async def evaluate(self, request: EvaluationRequest) -> EvaluationReply:
        seeds = self.seeds.setdefault(request.key, [])
        seeds.append(request.seed)
        if len(seeds) - 1 in self.failing:
            return EvaluationReply(None, "timeout", "too much", 2.0, 0, (), None, 2.0)
        work = round(request.budget or 0)
        spent_s = work * (1e-6 if len(seeds) < 3 else 1e-6 / 3.0)
        part = p.PositionTrace(score_before=1.0, score_after=1.0, elapsed_s=spent_s, work=work)
        return EvaluationReply(1.0, None, "", spent_s, work, (part,), None, cpu_s=spent_s)


@pytest.mark.parametrize(
    ("failing", "seconds_per_unit"),
    [(frozenset(), 1e-6 * (2 + 1 / 3) / 3), (frozenset({2}), 1e-6)],
)
def test_the_baselines_rate_is_the_mean_of_several_runs(
    simulation: Simulation, failing: frozenset[int], seconds_per_unit: float
) -> None:
    state, instances = fresh_state(simulation)
    evaluator = UnevenEvaluator(failing)
    points = anyio.run(RateMeter(evaluator, instances).measure, state, "baseline", (CLIMB,))
    assert [point.cpu_s / point.work for point in points] == pytest.approx([seconds_per_unit] * 3)
    assert all(len(set(seeds)) == 3 for seeds in evaluator.seeds.values())
    known = replace(state, work_rates=WorkRates().with_reference(points, 1))
    evaluator = UnevenEvaluator()
    anyio.run(RateMeter(evaluator, instances).measure, known, "climb", (CLIMB,))
    assert {len(seeds) for seeds in evaluator.seeds.values()} == {1}


class DescendingEvaluator:
    """A descent makes 40,000 units in 40 ms; run again it finds nothing, in 4 ms for a single one."""

    async def evaluate(self, request: EvaluationRequest) -> EvaluationReply:
        works = [40_000] + [1] * (len(request.steps) - 1)
        seconds = [0.04] + [0.004] * (len(request.steps) - 1)
        trace = tuple(
            p.PositionTrace(score_before=1.0, score_after=1.0, elapsed_s=taken, work=work)
            for work, taken in zip(works, seconds, strict=True)
        )
        return EvaluationReply(1.0, None, "", sum(seconds), sum(works), trace, None, cpu_s=sum(seconds))


def test_what_a_descent_charges_when_nothing_is_left_is_not_its_rate(simulation: Simulation) -> None:
    state, instances = fresh_state(simulation)
    points = anyio.run(RateMeter(DescendingEvaluator(), instances).measure, state, "climb", (CLIMB,))
    assert [point.work for point in points] == [40_001] * 3
    assert [point.cpu_s for point in points] == pytest.approx([0.044] * 3)


def test_where_nothing_works_nothing_is_measured(simulation: Simulation) -> None:
    state, instances = fresh_state(simulation)
    evaluator = SolvingEvaluator(lambda operator, key: False)
    points = anyio.run(RateMeter(evaluator, instances).measure, state, "baseline", (BUILD, CLIMB))
    assert WorkRates().with_reference(points, 1).reference == ()


def test_a_single_unit_that_bears_the_price_of_a_call_is_no_rate() -> None:
    """The baseline ends at once on the smallest instance; on the others it does 50,000 units a second."""
    points = [
        p.WorkRatePoint(instance=InstanceKey("a/b"), size=size, work=work, cpu_s=cpu_s)
        for size, work, cpu_s in ((10, 1, 0.004), (20, 5000, 0.1), (40, 500, 0.01))
    ]
    assert [point.work for point in without_short_calls(points)] == [0, 5000, 500]
    assert without_short_calls(points[:1]) == tuple(points[:1])  # nothing to tell by


class SlowEvaluator:
    """Whatever it runs takes too long."""

    def __init__(self) -> None:
        self.asked = 0

    async def evaluate(self, request: EvaluationRequest) -> EvaluationReply:
        self.asked += 1
        return EvaluationReply(None, "timeout", "too much", 2.0, 0, (), None, 2.0)


def test_a_baseline_that_takes_too_long_is_not_tried_on_one_instance_after_another(
    simulation: Simulation,
) -> None:
    state, instances = fresh_state(simulation)
    evaluator = SlowEvaluator()
    points = anyio.run(RateMeter(evaluator, instances).measure, state, "baseline", (BUILD, CLIMB))
    assert WorkRates().with_reference(points, 1).reference == ()
    assert evaluator.asked == 5 * 3  # each time with less work, on three instances
