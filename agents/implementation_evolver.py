"""ImplementationEvolver: deletes, adds or replaces implementations of the lowest-credit operators.

References
----------
DGA2D paper, Section 3.5, Eqs. 10–12, and Algorithm 2, lines 1–17.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from dga2d.agents import calls
from dga2d.agents.agent import Decision, Duty, open_basis
from dga2d.agents.calls import AbandonCall, AskModel, CallDesk, GiveUp, JudgeAnswer, NoRoom, Quoted
from dga2d.agents.evaluator_pool import SourceReader
from dga2d.agents.ports import EvaluationRequest, Evaluator, EventAppender, InstanceSource
from dga2d.agents.proposing import (
    ImplementTask,
    LanguageModel,
    PoolEntry,
    PromptContext,
    ProposalError,
    improvement_summary,
    parse_implementation,
)
from dga2d.agents.scoring import best_implementations
from dga2d.domains.core.contract import Implementation, OperatorName
from dga2d.events import AgentName, Draft, ImplementationId, OperatorId, Payload, blob_digest
from dga2d.events.payloads import (
    ImplementationAdded,
    ImplementationDeleted,
    ImplementationRejected,
    ImplementationReplaced,
    ImplementationsKept,
    Step,
)
from dga2d.replay.state.run_state import EvolutionBasis, RunState
from dga2d.replay.streams import spawn_key

TRIAL_STAGES = ("isolated", "composed")
"""Stages of a proposal that failed in a trial run; all other stages follow from its text."""
SMOKE_WORK = 2000
"""Work units of a trial run: enough to pass through every branch of a small instance."""


@dataclass(frozen=True)
class EditByRule(Duty):
    """Record the edit of a slot that needs no model: a deletion, or that the pools stay."""

    generation: int
    slot: int


@dataclass(frozen=True)
class KeepPool(Duty):
    """Record that the pools stay, because no further call may be made for a slot."""

    generation: int
    slot: int
    reason: str = field(compare=False)


ImplementationDuty = AskModel | JudgeAnswer | AbandonCall | EditByRule | KeepPool


class JudgedImplementation(NamedTuple):
    """An answer, what it was asked for, and how its trial runs went."""

    task: ImplementTask
    text: str
    trial: ProposalError | None
    """The trial run that failed; ``None`` if none did or none was made."""


@dataclass(frozen=True)
class TrialRunner:
    """Runs trials through the same contained evaluator as everything else."""

    evaluator: Evaluator
    instances: InstanceSource
    sources: SourceReader

    async def find_failure(
        self, state: RunState, basis: EvolutionBasis, new: Implementation
    ) -> ProposalError | None:
        """Run `new` behind an initialiser on a small instance, then within a pipeline of the graph.

        Return the first failure, with ``isolated`` or ``composed`` as its stage; ``None`` if there is none.
        """
        operator = OperatorId(new.operator)
        route = basis.graph.route_through(operator)
        position = route.index(operator)
        neighbours = ((route[: min(position, 1)], ()), (route[:position], route[position + 1 :]))
        for stage, (before, after) in zip(TRIAL_STAGES, neighbours, strict=True):
            steps = [await self._best(state, basis, operator) for operator in (*before, *after)]
            steps.insert(len(before), new)
            reply = await self.evaluator.evaluate(
                EvaluationRequest(
                    key=f"{stage}/{new.id}",
                    instance=self.instances.smoke_instance(),
                    steps=tuple(steps),
                    seed=(state.header.seed, *spawn_key("smoke", len(before))),
                    budget=SMOKE_WORK * len(steps),
                )
            )
            if reply.failure is not None:
                return ProposalError(stage, f"{reply.failure}: {reply.diagnostic}")
        return None

    async def _best(self, state: RunState, basis: EvolutionBasis, operator: OperatorId) -> Implementation:
        step = best_implementations((operator,), basis.pools, basis.credits)[0]
        return await self.sources.implementation(state, step)


class ImplementationEvolver:
    """Owns the implementation pools. All slots are treated at once: they concern different operators."""

    name: AgentName = "implementation_evolver"

    def __init__(
        self, log: EventAppender, model: LanguageModel, trials: TrialRunner, context: PromptContext
    ) -> None:
        self._log = log
        self._desk = CallDesk(log, model)
        self._trials = trials
        self._context = context

    def duties(self, state: RunState) -> Sequence[ImplementationDuty]:
        return duties(state)

    async def perform(self, duty: ImplementationDuty, state: RunState) -> None:
        match duty:
            case AskModel():
                task = await read_task(state, duty.slot, duty.attempt, self._context, self._trials.sources)
                await self._desk.ask(state, duty, task)
            case JudgeAnswer():
                await self._log.append(*decide(state, duty, await self._judged(state, duty)))
            case _:
                await self._log.append(*decide(state, duty, None))

    async def _judged(self, state: RunState, duty: JudgeAnswer) -> JudgedImplementation:
        answer = await read_judged(state, duty, self._context, self._trials.sources)
        try:
            new = parse_proposal(answer, duty)
        except ProposalError:
            return answer
        _, basis = open_basis(state)
        return answer._replace(trial=await self._trials.find_failure(state, basis, new))


def duties(state: RunState) -> tuple[ImplementationDuty, ...]:
    """Return what is owed towards the verdicts of all slots that have none yet."""
    generation = state.generation
    if state.status != "running" or generation is None or generation.basis is None:
        return ()
    slots = (s for s in range(generation.basis.edits) if s not in generation.implementation_verdicts)
    owed = (_slot_duty(state, slot) for slot in slots)
    return tuple(duty for duty in owed if duty is not None)


def _slot_duty(state: RunState, slot: int) -> ImplementationDuty | None:
    generation, basis = open_basis(state)
    edit = edit_of(state, slot)
    if edit is None or edit.kind in ("keep", "delete"):
        return EditByRule(basis.seq, generation.number, slot)
    step = calls.next_call(state, "implement", slot, basis.seq, calls.allowance(state, "implement", slot))
    if isinstance(step, GiveUp):
        return KeepPool(step.caused_by, generation.number, slot, step.reason)
    return step


def decide(
    state: RunState, duty: ImplementationDuty, observed: JudgedImplementation | Quoted | NoRoom | None
) -> Decision:
    """Return the verdict on an answer, the edit that needs no model, or what the ledger records of a call."""
    match duty, observed:
        case AskModel() | AbandonCall(), Quoted() | NoRoom() | None:
            return calls.decide(state, duty, observed)
        case JudgeAnswer(), JudgedImplementation():
            return _verdict(state, duty, observed)
        case EditByRule(), None:
            return _decision(state, duty, _edit_by_rule(state, duty))
        case KeepPool(), None:
            kept = ImplementationsKept(generation=duty.generation, slot=duty.slot, reason=duty.reason)
            return _decision(state, duty, kept)
    raise TypeError(f"{duty} is not decided by {type(observed).__name__}")


def _verdict(state: RunState, duty: JudgeAnswer, observed: JudgedImplementation) -> Decision:
    try:
        new = parse_proposal(observed, duty)
    except ProposalError as error:
        return _decision(state, duty, _reject(state, duty, error))
    if observed.trial is not None:
        return _decision(state, duty, _reject(state, duty, observed.trial))
    return _decision(state, duty, _accept(state, duty, new), new.source.encode())


def _decision(state: RunState, duty: Duty, payload: Payload, *blobs: bytes) -> Decision:
    number = open_basis(state)[0].number
    return Decision((Draft("implementation_evolver", payload, number, duty.caused_by),), blobs)


def parse_proposal(answer: JudgedImplementation, duty: JudgeAnswer) -> Implementation:
    """Return the implementation that an answer holds.

    Raises
    ------
    ProposalError
        The text breaks a rule; see `parse_implementation`.
    """
    source = parse_implementation(answer.text, answer.task)
    return Implementation(OperatorName(answer.task.operator.id), source, origin=f"call:{duty.call}")


async def read_judged(
    state: RunState, duty: JudgeAnswer, context: PromptContext, sources: SourceReader
) -> JudgedImplementation:
    """Return what the log holds of an answer; no trial has been made."""
    call = state.ledger.calls[duty.call]
    task = await read_task(state, duty.slot, call.attempt, context, sources)
    return JudgedImplementation(task, await calls.read_answer(call, sources.blobs), None)


class PoolEdit(NamedTuple):
    """What Algorithm 2 (lines 4–17) decides for one operator."""

    kind: Literal["delete", "add", "replace", "keep"]
    operator: OperatorId
    worst: ImplementationId
    """c⁻."""


def pool_edit(basis: EvolutionBasis, slot: int, pool_limit: int, epsilon: float) -> PoolEdit | None:
    """Return the edit of the `slot`-th lowest-credit operator; ``None`` beyond the last.

    Of operators with equal credit the smaller id comes first.
    """
    ranked = sorted(
        (basis.credits.operator_credit(basis.pools[operator], epsilon), operator)
        for operator in basis.graph.operators
    )
    if slot >= len(ranked):
        return None
    credit, operator = ranked[slot]
    pool = basis.pools[operator]
    worst = min(pool, key=lambda c: (basis.credits.implementation_credit(c, epsilon), c))
    if credit >= 0:
        return PoolEdit("delete" if len(pool) > 1 else "keep", operator, worst)
    return PoolEdit("add" if len(pool) < pool_limit else "replace", operator, worst)


def edit_of(state: RunState, slot: int) -> PoolEdit | None:
    """Return `pool_edit` of a slot of the open generation."""
    return pool_edit(open_basis(state)[1], slot, state.settings.pool_limit, state.settings.epsilon)


def _edit_with_model(state: RunState, slot: int) -> PoolEdit:
    edit = edit_of(state, slot)
    assert edit is not None
    return edit


def _edit_by_rule(state: RunState, duty: EditByRule) -> Payload:
    """Return the edit that needs no model: delete c⁻, or keep the pools as they are."""
    edit, number, slot = edit_of(state, duty.slot), duty.generation, duty.slot
    if edit is None:
        return ImplementationsKept(generation=number, slot=slot, reason="no further operator")
    if edit.kind == "keep":
        reason = f"{edit.operator} has no negative credit and a single implementation"
        return ImplementationsKept(generation=number, slot=slot, reason=reason)
    return ImplementationDeleted(
        generation=number, slot=slot, operator=edit.operator, implementation=edit.worst
    )


def _accept(state: RunState, duty: JudgeAnswer, new: Implementation) -> Payload:
    """Return that c⁺ joins the pool, in the place of c⁻ when the pool is full."""
    edit = _edit_with_model(state, duty.slot)
    accepted: dict[str, Any] = {
        "generation": open_basis(state)[0].number,
        "slot": duty.slot,
        "operator": edit.operator,
        "implementation": new.id,
        "source": blob_digest(new.source.encode()),
        "call": duty.call,
    }
    if edit.kind == "add":
        return ImplementationAdded(**accepted)
    return ImplementationReplaced(**accepted, removed=edit.worst)


def _reject(state: RunState, duty: JudgeAnswer, error: ProposalError) -> Payload:
    """Return that an answer cannot be used; final when no further call may be made for the slot."""
    attempt = state.ledger.calls[duty.call].attempt
    return ImplementationRejected(
        generation=open_basis(state)[0].number,
        slot=duty.slot,
        operator=_edit_with_model(state, duty.slot).operator,
        call=duty.call,
        attempt=attempt,
        stage=error.stage,
        diagnostic=error.diagnostic,
        is_final=calls.is_last_attempt(state, "implement", duty.slot, attempt),
    )


async def read_task(
    state: RunState, slot: int, attempt: int, context: PromptContext, sources: SourceReader
) -> ImplementTask:
    """Return what a proposer is asked for a slot whose edit is an addition or a replacement.

    Texts of implementations and of the answer refused before come from the log's blobs.
    """
    generation, basis = open_basis(state)
    edit = _edit_with_model(state, slot)
    past = await calls.read_past_attempts(state, "implement", slot, attempt, sources.blobs)

    async def implementation(operator: OperatorId, c: ImplementationId) -> Implementation:
        return await sources.implementation(state, Step(operator=operator, implementation=c))

    def of_category(category: str) -> tuple[Implementation, ...]:
        return tuple(
            other for other in others if context.contracts[OperatorId(other.operator)].category == category
        )

    entries = [
        PoolEntry(
            c,
            (await implementation(edit.operator, c)).source,
            basis.credits.implementation_credit(c, state.settings.epsilon),
        )
        for c in basis.pools[edit.operator]
    ]
    others = [
        await implementation(operator, c)
        for operator in basis.graph.operators
        if operator != edit.operator
        for c in basis.pools[operator]
    ]
    return ImplementTask(
        card=context.card,
        operator=context.contracts[edit.operator],
        mode="add" if edit.kind == "add" else "replace",
        pool=tuple(entries),
        parent=max(entries, key=lambda entry: (entry.credit, entry.id)),
        removed=edit.worst if edit.kind == "replace" else None,
        others=tuple(others),
        perturbations=of_category("perturbation"),
        improvers=of_category("local_search"),
        summary=improvement_summary(state, generation),
        **vars(past),
    )
