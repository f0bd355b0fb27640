"""Calibration: what a work unit of each implementation is worth is measured before its units are counted.

The evaluator pool owes a measurement of the safe baseline once per process, and one of every implementation
when a candidate first needs it; that candidate's evaluations wait for it. `replay.state.work_rates` says what
follows from the figures.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

from dga2d.agents.agent import Decision, Duty
from dga2d.agents.ports import EvaluationReply, EvaluationRequest, Evaluator, InstanceSource
from dga2d.domains.core.contract import Implementation
from dga2d.events import Draft, ImplementationId, InstanceKey
from dga2d.events.payloads import Step, WorkRateMeasured, WorkRatePoint
from dga2d.replay.state.run_state import RunState
from dga2d.replay.state.work_rates import BASELINE, RESOLUTION_S, is_measurable
from dga2d.replay.streams import spawn_key

GRACE_S = 0.5
"""Processor seconds every evaluation under a work budget may take, however little its work stands for."""
ROUND_S = 1e-3
"""Processor seconds, about, of a round of a composed search whose operators have nothing to do."""
_LOOKED_AT = 7
"""Training instances whose sizes are compared to choose the smallest, the middle and the largest."""
_MEASURED_S = 0.1
"""Processor seconds a measurement of an implementation aims at."""
_ENOUGH_S = 0.02
"""Processor seconds from which a measurement is good enough."""
_LIMIT_S = 2.0
"""Processor seconds after which a measurement is given up and begun again with less work."""
_COMPILING_LIMIT_S = 30.0
"""The same where the first one compiled something."""
_TRIES = 5
_BASELINE_RUNS = 3
"""Runs that a rate of the safe baseline is the mean of: all others, and all seconds, refer to it."""
_MANY_CALLS = (16, 4)
"""Calls that share the work of a measurement where it is asked what a call takes; fewer where so many take
too long."""
_BY_CALLS = 0.75
"""Part of what it would charge if all its units went by calls from which code counts as doing so."""
_MOST_IN_CALLS = 0.9
"""Part of the time of a measurement that its calls may account for: some of it was work."""
_OTHERS = 12
"""Instances of about the same size that stand in for one that the safe baseline solves at once, at most."""
_IDLE = 8.0
"""Times its slowest speed, beside the baseline's on each size, from which code is taken to idle."""
_MORE, _LESS = 8.0, 1.0 / 16.0
"""Factors of the next measurement's work where the last was too short to be measured, or was given up."""


@dataclass(frozen=True)
class MeasureRate(Duty):
    """Measure what the work units of an implementation, or of the safe baseline, are worth."""

    subject: str
    """As in `WorkRateMeasured`."""


class MeasuredRate(NamedTuple):
    """What was measured, or taken over."""

    points: tuple[WorkRatePoint, ...]
    source: str


class KnownRates(NamedTuple):
    """Measurements that were made before, by an earlier run or before this one began."""

    run: str = ""
    """The earlier run; empty where there is none."""
    points: Mapping[str, tuple[WorkRatePoint, ...]] = MappingProxyType({})
    """By subject; what is not among them is measured."""

    @property
    def source(self) -> str:
        """What the log says of where they come from."""
        return f"run {self.run}" if self.run else "measured"


NOTHING_KNOWN = KnownRates()


def is_calibrated(state: RunState) -> bool:
    """Return whether work units are made comparable in this run."""
    return state.settings.work is not None and state.settings.calibration == "measured"


def rated(state: RunState, name: ImplementationId) -> ImplementationId:
    """Return whose rate counts for `name`: its own with `calibrate_constants`, else that of the text that it
    configures."""
    return name if state.settings.calibrate_constants else state.unconfigured(name)


def owed_rates(state: RunState, needed: Sequence[ImplementationId]) -> list[MeasureRate]:
    """Return what must be measured before implementations `needed` may be evaluated; the baseline first."""
    rates = state.work_rates
    if rates.reference_seq < state.process_seq:
        return [MeasureRate(state.process_seq, BASELINE)] if needed else []
    missing = sorted({name for one in needed if (name := rated(state, one)) not in rates.scales})
    return [MeasureRate(state.process_seq, name) for name in missing]


def measured_pipeline(state: RunState, duty: MeasureRate) -> tuple[Step, ...]:
    """Return the shortest pipeline that ends with what is measured: the safe baseline's last position, or
    an implementation."""
    baseline = state.header.baseline
    if duty.subject == BASELINE:
        return baseline
    name = ImplementationId(duty.subject)
    if (brought := state.hand_tuned(name)) is not None and name not in state.operator_of:
        own = Step(operator=brought.id, implementation=name)
        return (own,) if brought.requires == "none" else (baseline[0], own)
    own = Step(operator=state.operator_of[name], implementation=name)
    is_initialiser = state.graph is not None and own.operator in state.graph.initialisers
    is_initialiser |= own.operator == baseline[0].operator  # the graph need not hold it
    proposed = None if state.generation is None else state.generation.proposed_operator
    if proposed is not None and proposed.operator == own.operator:  # not in the graph yet
        is_initialiser = proposed.requires == "none"
    return (own,) if is_initialiser else (baseline[0], own)


