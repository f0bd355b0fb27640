"""Makes every decision of a log again from its recorded inputs and compares the bytes.

The inputs of a decision are the state that the log folds to just before it, the run's random streams, and
what was observed and recorded: probabilities, evaluations, answers of language models, outcomes of trials.
Observations themselves are not made again; checked is that they were owed, and by which event.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from dga2d.agents.agent import Duty
from dga2d.agents.calls import ABANDONED, answer_of, last_refusal
from dga2d.agents.conductor import drawn_batch, held_out_test, next_step
from dga2d.agents.credit_keeper import score_generation
from dga2d.agents.edge_evolver import connect_task, edge_duty, edge_subject, edge_verdict
from dga2d.agents.evaluator_pool import SourceReader, owed_evaluations
from dga2d.agents.implementation_evolver import (
    implement_task,
    implementation_accepted,
    implementation_duty,
    implementation_rejected,
    implementation_subject,
    rule_verdict,
)
from dga2d.agents.initializer import SUBJECT, graph_duty, graph_verdict, initialize_task, library_graph
from dga2d.agents.pipeline_sampler import sampled, validated_pipelines
from dga2d.agents.policy import DecodedWalk, SampledWalk, WalkStep
from dga2d.agents.ports import BlobSource
from dga2d.agents.proposing import (
    ConnectTask,
    ImplementTask,
    PromptContext,
    ProposalError,
    Task,
    parse_implementation,
    render,
)
from dga2d.agents.trials import TRIAL_STAGES
from dga2d.agents.validator import score_test, score_validation
from dga2d.domains.core.contract import Implementation
from dga2d.domains.core.contract import OperatorId as DomainOperatorId
from dga2d.events import Payload, RecordedEvent, blob_digest
from dga2d.events import payloads as p
from dga2d.replay.difference import require_same, shown
from dga2d.replay.errors import DecisionMismatchError
from dga2d.replay.state.run_state import GenerationState, RunState
from dga2d.replay.streams import choose, stream

UNDECIDED = frozenset(
    {
        "RunPaused",
        "RunResumed",
        "RunForked",
        "RunFailed",
        "PolicyCheckpointed",
        "CallsSuspended",
        "CallsResumed",
    }
)
"""What people asked for, or what happened to the process or its files: nothing follows from the log."""


class DecisionVerifier:
    """Checks the events of one log, one after the other.

    It draws nothing, asks no model, evaluates nothing, and needs no policy network.
    """

    def __init__(self, context: PromptContext, blobs: BlobSource) -> None:
        self._answers = AnswerRemaker(context, blobs)
        self.decisions = 0
        """Decisions made again so far."""

    async def check(self, before: RunState, event: RecordedEvent) -> None:
        """Compare `event` with what its agent had to append in the state `before` it.

        Raises
        ------
        DecisionMismatchError
            It is another decision, was not owed, or names another cause.
        BlobMissingError, CorruptBlobError
            A recorded input cannot be read.
        """
        if event.type in UNDECIDED:
            return
        remade = await self._remade(before, event)
        if remade is None:
            raise _mismatch(event, "type", "no event of this type: it was not owed", event.type)
        require_same(remade.payload, event.payload, event.seq, event.agent)
        if remade.caused_by != event.caused_by:
            raise _mismatch(event, "caused_by", shown(remade.caused_by), shown(event.caused_by))
        self.decisions += remade.is_decision

    async def _remade(self, before: RunState, event: RecordedEvent) -> Remade | None:
        if event.type in RULES:
            return RULES[event.type](before, event.payload)
        return await self._answers.answers[event.type](before, event.payload)


def _mismatch(event: RecordedEvent, field: str, expected: str, got: str) -> DecisionMismatchError:
    return DecisionMismatchError(event.seq, event.type, event.agent, field, expected, got)


class Remade(NamedTuple):
    """What an agent had to append in a state."""

    payload: Payload
    caused_by: int | None
    is_decision: bool = True
    """False for observations: `payload` is then the recorded one."""


Remake = Callable[[RunState, Any], Remade | None]
"""(state just before the event, its payload) → what had to be appended, ``None`` if nothing was owed."""


def _run_started(state: RunState, payload: p.RunStarted) -> Remade:
    keys = [entry.key for entry in payload.splits.train]
    batch = drawn_batch(keys, int(payload.settings["batch_size"]), payload.seed)
    return Remade(payload.model_copy(update={"batch": batch}), None)


def _next_step(state: RunState, payload: Payload) -> Remade | None:
    step = next_step(state)
    return None if step is None else Remade(step[1], step[0].caused_by)


def _test_started(state: RunState, payload: p.TestStarted) -> Remade | None:
    return None if state.checkpoint is None else Remade(held_out_test(state), None)


def _pipeline_sampled(state: RunState, payload: p.PipelineSampled) -> Remade | None:
    generation = state.generation
    if generation is None or payload.candidate in generation.pipelines:
        return None
    draws = stream(state.header.seed, "pipeline", generation.number, payload.candidate)
    steps = []
    for step in payload.policy_steps:
        index = choose(step.probabilities, float(draws.random()))
        steps.append(WalkStep(step.actions, step.probabilities, step.actions[index]))
    operators = tuple(step.operator for step in payload.steps)
    walk = SampledWalk(operators, tuple(steps), 0.0)
    return Remade(sampled(state, payload.candidate, walk), generation.seq)


def _pipelines_decoded(state: RunState, payload: p.PipelinesDecoded) -> Remade | None:
    """The walks of the beam are observed; implementations and what else is validated are decided."""
    generation = state.generation
    if generation is None or generation.validation is None:
        return None
    found = zip(payload.pipelines, payload.log_probabilities, strict=False)
    walks = [DecodedWalk(tuple(s.operator for s in steps), logarithm) for steps, logarithm in found]
    return Remade(validated_pipelines(state, walks), generation.validation.seq)


def _scored(state: RunState, payload: Payload) -> Remade | None:
    generation = state.generation
    if generation is None or generation.basis is not None:
        return None
    if len(generation.outcomes) < generation.size * len(state.header.batch):
        return None
    draft = score_generation(state, generation, generation.outcomes_seq)[0]
    return Remade(draft.payload, draft.caused_by)


def _validated(state: RunState, payload: Payload) -> Remade | None:
    validation = None if state.generation is None else state.generation.validation
    if validation is None or validation.pipelines is None or validation.scores is not None:
        return None
    if len(validation.outcomes) < len(validation.pipelines) * len(validation.instances):
        return None
    draft = score_validation(state, max(validation.outcomes_seq, validation.decoded_seq))[0]
    return Remade(draft.payload, draft.caused_by)


def _test_scored(state: RunState, payload: p.TestScored) -> Remade | None:
    test = state.test
    if test is None or len(test.outcomes) < len(test.candidates) * len(test.instances):
        return None
    draft = score_test(state, max(test.outcomes_seq, test.seq))[0]
    return Remade(draft.payload, draft.caused_by)


def _evaluated(state: RunState, payload: p.EvaluationRecorded) -> Remade | None:
    for duty in owed_evaluations(state):
        if duty.key == payload.operation():
            return Remade(payload, duty.caused_by, is_decision=False)
    return None


def _policy_updated(state: RunState, payload: p.PolicyUpdated) -> Remade | None:
    generation: GenerationState | None = state.generation
    if generation is None or generation.scoring is None:
        return None
    return Remade(payload, generation.scoring.seq, is_decision=False)


RULES: Mapping[str, Remake] = {
    "RunStarted": _run_started,
    "GenerationStarted": _next_step,
    "GenerationCompleted": _next_step,
    "ValidationStarted": _next_step,
    "RunCompleted": _next_step,
    "TestStarted": _test_started,
    "PipelineSampled": _pipeline_sampled,
    "PipelinesDecoded": _pipelines_decoded,
    "PolicyUpdated": _policy_updated,
    "EvaluationRecorded": _evaluated,
    "CandidateScored": _scored,
    "GenerationScored": _scored,
    "CreditsUpdated": _scored,
    "CheckpointSelected": _validated,
    "ValidationScored": _validated,
    "TestScored": _test_scored,
}
"""How the decision or observation of an event type is made again."""


RemakeAnswer = Callable[[RunState, Any], Awaitable[Remade | None]]


class AnswerRemaker:
    """Makes the events of Initializer and evolvers again from the log's blobs and the domain's words."""

    def __init__(self, context: PromptContext, blobs: BlobSource) -> None:
        self._context = context
        self._blobs = blobs
        self._sources = SourceReader(blobs)
        self.answers: Mapping[str, RemakeAnswer] = {
            "GraphInitialized": self._graph,
            "GraphRejected": self._graph,
            "LLMCallReserved": self._reserved,
            "LLMCallSettled": self._settled,
            "LLMCallAbandoned": self._abandoned,
            "LLMCallRefused": self._refused,
            "ImplementationAdded": self._implementation,
            "ImplementationReplaced": self._implementation,
            "ImplementationDeleted": self._implementation,
            "ImplementationRejected": self._implementation,
            "ImplementationsKept": self._implementation,
            "EdgeReplaced": self._edge,
            "EdgeRejected": self._edge,
            "EdgesKept": self._edge,
        }

    async def _graph(self, state: RunState, payload: Payload) -> Remade | None:
        duty = None if state.graph is not None else graph_duty(state)
        if duty is None or duty.subject[0] not in ("library", "judge"):
            return None
        if duty.subject[0] == "library":
            return Remade(library_graph(state, initialize_task(state, 0, self._context)), duty.caused_by)
        number = int(duty.subject[1])
        call = state.ledger.calls[number]
        task = initialize_task(state, call.attempt, self._context)
        verdict = graph_verdict(state, task, number, await answer_of(call, self._blobs))
        return Remade(verdict, duty.caused_by)

    # ------------------------------------------------------------ calls

    async def _reserved(self, state: RunState, payload: p.LLMCallReserved) -> Remade | None:
        owed = self._asked(state, payload)
        if owed is None:
            return None
        duty, slot = owed
        attempt = int(duty.subject[-1])
        prompt = render(await self._task(state, payload.purpose, slot, attempt))
        again = payload.model_copy(
            update={
                "call": state.ledger.used + 1,
                "attempt": attempt,
                "prompt": blob_digest(prompt.text.encode()),
                "template": prompt.template,
            }
        )
        return Remade(again, duty.caused_by)

    async def _refused(self, state: RunState, payload: p.LLMCallRefused) -> Remade | None:
        """That the store had no room is observed; that the call was owed is checked."""
        owed = self._asked(state, payload)
        return None if owed is None else Remade(payload, owed[0].caused_by, is_decision=False)

    def _asked(
        self, state: RunState, payload: p.LLMCallReserved | p.LLMCallRefused
    ) -> tuple[Duty, int] | None:
        """The duty to ask about the call's subject, and its slot."""
        generation = state.generation
        found: list[tuple[Duty | None, int]] = []
        if payload.purpose == "initialize":
            if state.graph is None and payload.subject == SUBJECT:
                found = [(graph_duty(state), 0)]
        elif generation is not None and generation.basis is not None:
            slots = _waiting(state, generation, payload)
            found = [(self._duty(state, payload.purpose, slot), slot) for slot in slots]
        for duty, slot in found:
            if duty is not None and duty.subject[0] == "ask":
                return duty, slot
        return None

    def _duty(self, state: RunState, purpose: p.CallPurpose, slot: int) -> Duty | None:
        if purpose == "implement":
            return implementation_duty(state, slot)
        return edge_duty(state, slot, self._context)

    async def _task(self, state: RunState, purpose: p.CallPurpose, slot: int, attempt: int) -> Task:
        if purpose == "initialize":
            refusal = await last_refusal(state, SUBJECT, attempt, self._blobs)
            return initialize_task(state, attempt, self._context, refusal)
        if purpose == "implement":
            return await self._implement_task(state, slot, attempt)
        return await self._connect_task(state, slot, attempt)

    async def _implement_task(self, state: RunState, slot: int, attempt: int) -> ImplementTask:
        assert state.generation is not None
        subject = implementation_subject(state.generation.number, slot)
        refusal = await last_refusal(state, subject, attempt, self._blobs)
        return await implement_task(state, slot, attempt, self._context, self._sources, refusal)

    async def _connect_task(self, state: RunState, slot: int, attempt: int) -> ConnectTask:
        assert state.generation is not None
        subject = edge_subject(state.generation.number, slot)
        refusal = await last_refusal(state, subject, attempt, self._blobs)
        return connect_task(state, slot, attempt, self._context, refusal)

    async def _settled(self, state: RunState, payload: p.LLMCallSettled) -> Remade | None:
        call = state.ledger.calls.get(payload.call)
        return None if call is None else Remade(payload, call.reserved_seq, is_decision=False)

    async def _abandoned(self, state: RunState, payload: p.LLMCallAbandoned) -> Remade | None:
        """A call of a process that is gone is abandoned by rule; why a live one gives up is observed."""
        call = state.ledger.calls.get(payload.call)
        if call is None:
            return None
        if call.reserved_seq >= state.process_seq:
            return Remade(payload, call.reserved_seq, is_decision=False)
        again = p.LLMCallAbandoned(call=payload.call, reason=ABANDONED)
        return Remade(again, state.process_seq)

    # ------------------------------------------------------------ verdicts

    async def _implementation(self, state: RunState, payload: p.ImplementationEdit) -> Remade | None:
        generation, slot = state.generation, payload.slot
        if generation is None or generation.basis is None or slot in generation.implementation_verdicts:
            return None
        duty = implementation_duty(state, slot)
        if duty is None or duty.subject[0] in ("ask", "abandon"):
            return None
        if duty.subject[0] == "rule":
            return Remade(rule_verdict(state, slot), duty.caused_by)
        if duty.subject[0] == "give up":
            reason = str(duty.subject[2])
            kept = p.ImplementationsKept(generation=generation.number, slot=slot, reason=reason)
            return Remade(kept, duty.caused_by)
        return Remade(await self._judged(state, payload, int(duty.subject[2])), duty.caused_by)

    async def _judged(self, state: RunState, payload: p.ImplementationEdit, number: int) -> Payload:
        """The verdict on an answer; the outcome of trials is taken from the log."""
        slot, call = payload.slot, state.ledger.calls[number]
        task = await self._implement_task(state, slot, call.attempt)
        try:
            source = parse_implementation(await answer_of(call, self._blobs), task)
        except ProposalError as error:
            return implementation_rejected(state, slot, number, error)
        if isinstance(payload, p.ImplementationRejected) and payload.stage in TRIAL_STAGES:
            observed = ProposalError(payload.stage, payload.diagnostic)
            return implementation_rejected(state, slot, number, observed)
        new = Implementation(DomainOperatorId(task.operator.id), source, origin=f"call:{number}")
        return implementation_accepted(state, slot, new, number)

    async def _edge(self, state: RunState, payload: Any) -> Remade | None:
        generation = state.generation
        if generation is None or generation.basis is None:
            return None
        slot = len(generation.edge_verdicts)
        duty = edge_duty(state, slot, self._context)
        if duty is None or duty.subject[0] not in ("keep", "judge"):
            return None
        if duty.subject[0] == "keep":
            reason = str(duty.subject[2])
            kept = p.EdgesKept(generation=generation.number, slot=slot, reason=reason)
            return Remade(kept, duty.caused_by)
        number = int(duty.subject[2])
        call = state.ledger.calls[number]
        task = await self._connect_task(state, slot, call.attempt)
        verdict = edge_verdict(state, task, slot, number, await answer_of(call, self._blobs))
        return Remade(verdict, duty.caused_by)


def _waiting(
    state: RunState, generation: GenerationState, payload: p.LLMCallReserved | p.LLMCallRefused
) -> list[int]:
    """Slots without a verdict whose calls have the subject of `payload`."""
    assert generation.basis is not None
    edits = range(generation.basis.edits)
    if payload.purpose == "connect":
        slot = len(generation.edge_verdicts)
        return [slot] if slot in edits and payload.subject == edge_subject(generation.number, slot) else []
    return [
        slot
        for slot in edits
        if slot not in generation.implementation_verdicts
        and payload.subject == implementation_subject(generation.number, slot)
    ]
