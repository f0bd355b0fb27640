"""Validation chooses by what programs do in equal time, whatever their code counts as a unit of work.

The texts in ``model_answers`` were written by a language model (it went by the name ``gpt-x`` behind an
OpenAI-compatible endpoint) in two runs of 22 November 2026, CVRP and flexible job shop, both from the basic
library. They count work differently than the library does. In those runs each implementation's own count was
believed: validation of the flexible job shop kept the safe baseline, which the answer beats in equal seconds.

``model_answers/rates.json`` holds what was measured once to tell their rates: size of an instance, units and
processor time. With these nothing depends on the clock; with rates measured anew, or in seconds, validation
is tried where there is time and an idle machine.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from tests.agents.memory_log import MemoryLog, recorded

from dga2d.agents import validator
from dga2d.agents.evaluator_pool import Evaluate, SourceReader, evaluation_request
from dga2d.agents.spreading import spread
from dga2d.agents.validator import ScoreValidation
from dga2d.agents.work_calibration import RateMeter, seconds_of_work
from dga2d.domains.core.contract import Implementation, Operator, OperatorName
from dga2d.events import ImplementationId, InstanceKey, OperatorId, blob_digest
from dga2d.events.payloads import CheckpointSelected, Step, WorkRatePoint
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.fold import fold_all
from dga2d.replay.state.generation_state import GenerationState, ValidationState
from dga2d.replay.state.outcomes import Outcome, Outcomes
from dga2d.replay.state.run_state import RunState
from dga2d.replay.state.work_rates import BASELINE
from dga2d.runtime.evaluation.pool import EvaluatorPool
from dga2d.runtime.evaluator import open_evaluator
from dga2d.runtime.runs.problem import Problem
from dga2d.runtime.runs.start import run_started

ANSWERS = Path(__file__).with_name("model_answers")
N_INSTANCES = 12
WORK = {"cvrp": 60_000, "fjsp": 110_000}
"""Half of the run's own, to save time, and its own."""
LONGER = 5.0
"""Times as long as the work stands for where seconds are given: the clock runs for other programs, too."""
PROGRAMS = {
    "cvrp": ("sweep +simulated_annealing", "+savings simulated_annealing"),
    "fjsp": (
        "earliest_completion +machine_reassignment_search",
        "earliest_completion critical_annealing +machine_reassignment_search",
    ),
}
"""Two programs of each run's last validation, the one that wins in seconds first; ``+`` marks the answers."""
Budget = Literal["counted", "recorded", "measured", "seconds"]