def decide(state: RunState, duty: MeasureRate, observed: MeasuredRate) -> Decision:
    """Return the record of a measurement."""
    payload = WorkRateMeasured(
        subject=duty.subject,
        process=state.process_seq,
        source=observed.source,
        points=observed.points,
    )
    number = None if state.generation is None else state.generation.number
    return Decision((Draft("evaluator_pool", payload, number, duty.caused_by),))


def seconds_of_work(state: RunState) -> float | None:
    """Return the seconds that the run's work budget stands for on an instance of middle size, to two digits;
    ``None`` where work is not calibrated or no rate is known."""
    middle = state.work_rates.middle
    if not is_calibrated(state) or middle is None:
        return None
    assert state.settings.work is not None
    seconds = state.work_rates.seconds(state.settings.work, middle.size)
    return None if seconds is None else float(f"{seconds:.2g}")


def units_of_a_round(state: RunState) -> int:
    """Return the work units that stand for `ROUND_S` under the run's budget.

    One of 1, 3, 10, 31, 100 …, so that measuring the rate again hardly changes it; 1 where work is not
    calibrated or no rate is known.
    """
    seconds = seconds_of_work(state)
    if seconds is None:
        return 1
    assert state.settings.work is not None
    units = ROUND_S * state.settings.work / seconds
    return int(10 ** (max(0, round(2 * math.log10(units))) / 2))


def work_on(state: RunState, size: int) -> int:
    """Return the run's work budget on an instance of `size` numbers; to two digits where it depends on it."""
    assert state.settings.work is not None
    if not state.settings.sizes_work:
        return state.settings.work
    return max(1, round(float(f"{state.work_rates.alike(state.settings.work, size):.2g}")))


def processor_limit(state: RunState, size: int) -> float | None:
    """Return the processor seconds an evaluation under the run's work budget may take.

    `size` is that of the instance, in numbers; ``None`` where no rate is known.
    """
    worth = state.work_rates.seconds(work_on(state, size), size)
    return None if worth is None else GRACE_S + state.settings.work_drift * worth


def without_idling(state: RunState, points: Sequence[WorkRatePoint]) -> tuple[WorkRatePoint, ...]:
    """Return `points` with those set to nothing at which the code did not work for what it charged, or hardly
    worked at all.

    A search that has reached the optimum, or has no move left, may go on charging at no cost; scaled by such
    a rate its units would count for next to nothing on other instances of that size. Or it ends at once: its
    few units then bear what every call costs. A point too short to be measured well counts as long as
    it agrees with the others, as those of code that is always short do.
    """
    speeds = {
        p.size: (state.work_rates.seconds(1.0, p.size) or 0.0) * p.work / p.cpu_s
        for p in points
        if p.work > 0 and p.cpu_s >= RESOLUTION_S
    }
    sound = {p.size for p in points if p.size in speeds and p.cpu_s >= _ENOUGH_S} or speeds.keys()
    slowest = min((speeds[size] for size in sound), default=0.0)

    def is_told(size: int) -> bool:
        if size not in speeds:
            return True
        return speeds[size] <= _IDLE * slowest and (size in sound or speeds[size] * _IDLE >= slowest)

    return tuple(point if is_told(point.size) else _nothing_at(point) for point in points)


def _nothing_at(point: WorkRatePoint) -> WorkRatePoint:
    return point.model_copy(update={"work": 0, "cpu_s": 0.0})


def _has_ended(point: WorkRatePoint) -> bool:
    """Return whether the code ended by itself: where it failed or took too long there is no time at all."""
    return point.cpu_s > 0.0


def without_short_calls(points: Sequence[WorkRatePoint]) -> tuple[WorkRatePoint, ...]:
    """Return the safe baseline's `points` with those set to nothing that were too short and at which, beside
    the others, a unit took so long that it must have borne what every call costs."""
    sound = [point.work / point.cpu_s for point in points if point.work > 0 and point.cpu_s >= _ENOUGH_S]
    slowest = min(sound, default=0.0)

    def is_told(point: WorkRatePoint) -> bool:
        return point.cpu_s >= _ENOUGH_S or _IDLE * point.work >= slowest * point.cpu_s

    return tuple(point if is_told(point) else _nothing_at(point) for point in points)


