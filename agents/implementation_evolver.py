"""ImplementationEvolver: deletes, adds or replaces implementations of the lowest-credit operators.

References
----------
DGA2D paper, Section 3.5, Eqs. 10–12, and Algorithm 2, lines 1–17.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from dga2d.agents.agent import Duty
from dga2d.agents.calls import (
    CallDesk,
    GiveUp,
    Refusal,
    SlotEvolver,
    answer_of,
    next_call,
    open_basis,
    slot_allowance,
)
from dga2d.agents.evaluator_pool import SourceReader
from dga2d.agents.ports import BlobSource, EventAppender
from dga2d.agents.proposing import (
    ImplementTask,
    LanguageModel,
    PoolEntry,
    PromptContext,
    ProposalError,
    improvement_summary,
    parse_implementation,
)
from dga2d.agents.trials import TrialRunner
from dga2d.domains.core.contract import Implementation
from dga2d.domains.core.contract import OperatorId as DomainOperatorId
from dga2d.events import AgentName, ImplementationId, OperatorId, blob_digest
from dga2d.events.payloads import (
    ImplementationAdded,
    ImplementationDeleted,
    ImplementationRejected,
    ImplementationReplaced,
    ImplementationsKept,
    Payload,
    Step,
)
from dga2d.replay.state.run_state import EvolutionBasis, RunState


class PoolEdit(NamedTuple):
    """What Algorithm 2 (lines 4–17) decides for one operator."""

    kind: Literal["delete", "add", "replace", "keep"]
    operator: OperatorId
    worst: ImplementationId
    """c⁻."""


def pool_edit(basis: EvolutionBasis, slot: int, pool_limit: int, epsilon: float) -> PoolEdit | None:
    """The edit of the `slot`-th lowest-credit operator, ties to the smaller id; ``None`` beyond the last."""
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
    """`pool_edit` of a slot of the open generation, whose credits must have been updated."""
    return pool_edit(open_basis(state)[1], slot, state.settings.pool_limit, state.settings.epsilon)


def implementation_subject(generation: int, slot: int) -> str:
    """How the ledger names the calls for a slot."""
    return f"implement/{generation}/{slot}"


def implementation_allowance(state: RunState, slot: int) -> int:
    """Most calls for a slot."""
    basis = open_basis(state)[1]
    return slot_allowance(
        basis.calls_left, basis.edits, state.settings.attempts_per_edit, slot, is_edge=False
    )


def implementation_duty(state: RunState, slot: int) -> Duty | None:
    """What is owed towards the verdict of a slot that has none yet; ``None`` while an answer is awaited."""
    generation, basis = open_basis(state)
    edit = edit_of(state, slot)
    if edit is None or edit.kind in ("keep", "delete"):
        return Duty(f"settle/{generation.number}/{slot}", basis.seq, ("rule", slot))
    subject = implementation_subject(generation.number, slot)
    allowance = implementation_allowance(state, slot)
    step = next_call(state, subject, basis.seq, state.settings.attempts_per_edit, allowance)
    if isinstance(step, GiveUp):
        return Duty(f"give-up/{subject}", step.caused_by, ("give up", slot, step.reason))
    if step is None:
        return None
    return Duty(f"{subject}:{step.key}", step.caused_by, (step.subject[0], slot, *step.subject[1:]))


async def implement_task(
    state: RunState,
    slot: int,
    attempt: int,
    context: PromptContext,
    sources: SourceReader,
    refusal: Refusal,
) -> ImplementTask:
    """What a proposer is asked for a slot whose edit is an addition or a replacement."""
    generation, basis = open_basis(state)
    edit = edit_of(state, slot)
    assert edit is not None

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
        diagnostic=refusal.diagnostic,
        attempt=attempt,
        previous=refusal.previous,
    )


def rule_verdict(state: RunState, slot: int) -> Payload:
    """The verdict that needs no model: delete c⁻, or keep the pools as they are."""
    edit, number = edit_of(state, slot), open_basis(state)[0].number
    if edit is None:
        return ImplementationsKept(generation=number, slot=slot, reason="no further operator")
    if edit.kind == "keep":
        reason = f"{edit.operator} has no negative credit and a single implementation"
        return ImplementationsKept(generation=number, slot=slot, reason=reason)
    return ImplementationDeleted(
        generation=number, slot=slot, operator=edit.operator, implementation=edit.worst
    )


def implementation_accepted(state: RunState, slot: int, new: Implementation, call: int) -> Payload:
    """The verdict that c⁺ joins the pool, in the place of c⁻ when the pool is full."""
    edit, number = edit_of(state, slot), open_basis(state)[0].number
    assert edit is not None
    implementation, source = ImplementationId(new.id), blob_digest(new.source.encode())
    if edit.kind == "add":
        return ImplementationAdded(
            generation=number,
            slot=slot,
            operator=edit.operator,
            implementation=implementation,
            source=source,
            call=call,
        )
    return ImplementationReplaced(
        generation=number,
        slot=slot,
        operator=edit.operator,
        removed=edit.worst,
        implementation=implementation,
        source=source,
        call=call,
    )


def implementation_rejected(state: RunState, slot: int, call: int, error: ProposalError) -> Payload:
    """The verdict that an answer cannot be used; final when no further call may be made for the slot."""
    edit, attempt = edit_of(state, slot), state.ledger.calls[call].attempt
    assert edit is not None
    most = min(state.settings.attempts_per_edit, implementation_allowance(state, slot))
    return ImplementationRejected(
        generation=open_basis(state)[0].number,
        slot=slot,
        operator=edit.operator,
        call=call,
        attempt=attempt,
        stage=error.stage,
        diagnostic=error.diagnostic,
        is_final=attempt + 1 >= most,
    )


class ImplementationEvolver(SlotEvolver[ImplementTask]):
    """Owns the implementation pools. All slots are treated at once: they concern different operators."""

    name: AgentName = "implementation_evolver"

    def __init__(
        self,
        log: EventAppender,
        source: BlobSource,
        model: LanguageModel,
        trials: TrialRunner,
        context: PromptContext,
    ) -> None:
        super().__init__(log, source, CallDesk(self.name, "implement", log, model), context)
        self._trials = trials

    def duties(self, state: RunState) -> Sequence[Duty]:
        generation = state.generation
        if state.status != "running" or generation is None or generation.basis is None:
            return ()
        waiting = [
            slot for slot in range(generation.basis.edits) if slot not in generation.implementation_verdicts
        ]
        owed = [implementation_duty(state, slot) for slot in waiting]
        return [duty for duty in owed if duty is not None]

    def _subject(self, number: int, slot: int) -> str:
        return implementation_subject(number, slot)

    async def _task(self, state: RunState, slot: int, attempt: int) -> ImplementTask:
        refusal = await self._last_refusal(state, slot, attempt)
        return await implement_task(state, slot, attempt, self._context, self._trials.sources, refusal)

    async def _judge(self, state: RunState, slot: int, number: int, caused_by: int) -> None:
        _, basis = open_basis(state)
        call = state.ledger.calls[number]
        task = await self._task(state, slot, call.attempt)
        try:
            source = parse_implementation(await answer_of(call, self._source), task)
            new = Implementation(DomainOperatorId(task.operator.id), source, origin=f"call:{number}")
            await self._trials.try_out(state, basis, new)
        except ProposalError as error:
            rejected = implementation_rejected(state, slot, number, error)
            await self._append(state, rejected, caused_by)
        else:
            verdict = implementation_accepted(state, slot, new, number)
            await self._append(state, verdict, caused_by, [source.encode()])

    def _closing(self, state: RunState, kind: str, slot: int, reason: str = "") -> Payload:
        if kind == "rule":
            return rule_verdict(state, slot)
        return ImplementationsKept(generation=open_basis(state)[0].number, slot=slot, reason=reason)
