"""Decision replay: every decision of a log is made again from its recorded inputs and compared byte by byte.

The inputs of a decision are the state that the log folds to just before it, the run's random streams, and
what was observed and recorded: probabilities, evaluations, answers of language models, outcomes of trials.
For each event the duty is looked up that was owed in that state, what was observed is read back from the
event and the blobs, and the agent's own ``decide`` is called. Observations are not made again; checked is
that they were owed, by whom, and which event asked for them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeVar

from dga2d.agents import (
    calls,
    conductor,
    credit_keeper,
    edge_evolver,
    evaluator_pool,
    implementation_duties,
    implementation_evolver,
    initializer,
    kernel_evolver,
    method_runner,
    operator_evolver,
    pipeline_sampler,
    racer,
    validator,
    work_calibration,
)
from dga2d.agents.agent import Decision, Duty
from dga2d.agents.bank_offers import JudgeOffer, JudgeOperatorOffer
from dga2d.agents.calls import AbandonCall, AskModel, JudgeAnswer
from dga2d.agents.kernel_trials import KernelTrial
from dga2d.agents.policy.contract import DecodedWalk, UpdateReport
from dga2d.agents.ports import BlobSource, EvaluationReply
from dga2d.agents.proposing.errors import ProposalError
from dga2d.agents.proposing.prompts import render
from dga2d.agents.proposing.tasks import PromptContext, Task
from dga2d.agents.smoke_trials import EDGE_STAGE, TRIAL_STAGES
from dga2d.events import Draft, Payload, RecordedEvent
from dga2d.events import payloads as p
from dga2d.replay.difference import require_same, shorten
from dga2d.replay.errors import DecisionMismatchError
from dga2d.replay.state.ledger import Call
from dga2d.replay.state.run_state import RunState

UNDECIDED = frozenset(
    {"RunPaused", "RunResumed", "RunForked", "RunFailed", "PolicyCheckpointed"}
    | {"CallsSuspended", "CallsResumed"}
    | {"TrainingStarted", "TrainingResumed", "TrainingCheckpointed", "TrainingPaused", "TrainingFinished"}
)
"""What people asked for, what happened to the process or its files, and what a training of weights measured:
nothing follows from the log."""
METHOD_EVENTS = (
    *("RoundPlanned", "ProgramWritten", "ProgramRejected", "ProgramSkipped"),
    *("ReflectionWritten", "PopulationUpdated"),
)
"""What methods of complete programs decide."""

SomeDuty = TypeVar("SomeDuty", bound=Duty)


class Expected(NamedTuple):
    """What an agent had to append in a state."""

    draft: Draft
    is_decision: bool = True
    """False for observations: the payload is then the recorded one, at least in part."""


class DecisionVerifier:
    """Checks the events of one log, one after the other.

    It draws nothing but what the log says was drawn, asks no model, evaluates nothing, and needs no policy
    network.
    """

    def __init__(self, context: PromptContext, blobs: BlobSource) -> None:
        self._context = context
        self._blobs = blobs
        self._sources = evaluator_pool.SourceReader(blobs)
        self.decisions = 0
        """Decisions made again so far."""
        self.replays: Mapping[str, Callable[[RunState, Any], Awaitable[Expected | None]]] = {
            "RunStarted": self._run_started,
            "TestStarted": self._test_started,
            **dict.fromkeys(
                ("GenerationStarted", "GenerationCompleted", "ValidationStarted", "RunCompleted"),
                self._repeat_conductor,
            ),
            **dict.fromkeys(("GraphInitialized", "GraphRejected"), self._graph),
            "PipelineSampled": self._repeat_sampling,
            "PolicyUpdated": self._policy_updated,
            "PipelinesDecoded": self._repeat_decoding,
            "WorkRateMeasured": self._rate_measured,
            "EvaluationRecorded": self._repeat_evaluation,
            **dict.fromkeys(("CandidateScored", "GenerationScored", "CreditsUpdated"), self._repeat_credits),
            **dict.fromkeys(METHOD_EVENTS, self._method),
            **dict.fromkeys(
                ("ChallengersCompared", "CheckpointSelected", "ValidationScored", "TestScored"),
                self._repeat_validation,
            ),
            **dict.fromkeys(("RaceStarted", "RaceRoundScored", "IncumbentSelected"), self._repeat_race),
            "LLMCallReserved": self._repeat_reservation,
            "LLMCallRefused": self._repeat_refusal,
            "LLMCallSettled": self._repeat_settlement,
            "LLMCallAbandoned": self._repeat_abandonment,
            **dict.fromkeys((*conductor.GATE, *conductor.IMPLEMENTATION_VERDICTS), self._implementation),
            **dict.fromkeys(conductor.EDGE_VERDICTS, self._edge),
            "OperatorProposed": self._operator,
            "OperatorRetired": self._operator,
            **dict.fromkeys(conductor.OPERATOR_VERDICTS, self._operator),
            **dict.fromkeys(("KernelChosen", "KernelMeasured", *conductor.KERNEL_VERDICTS), self._kernel),
        }
        """Event type → (state before the event, its payload) → what was owed, ``None`` if nothing was."""

    async def check(self, before: RunState, event: RecordedEvent) -> None:
        """Compare `event` with what its agent had to append in the state `before` it.

        Raises
        ------
        DecisionMismatchError
            It is another decision, was not owed, or is filed under another cause, writer or generation.
        BlobMissingError, CorruptBlobError
            A recorded input cannot be read.
        """
        if event.type in UNDECIDED:
            return
        expected = await self.replays[event.type](before, event.payload)
        if expected is None:
            raise _mismatch(event, "type", "no event of this type: it was not owed", event.type)
        draft = expected.draft
        require_same(draft.payload, event.payload, event.seq, event.agent)
        for field in ("caused_by", "agent", "generation"):
            ours, theirs = getattr(draft, field), getattr(event, field)
            if ours != theirs:
                raise _mismatch(event, field, shorten(ours), shorten(theirs))
        self.decisions += expected.is_decision

    # ------------------------------------------------------------ decisions by rule

    async def _run_started(self, state: RunState, payload: p.RunStarted) -> Expected:
        keys = [entry.key for entry in payload.splits.train]
        batch = conductor.draw_batch(keys, int(payload.settings["batch_size"]), payload.seed)
        return Expected(Draft("conductor", payload.model_copy(update={"batch": batch})))

    async def _test_started(self, state: RunState, payload: p.TestStarted) -> Expected | None:
        if state.checkpoint is None:
            return None
        # An earlier version tested a checkpoint that was the baseline under both names. That a hand-tuned
        # algorithm is tested is the user's choice, and its code an observation.
        repeats = any(candidate.label == "evolved" for candidate in payload.candidates)
        test = conductor.held_out_test(state, payload.hand_tuned or (), repeats_baseline=repeats)
        return Expected(Draft("conductor", test))

    async def _repeat_conductor(self, state: RunState, payload: Payload) -> Expected | None:
        """Take what the process had used as observed."""
        used = payload.used if isinstance(payload, p.GenerationCompleted) else None
        return _by_rule(state, conductor.duties(state), partial(conductor.decide, used=used))

    async def _repeat_credits(self, state: RunState, payload: Payload) -> Expected | None:
        return _by_rule(state, credit_keeper.duties(state), credit_keeper.decide)

    async def _repeat_validation(self, state: RunState, payload: Payload) -> Expected | None:
        return _by_rule(state, validator.duties(state), validator.decide)

    async def _repeat_race(self, state: RunState, payload: Payload) -> Expected | None:
        for duty in racer.duties(state):
            observed = await racer.read_sources(state, self._context, self._sources)
            return _first(racer.decide(state, duty, observed))
        return None

    # ------------------------------------------------------------ policy and evaluations

    async def _repeat_sampling(self, state: RunState, payload: p.PipelineSampled) -> Expected | None:
        duty = _find_duty(pipeline_sampler.SamplePipelines, pipeline_sampler.duties(state))
        generation = state.sampled(payload.generation)
        if duty is None or (generation is not None and payload.candidate in generation.pipelines):
            return None
        observed = pipeline_sampler.ReadTables({payload.candidate: payload.policy_steps})
        return _first(pipeline_sampler.decide(state, duty, observed))

    async def _policy_updated(self, state: RunState, payload: p.PolicyUpdated) -> Expected | None:
        duty = _find_duty(pipeline_sampler.UpdatePolicy, pipeline_sampler.duties(state))
        if duty is None:
            return None
        report = UpdateReport(**payload.model_dump(exclude={"generation"}))
        learned = pipeline_sampler.PolicyUpdate(report, None)
        return _first(pipeline_sampler.decide(state, duty, learned), is_decision=False)

    async def _repeat_decoding(self, state: RunState, payload: p.PipelinesDecoded) -> Expected | None:
        """Take the walks of the beam as observed; implementations and what else is validated are decided."""
        duty = _find_duty(pipeline_sampler.DecodePipelines, pipeline_sampler.duties(state))
        if duty is None:
            return None
        found = zip(payload.pipelines, payload.log_probabilities, strict=False)
        walks = [DecodedWalk(tuple(s.operator for s in steps), logarithm) for steps, logarithm in found]
        return _first(pipeline_sampler.decide(state, duty, pipeline_sampler.Decoded(walks)))

    async def _repeat_evaluation(self, state: RunState, payload: p.EvaluationRecorded) -> Expected | None:
        reply = EvaluationReply(
            objective=payload.objective,
            failure=payload.failure,
            diagnostic=payload.diagnostic,
            elapsed_s=payload.elapsed_s,
            work=payload.work,
            trace=payload.trace,
            solution=None,
        )
        observed = evaluator_pool.Evaluated(reply, payload.solution)
        for duty in evaluator_pool.duties(state):
            if not isinstance(duty, evaluator_pool.Evaluate):
                continue
            key = evaluator_pool.evaluation_key(duty.split, duty.number, duty.candidate, duty.instance)
            if key == payload.operation():
                return _first(evaluator_pool.decide(state, duty, observed), is_decision=False)
        return None

    async def _rate_measured(self, state: RunState, payload: p.WorkRateMeasured) -> Expected | None:
        observed = work_calibration.MeasuredRate(payload.points, payload.source)
        for duty in evaluator_pool.duties(state):
            if isinstance(duty, work_calibration.MeasureRate) and duty.subject == payload.subject:
                return _first(work_calibration.decide(state, duty, observed), is_decision=False)
        return None

    # ------------------------------------------------------------ calls of a language model

    async def _repeat_reservation(self, state: RunState, payload: p.LLMCallReserved) -> Expected | None:
        duty = self._find_asking_duty(state, payload)
        if duty is None:
            return None
        quoted = calls.Quoted(
            number=state.ledger.used + 1,
            prompt=render(await self._task(state, duty)),
            model=payload.model,
            tokens=payload.reserved_tokens,
            microusd=payload.reserved_microusd,
        )
        return _first(calls.decide(state, duty, quoted))

    async def _repeat_refusal(self, state: RunState, payload: p.LLMCallRefused) -> Expected | None:
        """Take it as observed that the store had no room; check that the call was owed."""
        duty = self._find_asking_duty(state, payload)
        if duty is None:
            return None
        observed = calls.NoRoom(payload.limit, payload.reason)
        return _first(calls.decide(state, duty, observed), is_decision=False)

    async def _repeat_settlement(self, state: RunState, payload: p.LLMCallSettled) -> Expected | None:
        call = state.ledger.calls.get(payload.call)
        return None if call is None else _ending(state, call, payload)

    async def _repeat_abandonment(self, state: RunState, payload: p.LLMCallAbandoned) -> Expected | None:
        """Abandon the call of a process that is gone by rule; why a live one gives up is observed."""
        call = state.ledger.calls.get(payload.call)
        if call is None:
            return None
        if call.reserved_seq >= state.process_seq:
            return _ending(state, call, payload)
        return _first(calls.decide(state, AbandonCall(state.process_seq, call.purpose, call.number), None))

    def _find_asking_duty(
        self, state: RunState, payload: p.LLMCallReserved | p.LLMCallRefused
    ) -> AskModel | None:
        """Return the duty to ask for what the payload names."""
        for duty in self._duties(state, payload.purpose):
            if not isinstance(duty, AskModel):
                continue
            if calls.call_subject(state, duty.purpose, duty.slot) == payload.subject:
                return duty
        return None

    def _duties(self, state: RunState, purpose: p.CallPurpose) -> tuple[Duty, ...]:
        if purpose == "initialize":
            return initializer.duties(state)
        if purpose == "implement":
            return implementation_duties.duties(state)
        if purpose == "operator":
            return operator_evolver.duties(state)
        if purpose == "kernel":
            return kernel_evolver.duties(state)
        if calls.CALLERS[purpose] == "method_runner":
            return method_runner.duties(state)
        return edge_evolver.duties(state, self._context)

    async def _task(self, state: RunState, duty: AskModel) -> Task:
        if duty.purpose == "initialize":
            return await initializer.read_task(state, duty.attempt, self._context, self._blobs)
        if duty.purpose == "implement":
            return await implementation_duties.read_task(
                state, duty.slot, duty.attempt, self._context, self._sources
            )
        if duty.purpose == "operator":
            return await operator_evolver.read_task(state, duty.attempt, self._context, self._sources)
        if duty.purpose == "kernel":
            return await kernel_evolver.read_task(state, duty.attempt, self._context, self._sources)
        if calls.CALLERS[duty.purpose] == "method_runner":
            return await method_runner.read_task(state, duty.slot, duty.attempt, self._context, self._sources)
        return await edge_evolver.read_task(state, duty.slot, duty.attempt, self._context, self._blobs)

    # ------------------------------------------------------------ verdicts on answers

    async def _graph(self, state: RunState, payload: Payload) -> Expected | None:
        for duty in initializer.duties(state):
            if isinstance(duty, initializer.UsePrograms):
                return _first(initializer.decide(state, duty, None))
            if isinstance(duty, JudgeAnswer | initializer.UseLibrary):
                judged = await initializer.read_judged(state, duty, self._context, self._blobs)
                return _first(initializer.decide(state, duty, judged))
        return None

    async def _implementation(self, state: RunState, payload: p.ImplementationEdit) -> Expected | None:
        for duty in implementation_duties.duties(state):
            if isinstance(duty, AskModel | AbandonCall) or duty.slot != payload.slot:
                continue
            if not isinstance(duty, JudgeAnswer | JudgeOffer):
                return _first(implementation_evolver.decide(state, duty, None))
            judged = await implementation_evolver.read_judged(state, duty, self._context, self._sources)
            if isinstance(payload, p.ImplementationRejected) and payload.stage in TRIAL_STAGES:
                judged = judged._replace(trial=ProposalError(payload.stage, payload.diagnostic))
            return _first(implementation_evolver.decide(state, duty, judged))
        return None

    async def _edge(self, state: RunState, payload: Payload) -> Expected | None:
        for duty in edge_evolver.duties(state, self._context):
            if isinstance(duty, edge_evolver.KeepEdges):
                return _first(edge_evolver.decide(state, duty, None))
            if isinstance(duty, JudgeAnswer):
                judged = await edge_evolver.read_judged(state, duty, self._context, self._blobs)
                failed = f"{EDGE_STAGE}: "
                if isinstance(payload, p.EdgeRejected) and payload.reason.startswith(failed):
                    trial = ProposalError(EDGE_STAGE, payload.reason.removeprefix(failed))
                    judged = judged._replace(trial=trial)
                return _first(edge_evolver.decide(state, duty, judged))
        return None

    async def _method(self, state: RunState, payload: Payload) -> Expected | None:
        slot = getattr(payload, "slot", None)
        for duty in method_runner.duties(state):
            if isinstance(duty, AskModel | AbandonCall) or getattr(duty, "slot", None) != slot:
                continue
            observed: method_runner.Observed = None
            if isinstance(duty, JudgeAnswer):
                observed = await method_runner.read_judged(state, duty, self._context, self._sources)
            elif isinstance(duty, method_runner.UpdatePopulation):
                observed = await method_runner.read_programs(state, self._sources)
            return _first(method_runner.decide(state, duty, observed))
        return None

    async def _operator(self, state: RunState, payload: Payload) -> Expected | None:
        for duty in operator_evolver.duties(state):
            if isinstance(duty, operator_evolver.KeepOperators | operator_evolver.JudgeOperator):
                return _first(operator_evolver.decide(state, duty, None))
            if isinstance(duty, JudgeAnswer | JudgeOperatorOffer):
                judged = await operator_evolver.read_judged(state, duty, self._context, self._sources)
                if isinstance(payload, p.OperatorRejected) and payload.stage in TRIAL_STAGES:
                    judged = judged._replace(trial=ProposalError(payload.stage, payload.diagnostic))
                return _first(operator_evolver.decide(state, duty, judged))
        return None

    async def _kernel(self, state: RunState, payload: Payload) -> Expected | None:
        """Take what a trial of a kernel came to as observed."""
        for duty in kernel_evolver.duties(state):
            if isinstance(duty, JudgeAnswer):
                answer = await kernel_evolver.read_answered(state, duty, self._context, self._sources)
                if isinstance(payload, p.KernelMeasured):
                    observed = KernelTrial(payload.checks, payload.pairs, payload.stage, payload.diagnostic)
                    answer = answer._replace(trial=observed)
                is_decision = not isinstance(payload, p.KernelMeasured)
                return _first(kernel_evolver.decide(state, duty, answer), is_decision)
            if not isinstance(duty, AskModel | AbandonCall):
                texts = await kernel_evolver.read_texts(state, duty, self._sources)
                return _first(kernel_evolver.decide(state, duty, texts))
        return None


def _find_duty(kind: type[SomeDuty], duties: tuple[Duty, ...]) -> SomeDuty | None:
    return next((duty for duty in duties if isinstance(duty, kind)), None)


def _by_rule(
    state: RunState, duties: tuple[SomeDuty, ...], decide: Callable[[RunState, SomeDuty], Decision]
) -> Expected | None:
    """Return what follows from the state alone: a decision that observes nothing."""
    return _first(decide(state, duties[0])) if duties else None


def _first(decision: Decision, is_decision: bool = True) -> Expected:
    """Return the first event of a decision; those before it are in the log, and are not decided again."""
    return Expected(decision.drafts[0], is_decision)


def _ending(state: RunState, call: Call, payload: Payload) -> Expected:
    draft = Draft(calls.CALLERS[call.purpose], payload, call.generation, call.reserved_seq)
    return Expected(draft, is_decision=False)


def _mismatch(event: RecordedEvent, field: str, expected: str, got: str) -> DecisionMismatchError:
    return DecisionMismatchError(event.seq, event.type, event.agent, field, expected, got)