def not_overcharged(state: RunState, point: WorkRatePoint) -> WorkRatePoint:
    """Return `point` with the shortest time that can be measured, if it took less and its units are worth
    more than that.

    Units of a measurement that is too short would be left as they are. Code that counts every comparison
    then pays for half a millisecond what a second costs others.
    """
    worth = state.work_rates.seconds(point.work, point.size)
    if worth is None or point.cpu_s >= RESOLUTION_S or worth <= RESOLUTION_S:
        return point
    return point.model_copy(update={"cpu_s": RESOLUTION_S})


def told_apart(two: WorkRatePoint, calls: int, work: int, cpu_s: float) -> WorkRatePoint:
    """Return a measurement of two calls with its time divided into that of units and that of calls.

    `calls` of the same code charged `work` units in `cpu_s` seconds. With `a` seconds a call and `b` a unit,
    ``2 a + b two.work = two.cpu_s`` and ``calls a + b work = cpu_s``. Where more calls charge about as many
    times more, their units bear what a call takes, and nothing is told apart; nor is what is shorter than
    can be measured.
    """
    if 2 * work > _BY_CALLS * calls * two.work:
        return two
    a = (cpu_s * two.work - two.cpu_s * work) / (calls * two.work - 2 * work)
    a = min(a, _MOST_IN_CALLS * two.cpu_s / 2, (two.cpu_s - RESOLUTION_S) / 2)
    if a < RESOLUTION_S:
        return two
    return two.model_copy(update={"cpu_s": max(two.cpu_s - 2 * a, RESOLUTION_S), "call_s": a})


