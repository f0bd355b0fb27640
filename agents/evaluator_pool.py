"""EvaluatorPool: one result per candidate and instance, for training, validation and test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dga2d.agents import gate, work_calibration
from dga2d.agents.agent import Decision, Duty, open_race, open_test, open_validation, test_is_open
from dga2d.agents.ports import (
    BlobSource,
    EvaluationReply,
    EvaluationRequest,
    Evaluator,
    EventAppender,
    InstanceSource,
)
from dga2d.agents.work_calibration import NOTHING_KNOWN, KnownRates, MeasuredRate, MeasureRate, RateMeter
from dga2d.domains.core.contract import Implementation, OperatorName
from dga2d.events import (
    AgentName,
    BlobDigest,
    Draft,
    ImplementationId,
    InstanceKey,
    blob_digest,
    instance_and_copy,
)
from dga2d.events.payloads import EvaluationRecorded, SplitName, Step, shares_of
from dga2d.replay.state.run_state import RunState
from dga2d.replay.state.work_rates import BASELINE
from dga2d.replay.streams import spawn_key


@dataclass(frozen=True)
class Evaluate(Duty):
    """Evaluate a candidate of a split on an instance."""

    split: SplitName
    number: int
    """Of the generation; of the attempt in a test."""
    candidate: int
    instance: InstanceKey


OwedEvaluation = Evaluate | MeasureRate


class Evaluated(NamedTuple):
    """What the evaluator said."""

    reply: EvaluationReply
    solution: BlobDigest | None
    """Of the reply's solution; ``None`` where there is none."""


class SourceReader:
    """Reads implementations by id from the log's blobs and keeps them in memory."""

    def __init__(self, source: BlobSource) -> None:
        self.blobs = source
        self._known: dict[ImplementationId, Implementation] = {}

    async def implementation(self, state: RunState, step: Step) -> Implementation:
        """Return the implementation of a step, whichever pool it is or was in."""
        if step.implementation not in self._known:
            digest = state.source_of(step.implementation)
            assert digest is not None, step.implementation
            text = (await self.blobs.get_blob(digest)).decode()
            self._known[step.implementation] = Implementation(
                OperatorName(step.operator), text, origin=f"log:{step.implementation}"
            )
        return self._known[step.implementation]


class EvaluatorPoolAgent:
    """Owns evaluation results (Algorithm 1, line 17) and the rates of work units."""

    name: AgentName = "evaluator_pool"

    def __init__(
        self,
        log: EventAppender,
        source: BlobSource,
        evaluator: Evaluator,
        instances: InstanceSource,
        known_rates: KnownRates = NOTHING_KNOWN,
    ) -> None:
        self._log = log
        self._sources = SourceReader(source)
        self._evaluator = evaluator
        self._instances = instances
        self._meter = RateMeter(evaluator, instances)
        self._known_rates = known_rates

    def duties(self, state: RunState) -> Sequence[OwedEvaluation]:
        return duties(state)

    async def perform(self, duty: OwedEvaluation, state: RunState) -> None:
        if isinstance(duty, MeasureRate):
            measured = await self._measure(duty, state)
            await self._log.append(*work_calibration.decide(state, duty, measured))
            return
        request = await evaluation_request(state, duty, self._sources, self._instances)
        reply = await self._evaluator.evaluate(request)
        solution = None if reply.solution is None else blob_digest(reply.solution)
        await self._log.append(*decide(state, duty, Evaluated(reply, solution)))

    async def _measure(self, duty: MeasureRate, state: RunState) -> MeasuredRate:
        if (known := self._known_rates.points.get(duty.subject)) is not None:
            return MeasuredRate(known, self._known_rates.source)
        steps = [
            await self._sources.implementation(state, step)
            for step in work_calibration.measured_pipeline(state, duty)
        ]
        return MeasuredRate(await self._meter.measure(state, duty.subject, tuple(steps)), "measured")


def duties(state: RunState) -> list[OwedEvaluation]:
    """Return the evaluations that the log lacks; under calibrated work, the rates they need come first."""
    owed = _owed_evaluations(state)
    if not work_calibration.is_calibrated(state):
        return [*owed]
    needed = {
        duty: [work_calibration.rated(state, step.implementation) for step in steps]
        for duty in owed
        for steps in (candidate_steps(state, duty),)
    }
    rates = work_calibration.owed_rates(state, [name for names in needed.values() for name in names])
    missing = {rate.subject for rate in rates}
    return [*rates, *(duty for duty in owed if BASELINE not in missing and missing.isdisjoint(needed[duty]))]


def _owed_evaluations(state: RunState) -> list[Evaluate]:
    if test_is_open(state):
        test = open_test(state)
        return [
            Evaluate(test.seq, "test", test.attempt, j, key)
            for j in range(len(test.candidates))
            for key in test.instances
            if (j, key) not in test.outcomes
        ]
    generation = state.generation
    if state.status != "running":
        return []
    ahead = [later for _, later in sorted(state.ahead.items())]
    owed = [
        Evaluate(pipeline.seq, "train", sampled.number, j, key)
        for sampled in (ahead if generation is None else [generation, *ahead])
        for j, pipeline in sorted(sampled.pipelines.items())
        for key in state.header.batch
        if (j, key) not in sampled.outcomes
    ]
    if generation is None:
        return owed
    if generation.proposals or generation.operator_proposal is not None:
        asked = gate.awaited_evaluations(state)
        owed += [Evaluate(seq, "gate", generation.number, j, key) for seq, (j, key) in asked]
    race = generation.race
    if race is not None:
        owed += [
            Evaluate(race.round_seq, "race", generation.number, j, key)
            for j, key in race.awaited()
            if (j, key) not in race.outcomes
        ]
    validation = generation.validation
    if validation is not None and validation.pipelines is not None:
        owed += [
            Evaluate(validation.decoded_seq, "validation", generation.number, j, key)
            for j in range(len(validation.pipelines))
            for key in validation.instances
            if (j, key) not in validation.outcomes
        ]
    return owed


