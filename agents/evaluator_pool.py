"""EvaluatorPool: one result per candidate and instance, for training, validation and test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from dga2d.agents.agent import Duty, test_is_open
from dga2d.agents.ports import BlobSource, EvaluationRequest, Evaluator, EventAppender, InstanceSource
from dga2d.domains.core.contract import Implementation, OperatorId
from dga2d.events import AgentName, Draft, ImplementationId, InstanceKey, blob_digest
from dga2d.events.payloads import EvaluationRecorded, SplitName, Step
from dga2d.replay.state.run_state import RunState
from dga2d.replay.streams import spawn_key


class SourceReader:
    """Implementations by id: text from the log's blobs, kept in memory."""

    def __init__(self, source: BlobSource) -> None:
        self._source = source
        self._known: dict[ImplementationId, Implementation] = {}

    async def implementation(self, state: RunState, step: Step) -> Implementation:
        """The implementation of a step, whichever pool it is or was in."""
        if step.implementation not in self._known:
            text = (await self._source.get_blob(state.sources[step.implementation])).decode()
            self._known[step.implementation] = Implementation(
                OperatorId(step.operator), text, origin=f"log:{step.implementation}"
            )
        return self._known[step.implementation]


class EvaluatorPoolAgent:
    """Owns evaluation results (Algorithm 1, line 17)."""

    name: AgentName = "evaluator_pool"

    def __init__(
        self, log: EventAppender, source: BlobSource, evaluator: Evaluator, instances: InstanceSource
    ) -> None:
        self._log = log
        self._sources = SourceReader(source)
        self._evaluator = evaluator
        self._instances = instances

    def duties(self, state: RunState) -> Sequence[Duty]:
        return owed_evaluations(state)

    async def perform(self, duty: Duty, state: RunState) -> None:
        number, candidate, key = duty.subject[1:]
        split = cast(SplitName, duty.subject[0])
        request = await evaluation_request(
            state, split, int(number), int(candidate), str(key), self._sources, self._instances
        )
        reply = await self._evaluator.evaluate(request)
        payload = EvaluationRecorded(
            split=split,
            generation=int(number),
            candidate=int(candidate),
            instance=InstanceKey(str(key)),
            objective=reply.objective,
            failure=reply.failure,
            diagnostic=reply.diagnostic,
            elapsed_s=reply.elapsed_s,
            work=reply.work,
            trace=reply.trace,
            solution=None,
        )
        await self._record(payload, reply.solution, duty.caused_by)

    async def _record(self, payload: EvaluationRecorded, solution: bytes | None, caused_by: int) -> None:
        blobs: Sequence[bytes] = ()
        if solution is not None:
            payload = payload.model_copy(update={"solution": blob_digest(solution)})
            blobs = (solution,)
        generation = None if payload.split == "test" else payload.generation
        await self._log.append([Draft(self.name, payload, generation, caused_by)], blobs)


async def evaluation_request(
    state: RunState,
    split: SplitName,
    number: int,
    candidate: int,
    instance: str,
    sources: SourceReader,
    instances: InstanceSource,
) -> EvaluationRequest:
    """What the evaluator is asked for a candidate of the open generation (or test) `number`.

    Everything but the budget, which is the run's at that time, follows from the log.
    """
    steps = candidate_steps(state, split, candidate)
    index = instances.index(instance)
    return EvaluationRequest(
        key=f"evaluation/{split}/{number}/{candidate}/{instance}",
        instance=instances.instance(instance),
        steps=tuple([await sources.implementation(state, step) for step in steps]),
        seed=(state.header.seed, *evaluation_stream(split, number, candidate, index)),
    )


def evaluation_stream(split: SplitName, number: int, candidate: int, instance: int) -> tuple[int, ...]:
    """Spawn key of an evaluation's random stream.

    What is compared draws common random numbers: candidates of a test have one stream per instance, those
    of all validations of a run too, whose scores the checkpoint is chosen by. The same pipeline then has the
    same score, and the luck of a draw decides less. Training, where every sampled walk is a draw of its own,
    has a stream per generation and candidate.

    References
    ----------
    A. M. Law, "Simulation Modeling and Analysis", 5th edition, 2015, Section 11.2.
    """
    if split == "train":
        return spawn_key("evaluation", number, candidate, instance)
    if split == "validation":
        return spawn_key("validation", 0, 0, instance)
    return spawn_key("test", number, 0, instance)


def owed_evaluations(state: RunState) -> list[Duty]:
    """Evaluations that the log lacks; the key of each is the operation its event completes."""
    if test_is_open(state):
        return _test_duties(state)
    generation = state.generation
    if state.status != "running" or generation is None:
        return []
    owed = [
        _duty("train", generation.number, j, key, pipeline.seq)
        for j, pipeline in sorted(generation.pipelines.items())
        for key in state.header.batch
        if (j, key) not in generation.outcomes
    ]
    validation = generation.validation
    if validation is not None and validation.pipelines is not None:
        owed += [
            _duty("validation", generation.number, j, key, validation.decoded_seq)
            for j in range(len(validation.pipelines))
            for key in validation.instances
            if (j, key) not in validation.outcomes
        ]
    return owed


def candidate_steps(state: RunState, split: SplitName, candidate: int) -> tuple[Step, ...]:
    """The algorithm evaluated under a candidate number of a split."""
    if split == "test":
        assert state.test is not None
        return state.test.candidates[candidate].pipeline
    assert state.generation is not None
    if split == "train":
        return state.generation.pipelines[candidate].steps
    validation = state.generation.validation
    assert validation is not None
    assert validation.pipelines is not None
    return validation.pipelines[candidate]


def _test_duties(state: RunState) -> list[Duty]:
    test = state.test
    assert test is not None
    return [
        _duty("test", test.attempt, j, key, test.seq)
        for j in range(len(test.candidates))
        for key in test.instances
        if (j, key) not in test.outcomes
    ]


def _duty(split: SplitName, number: int, candidate: int, key: InstanceKey, caused_by: int) -> Duty:
    return Duty(f"evaluation/{split}/{number}/{candidate}/{key}", caused_by, (split, number, candidate, key))