class RateMeter:
    """Measures rates by running code in the contained evaluator."""

    def __init__(self, evaluator: Evaluator, instances: InstanceSource) -> None:
        self._evaluator = evaluator
        self._instances = instances

    async def measure(
        self, state: RunState, name: str, steps: tuple[Implementation, ...]
    ) -> tuple[WorkRatePoint, ...]:
        """Return the rate of the last of `steps`, which must be a pipeline.

        It runs twice in a row, and both times count together: a descent has nothing left to do at the second,
        and a unit of what it charges then would bear all that a call costs. Compilation and the loading of
        machine code are no part of it: the clock of positions stands still, or has not begun. The work is
        chosen such that it takes about a tenth of a second: less where the code counts little for what it
        does, more where it counts much.

        With `call_costs` it is told apart what a call takes besides: so much more do many calls take than two
        that share the same work.

        The safe baseline's is the rate that all others refer to, and the mean of several runs. Where its last
        position finds the instance solved, others of about that size take its place; where no instance leaves
        it anything to do, the position before it is measured.
        """
        if name == BASELINE:
            return await self._measure_baseline(state, steps)
        points = []
        for number, key in enumerate(self._calibration_instances(state)):
            point = await self._measure_on(state, name, number, key, steps)
            points.append(not_overcharged(state, point))
        told = without_idling(state, points)
        return await self._with_calls(state, name, told, steps) if state.settings.call_costs else told

    async def _with_calls(
        self, state: RunState, name: str, points: Sequence[WorkRatePoint], steps: tuple[Implementation, ...]
    ) -> tuple[WorkRatePoint, ...]:
        """Return `points` with what calls take besides, from the largest size down to the first at which that
        is too little to be told: it grows with the numbers that are read."""
        found = list(points)
        for number in sorted(range(len(points)), key=lambda number: -points[number].size):
            if found[number].work > 0:
                found[number] = await self._with_call(state, name, number, points[number], steps)
                if found[number].call_s == 0.0:
                    break
        return tuple(found)

    async def _with_call(
        self, state: RunState, name: str, number: int, two: WorkRatePoint, steps: tuple[Implementation, ...]
    ) -> WorkRatePoint:
        """Return `two`, a measurement of two calls, with what each of them took besides its units."""
        for calls in _MANY_CALLS:
            request = EvaluationRequest(
                key=f"work-rate/{name}/{two.instance}/{calls}",
                instance=self._instances.instance(two.instance),
                steps=(*steps[:-1], *steps[-1:] * calls),
                seed=(state.header.seed, *spawn_key("rate", number), calls),
                budget=float(two.work),
                cpu_limit_s=_LIMIT_S,
            )
            reply = await self._evaluator.evaluate(request)
            if reply.failure is None:
                return told_apart(two, calls, *_last(reply, calls))
        return two

    async def _measure_baseline(
        self, state: RunState, steps: tuple[Implementation, ...]
    ) -> tuple[WorkRatePoint, ...]:
        points: list[WorkRatePoint] = []
        for length in range(len(steps), 0, -1):
            points = [
                await self._measure_about(state, number, key, steps[:length])
                for number, key in enumerate(self._calibration_instances(state))
            ]
            if any(map(is_measurable, points)) or not all(map(_has_ended, points)):
                break
        best_last = sorted(points, key=lambda point: point.cpu_s)
        told = sorted({point.size: point for point in best_last}.values(), key=lambda point: point.size)
        return without_short_calls(told)

    async def _measure_about(
        self, state: RunState, number: int, key: InstanceKey, steps: tuple[Implementation, ...]
    ) -> WorkRatePoint:
        """Return the rate on `key`, or on the first instance of about its size that keeps the code busy.

        Code that fails or takes too long would do so on the others as well: none is tried then.
        """
        size = self._instances.size(key)
        others = [entry.key for entry in state.header.splits.train if entry.key != key]
        others.sort(key=lambda other: abs(math.log(self._instances.size(other) / size)))
        found: list[WorkRatePoint] = []
        for one in (key, *others[:_OTHERS]):
            point = await self._measure_on(state, BASELINE, number, one, steps)
            found.append(point)
            if point.work > 0 and point.cpu_s >= _ENOUGH_S:
                return point
            if not _has_ended(point):
                break
        return max(found, key=lambda point: (is_measurable(point), point.cpu_s, point.instance == key))

    async def _measure_on(
        self, state: RunState, name: str, number: int, key: InstanceKey, steps: tuple[Implementation, ...]
    ) -> WorkRatePoint:
        size = self._instances.size(key)
        a_second = state.work_rates.seconds(1.0, size)
        amount = float(work_on(state, size))
        if a_second is not None:
            amount = max(min(amount, _MEASURED_S / a_second), 1.0)
        point, limit_s = self._point(key, 0, 0.0), _LIMIT_S
        request = EvaluationRequest(
            key=f"work-rate/{name}/{key}",
            instance=self._instances.instance(key),
            steps=(*steps, steps[-1]),
            seed=(state.header.seed, *spawn_key("rate", number)),
        )
        for _ in range(_TRIES):
            request = replace(request, budget=amount, cpu_limit_s=limit_s)
            reply = await self._evaluator.evaluate(request)
            if reply.failure == "timeout" and reply.has_compiled and limit_s == _LIMIT_S:
                limit_s = _COMPILING_LIMIT_S
                continue
            if reply.failure == "timeout":
                amount = max(amount * _LESS, 1.0)
                continue
            if reply.failure is not None:
                break
            point = self._point(key, *_last(reply, 2))
            if point.cpu_s >= _ENOUGH_S or reply.work < 0.9 * amount:  # it ended by itself
                break
            amount *= _MORE
        if name != BASELINE or point.cpu_s < _ENOUGH_S:
            return point
        return await self._repeated(request, point)

    async def _repeated(self, request: EvaluationRequest, first: WorkRatePoint) -> WorkRatePoint:
        """Return the sums over the first run of `request` and as many more as make `_BASELINE_RUNS`."""
        parts = [(first.work, first.cpu_s)]
        for again in range(1, _BASELINE_RUNS):
            reply = await self._evaluator.evaluate(replace(request, seed=(*request.seed, again)))
            if reply.failure is None:
                parts.append(_last(reply, 2))
        work, cpu_s = sum(units for units, _ in parts), sum(seconds for _, seconds in parts)
        return first.model_copy(update={"work": work, "cpu_s": cpu_s})

    def _point(self, key: InstanceKey, work: int, cpu_s: float) -> WorkRatePoint:
        return WorkRatePoint(instance=key, size=self._instances.size(key), work=work, cpu_s=cpu_s)

    def _calibration_instances(self, state: RunState) -> list[InstanceKey]:
        """Return those on which the safe baseline was measured; for itself the smallest, the middle and the
        largest of some training instances, each size once."""
        keys = [entry.key for entry in state.header.splits.train]
        chosen_before = [point.instance for point in state.work_rates.measured.get(BASELINE, ())]
        if chosen_before and set(chosen_before) <= set(keys):  # rates of another run may name others
            return chosen_before
        looked_at = [keys[i * len(keys) // _LOOKED_AT] for i in range(_LOOKED_AT)]
        by_size = {self._instances.size(key): key for key in reversed(looked_at)}
        sizes = sorted(by_size)
        chosen = sorted({sizes[0], sizes[len(sizes) // 2], sizes[-1]})
        return [by_size[size] for size in chosen]


def _last(reply: EvaluationReply, positions: int) -> tuple[int, float]:
    """Return units charged and processor seconds of the last `positions`, which run the same code.

    The seconds of the whole are measured outside; how long its positions took, by the clock of the processor,
    and the units are what the child reported: together no longer than the whole. What it can gain by lying is
    bounded by the limit of processor time.
    """
    elapsed_s = sum(position.elapsed_s for position in reply.trace)
    busy = min(1.0, reply.cpu_s / elapsed_s) if elapsed_s > 0.0 else 0.0
    last = reply.trace[-positions:]
    return sum(position.work for position in last), sum(max(p.elapsed_s, 0.0) for p in last) * busy