def decide(state: RunState, duty: Evaluate, observed: Evaluated) -> Decision:
    """Return the record of an evaluation."""
    reply = observed.reply
    payload = EvaluationRecorded(
        split=duty.split,
        generation=duty.number,
        candidate=duty.candidate,
        instance=duty.instance,
        objective=reply.objective,
        failure=reply.failure,
        diagnostic=reply.diagnostic,
        elapsed_s=reply.elapsed_s,
        work=reply.work,
        trace=reply.trace,
        solution=observed.solution,
    )
    generation = None if duty.split == "test" else duty.number
    blobs = () if reply.solution is None else (reply.solution,)
    return Decision((Draft("evaluator_pool", payload, generation, duty.caused_by),), blobs)


def evaluation_key(split: SplitName, number: int, candidate: int, instance: str) -> str:
    """Return the name of an evaluation; ``EvaluationRecorded.operation`` gives the same."""
    return f"evaluation/{split}/{number}/{candidate}/{instance}"


async def evaluation_request(
    state: RunState, duty: Evaluate, sources: SourceReader, instances: InstanceSource
) -> EvaluationRequest:
    """Return what the evaluator is asked for a candidate of the open generation or test.

    Everything but the budget, which is the run's at that time, follows from the log.
    """
    split, number, candidate, instance = duty.split, duty.number, duty.candidate, duty.instance
    steps = candidate_steps(state, duty)
    copy, is_pooled = 1, split == "validation" and state.settings.pools_validations
    if is_pooled:
        instance, copy = instance_and_copy(instance)
    index = instances.index(instance)
    scales: tuple[float, ...] = ()
    call_costs: tuple[float, ...] = ()
    cpu_limit_s: float | None = None
    time_limit_s = open_test(state).candidates[candidate].time_limit_s if split == "test" else None
    budget = time_limit_s
    if work_calibration.is_calibrated(state) and time_limit_s is None:
        size = instances.size(instance)
        names = [work_calibration.rated(state, step.implementation) for step in steps]
        scales = tuple(state.work_rates.scale(name, size) for name in names)
        call_costs = tuple(state.work_rates.call_cost(name, size) for name in names)
        cpu_limit_s = work_calibration.processor_limit(state, size)
        if state.settings.sizes_work:
            budget = work_calibration.work_on(state, size)
    stream_key = evaluation_stream(split, number, _drawn_for(state, duty), index)
    if is_pooled:  # streams of its own: another draw of the same pair
        stream_key = spawn_key("validation", number, copy, index)
    return EvaluationRequest(
        key=evaluation_key(split, number, candidate, duty.instance),
        instance=instances.instance(instance),
        steps=tuple([await sources.implementation(state, step) for step in steps]),
        seed=(state.header.seed, *stream_key),
        budget=budget,
        unit="work" if time_limit_s is None else "s",
        scales=scales,
        call_costs=call_costs,
        shares=shares_of(steps),
        cpu_limit_s=cpu_limit_s,
        turn=number if state.settings.sample_ahead else 0,
    )


def _drawn_for(state: RunState, duty: Evaluate) -> int:
    """Return what stands for the candidate in the name of its random stream: in a race the repetition."""
    is_race = duty.split == "race"
    return duty.candidate // len(open_race(state).contenders) if is_race else duty.candidate


def evaluation_stream(split: SplitName, number: int, candidate: int, instance: int) -> tuple[int, ...]:
    """Return the spawn key of an evaluation's random stream.

    What is compared draws common random numbers: candidates of a test have one stream per instance, those
    of all validations of a run too, whose scores the checkpoint is chosen by (of each validation, where they
    are pooled: its pairs are then new ones). The same pipeline then has the same score, and the luck of a
    draw decides less. Contenders of a race have one stream per instance and repetition (`candidate`) in each
    generation, the arms of a gate one per instance. Training, where every sampled walk is a draw of its own,
    has a stream per generation and candidate.

    References
    ----------
    A. M. Law, "Simulation Modeling and Analysis", 5th edition, 2015, Section 11.2.
    """
    if split == "train":
        return spawn_key("evaluation", number, candidate, instance)
    if split == "validation":
        return spawn_key("validation", 0, 0, instance)
    if split == "gate":  # both arms, and those of all children
        return spawn_key("gate", number, 0, instance)
    if split == "race":
        return spawn_key("race-evaluation", number, candidate, instance)
    return spawn_key("test", number, 0, instance)


def candidate_steps(state: RunState, duty: Evaluate) -> tuple[Step, ...]:
    """Return the algorithm that is to be evaluated."""
    split, candidate = duty.split, duty.candidate
    if split == "test":
        return open_test(state).candidates[candidate].pipeline
    if split == "train":
        sampled = state.sampled(duty.number)
        assert sampled is not None
        return sampled.pipelines[candidate].steps
    if split == "gate":
        return gate.gated_steps(state, candidate)
    if split == "race":
        contenders = open_race(state).contenders
        return contenders[candidate % len(contenders)].pipeline
    return open_validation(state)[1][candidate]