class Validation:
    """The last validation of a run, repeated: the safe baseline and `PROGRAMS`."""

    def __init__(self, domain: str, budget: Budget) -> None:
        now = Problem.open(domain, None)
        then = [ref for part in now.splits for ref in part if ref.part is None]  # others were added later
        self.problem, self.budget = Problem(now.domain, then), budget
        calibration: Literal["off", "measured"] = "off" if budget == "counted" else "measured"
        self.settings = RunSettings(
            library="basic", work=WORK[domain], calibration=calibration, evaluators=2, time_limit=60.0
        )
        draft, texts = run_started(self.problem, self.settings, 1, "none", "none", {}, None)
        self.log = MemoryLog()
        self.log.blobs.update((blob_digest(text), text) for text in texts)
        self.state: RunState = fold_all([recorded(1, draft)])
        programs = [self.state.header.baseline, *map(self._steps, PROGRAMS[domain])]
        keys = sorted(InstanceKey(ref.key) for part in self.problem.splits for ref in part)
        validation = ValidationState(
            seq=1, instances=spread(keys, N_INSTANCES), pipelines=tuple(programs), decoded_seq=1
        )
        generation = GenerationState(number=1, seq=1, size=1, validation=validation)
        self.state = replace(self.state, status="running", generation=generation)

    def _steps(self, program: str) -> tuple[Step, ...]:
        return tuple(map(self._step, program.split()))

    def _step(self, word: str) -> Step:
        operator = word.removeprefix("+")
        if operator == word:
            first = self._operator(operator).implementations[0]
            return Step(operator=OperatorId(operator), implementation=ImplementationId(first.id))
        source = (ANSWERS / f"{self.problem.domain.name}_{operator}.txt").read_bytes()
        name = ImplementationId(Implementation(OperatorName(operator), source.decode(), "call:1").id)
        self.log.blobs[blob_digest(source)] = source
        self.state = replace(
            self.state,
            sources=self.state.sources.set(name, blob_digest(source)),
            operator_of=self.state.operator_of.set(name, OperatorId(operator)),
        )
        return Step(operator=OperatorId(operator), implementation=name)

    def _operator(self, name: str) -> Operator:
        return next(operator for operator in self.problem.domain.operators() if operator.id == name)

    async def chosen(self) -> int:
        """Measure rates, evaluate and score; the number of the program that becomes the checkpoint."""
        generation = self.state.generation
        assert generation is not None
        assert generation.validation is not None
        validation = generation.validation
        programs = validation.pipelines
        assert programs is not None
        async with open_evaluator(self.problem.domain.name, self.settings) as pool:
            if self.budget == "recorded":
                self._know_rates(programs)
            elif self.budget != "counted":
                await self._calibrate(pool, programs)
            outcomes = {}
            for key in validation.instances:
                for number in range(len(programs)):
                    duty = Evaluate(1, "validation", 1, number, key)
                    request = await evaluation_request(self.state, duty, SourceReader(self.log), self.problem)
                    if self.budget == "seconds":
                        limit_s = seconds_of_work(self.state)
                        assert limit_s is not None
                        longer_s = LONGER * limit_s
                        request = replace(request, budget=longer_s, unit="s", scales=(), call_costs=())
                    request = replace(request, cpu_limit_s=None)  # it knows the machine that measured
                    reply = await pool.evaluate(request)
                    outcomes[number, key] = Outcome(reply.objective, reply.failure)
        validation = replace(validation, outcomes=Outcomes.of(outcomes))
        state = replace(self.state, generation=replace(generation, validation=validation))
        (selected, *_) = validator.decide(state, ScoreValidation(1, 1)).drafts
        assert isinstance(selected.payload, CheckpointSelected)
        return programs.index(selected.payload.pipeline)

    def _know_rates(self, programs: Sequence[tuple[Step, ...]]) -> None:
        """Take the rates that were measured once."""
        recorded = json.loads((ANSWERS / "rates.json").read_text(encoding="utf-8"))[self.problem.domain.name]
        self._keep_rate(BASELINE, _points(recorded[BASELINE]))
        for step in dict.fromkeys(step for program in programs for step in program):
            is_own = step == self._step(step.operator)
            rows = recorded[step.operator if is_own else f"+{step.operator}"]
            self._keep_rate(step.implementation, _points(rows))

    async def _calibrate(self, pool: EvaluatorPool, programs: Sequence[tuple[Step, ...]]) -> None:
        """Measure the baseline and every implementation, behind an initialiser or as one."""
        baseline, sources = programs[0], SourceReader(self.log)
        await self._measure(pool, sources, BASELINE, baseline)
        for step in dict.fromkeys(step for program in programs for step in program):
            starts = self._operator(step.operator).is_initialiser
            steps = (step,) if starts else (baseline[0], step)
            await self._measure(pool, sources, step.implementation, steps)

    async def _measure(
        self, pool: EvaluatorPool, sources: SourceReader, subject: str, steps: Sequence[Step]
    ) -> None:
        texts = tuple([await sources.implementation(self.state, step) for step in steps])
        points = await RateMeter(pool, self.problem).measure(self.state, subject, texts)
        self._keep_rate(subject, points)

    def _keep_rate(self, subject: str, points: Sequence[WorkRatePoint]) -> None:
        rates = self.state.work_rates
        measured = (
            rates.with_reference(points, 1)
            if subject == BASELINE
            else rates.with_implementation(ImplementationId(subject), points)
        )
        self.state = replace(self.state, work_rates=measured)


def _points(rows: Sequence[tuple[int, int, float]]) -> list[WorkRatePoint]:
    return [WorkRatePoint(instance="any", size=size, work=work, cpu_s=cpu_s) for size, work, cpu_s in rows]


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("domain", "budget"),
    [
        ("cvrp", "recorded"),
        ("fjsp", "recorded"),
        *(
            pytest.param(domain, budget, marks=pytest.mark.long)
            for domain in ("cvrp", "fjsp")
            for budget in ("measured", "seconds")
        ),
    ],
)
async def test_validation_chooses_the_program_that_wins_in_seconds(domain: str, budget: Budget) -> None:
    assert await Validation(domain, budget).chosen() == 1


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_believing_each_codes_own_count_throws_the_winner_away() -> None:
    assert await Validation("fjsp", "counted").chosen() != 1
