"""Programs evaluated outside of a run as a run evaluates them: contained, verified, in work or in seconds."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from dga2d.agents.evaluator_pool import SourceReader
from dga2d.agents.ports import EvaluationReply, EvaluationRequest, Evaluator
from dga2d.agents.work_calibration import RateMeter, processor_limit, seconds_of_work, work_on
from dga2d.domains.core.contract import Implementation, normalised_gap
from dga2d.events import ImplementationId, InstanceKey
from dga2d.events.payloads import Step, shares_of
from dga2d.replay.state.run_state import RunState
from dga2d.replay.state.work_rates import BASELINE
from dga2d.runtime.runs.problem import Problem

Budget = Literal["counted", "calibrated", "seconds"]
"""Work as the code counts it, work calibrated to that of the safe baseline, or the seconds it stands for."""


@dataclass(frozen=True)
class Program:
    """A concrete algorithm with its texts."""

    parts: tuple[Implementation, ...]
    shares: tuple[float, ...] = ()
    """Of the budget, by position; empty: equal."""

    @property
    def name(self) -> str:
        """What tells it from other programs."""
        return "+".join((*(part.id for part in self.parts), *map(str, self.shares)))

    def replaced(self, position: int, part: Implementation) -> Program:
        """Return the program with another implementation at a position."""
        return Program((*self.parts[:position], part, *self.parts[position + 1 :]), self.shares)


async def read_program(state: RunState, steps: Sequence[Step], sources: SourceReader) -> Program:
    """Return a program of a log."""
    return Program(tuple([await sources.implementation(state, step) for step in steps]), shares_of(steps))


@dataclass
class ProgramBench:
    """Evaluates programs under the budget of a run, with rates that it measures itself where they lack."""

    state: RunState
    """Of the run: instances, references, budget, and the rates known so far."""
    baseline: Program
    problem: Problem
    evaluator: Evaluator

    def __post_init__(self) -> None:
        settings = self.state.settings.model_copy(update={"calibration": "measured"})
        self.state = replace(self.state, settings=settings)

    @property
    def limit_s(self) -> float:
        """Seconds that the work budget stands for."""
        seconds = seconds_of_work(self.state)
        assert seconds is not None, "the baseline's rate could not be measured"
        return seconds

    async def calibrate(self, programs: Iterable[Program]) -> None:
        """Measure the baseline, and every implementation of `programs` whose rate is not known."""
        if not self.state.work_rates.reference:
            await self._measure(BASELINE, self.baseline.parts)
        for part in dict.fromkeys(part for program in programs for part in program.parts):
            if ImplementationId(part.id) not in self.state.work_rates.scales:
                first = () if self._starts(part) else self.baseline.parts[:1]
                await self._measure(part.id, (*first, part))

    def _starts(self, part: Implementation) -> bool:
        return any(op.id == part.operator and op.is_initialiser for op in self.problem.domain.operators())

    async def _measure(self, subject: str, steps: tuple[Implementation, ...]) -> None:
        points = await RateMeter(self.evaluator, self.problem).measure(self.state, subject, steps)
        print(f"{subject}: {[(p.size, p.work, round(p.cpu_s, 4)) for p in points]}", file=sys.stderr)
        rates = self.state.work_rates
        known = (
            rates.with_reference(points, 1)
            if subject == BASELINE
            else rates.with_implementation(ImplementationId(subject), points)
        )
        self.state = replace(self.state, work_rates=known)

    def inherit_rate(self, child: Implementation, parent: Implementation) -> None:
        """Let `child`, which differs from `parent` in constants alone, count as it does in runs that measure
        texts alone."""
        if self.state.settings.calibrate_constants:
            return
        names = (ImplementationId(child.id), ImplementationId(parent.id))
        self.state = replace(self.state, work_rates=self.state.work_rates.configured_alike(*names))

    async def run(
        self, program: Program, key: InstanceKey, stream: tuple[int, ...], budget: Budget
    ) -> EvaluationReply:
        """Evaluate a program on an instance; `stream` is the spawn key of its random numbers."""
        size, rates = self.problem.size(key), self.state.work_rates
        is_calibrated = budget == "calibrated"
        names = [ImplementationId(part.id) for part in program.parts]
        return await self.evaluator.evaluate(
            EvaluationRequest(
                f"{budget}/{key}",
                self.problem.instance(key),
                program.parts,
                (self.state.header.seed, *stream),
                budget=self.limit_s if budget == "seconds" else work_on(self.state, size),
                unit="s" if budget == "seconds" else "work",
                scales=tuple(rates.scale(name, size) for name in names) if is_calibrated else (),
                call_costs=tuple(rates.call_cost(name, size) for name in names) if is_calibrated else (),
                shares=program.shares,
                cpu_limit_s=processor_limit(self.state, size) if is_calibrated else None,
            )
        )

    def gap_percent(self, reply: EvaluationReply, key: InstanceKey) -> float | None:
        """Return the gap of an answer, ``None`` where the evaluation failed."""
        if reply.objective is None:
            return None
        return 100.0 * normalised_gap(reply.objective, self.state.reference(key), self.state.header.sense)
