"""What the implementation evolver owes, and what it asks a model for.

A slot waits, asks a model, or is to be judged; all of it, and what a proposer is asked, follows from the log.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from dga2d.agents import bank_offers, calls, gate
from dga2d.agents.agent import Duty, open_basis
from dga2d.agents.bank_offers import JudgeOffer
from dga2d.agents.calls import STALE, AbandonCall, AskModel, GiveUp, JudgeAnswer
from dga2d.agents.evaluator_pool import SourceReader
from dga2d.agents.kernel_texts import offered_kernels
from dga2d.agents.pool_edits import edit_of, edit_to_ask, parent_of, rank_among_askers, stale_reason
from dga2d.agents.prompt_facts import pool_figures, run_facts
from dga2d.agents.proposing import tasks
from dga2d.agents.proposing.answers import DIFF_STAGE
from dga2d.agents.work_calibration import units_of_a_round
from dga2d.domains.core.contract import Implementation
from dga2d.events import ImplementationId, OperatorId
from dga2d.events.payloads import Step, Ticket
from dga2d.replay.state.generation_state import Proposal
from dga2d.replay.state.ledger import NO_FAULT, Call
from dga2d.replay.state.run_state import RunState

NOTHING_MEASURED = "the turn before brought nothing that was measured"


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


@dataclass(frozen=True)
class JudgeProposal(Duty):
    """Record what the gate measured, and the verdict that follows."""

    slot: int


@dataclass(frozen=True)
class RefuseStale(Duty):
    """Record that an answer no longer fits the pools that it was asked for."""

    slot: int
    call: int
    reason: str = field(compare=False)


ImplementationDuty = (
    AskModel | JudgeAnswer | JudgeOffer | JudgeProposal | RefuseStale | AbandonCall | EditByRule | KeepPool
)


def duties(state: RunState) -> tuple[ImplementationDuty, ...]:
    """Return what is owed towards the verdicts of all slots that have none yet."""
    generation = state.generation
    if state.status != "running" or generation is None or generation.basis is None:
        return ()
    slots = range(generation.basis.implementation_slots)
    owed = (_slot_duty(state, slot) for slot in slots if not generation.is_closed(slot))
    return tuple(duty for duty in owed if duty is not None)


def _slot_duty(state: RunState, slot: int) -> ImplementationDuty | None:
    generation, basis = open_basis(state)
    if (reason := stale_reason(state, slot)) is not None:
        return _stale_duty(state, slot, reason)
    edit = edit_of(state, slot)
    if edit is None or edit.kind in ("keep", "delete"):
        waits = edit is not None and basis.lag > 0 and _waits_for_its_turn(state, slot, edit.operator)
        return None if waits else EditByRule(basis.seq, generation.number, slot)
    proposal = generation.proposals.get(slot)
    if proposal is not None:
        waits = _waits_for_its_turn(state, slot, edit.operator) or not _rivals_are_measured(state, proposal)
        return None if waits else JudgeProposal(proposal.seq, slot)
    is_first = slot % basis.turns == 0 and slot < basis.asking_slots
    if is_first and (offer := bank_offers.next_offer(state, edit.operator)) is not None:
        waits = _waits_for_its_turn(state, slot, edit.operator)
        return None if waits else JudgeOffer(basis.seq, slot, offer)
    cause = basis.seq
    if slot % basis.turns and slot < basis.asking_slots:
        before = generation.proposals.get(slot - 1)
        if before is None or not gate.is_measured(state, before):
            judged = generation.implementation_verdicts.get(slot - 1)
            return None if judged is None else KeepPool(judged, generation.number, slot, NOTHING_MEASURED)
        cause = before.seq
    step = calls.next_call(state, "implement", slot, cause, calls.allowance(state, "implement", slot))
    if isinstance(step, GiveUp):
        return KeepPool(step.caused_by, generation.number, slot, step.reason)
    if isinstance(step, AskModel) and basis.lag:
        return replace(step, ticket=_ticket(state, slot))
    joins = isinstance(step, JudgeAnswer) and not gate.is_gated(state)
    return None if joins and _waits_for_its_turn(state, slot, edit.operator) else step


def _stale_duty(state: RunState, slot: int, reason: str) -> ImplementationDuty | None:
    """Return what is owed for an answer that no longer fits: a refusal when it has come, no call."""
    generation, number = open_basis(state)[0], open_basis(state)[1].landing_call("implement", slot)
    assert number is not None
    call = state.ledger.calls_for(state.ledger.calls[number].subject)[-1]
    if call.status == "reserved":
        is_ours = call.reserved_seq >= state.process_seq
        return None if is_ours else AbandonCall(state.process_seq, "implement", call.number)
    assert call.ended_seq is not None
    if call.status == "settled" and call.verdict is None:
        return RefuseStale(call.ended_seq, slot, call.number, reason)
    return KeepPool(call.judged_seq or call.ended_seq, generation.number, slot, f"{STALE}: {reason}")


def _ticket(state: RunState, slot: int) -> Ticket:
    (generation, basis), edit = open_basis(state), edit_to_ask(state, slot)
    return Ticket(
        slot=slot,
        lands=generation.number + basis.lag,
        operator=edit.operator,
        parent=parent_of(basis, edit, state.settings.epsilon),
        edge=None,
    )


def _waits_for_its_turn(state: RunState, slot: int, operator: OperatorId) -> bool:
    """Return whether an earlier slot of the same operator has to be judged first: one after the other, so
    that answers may come in any order. Under a lag an earlier slot of any operator: the credits that new code
    begins with may name what other code replaces."""
    generation, basis = open_basis(state)
    proposals = generation.proposals
    for earlier in range(slot):
        if generation.is_closed(earlier) or (earlier in proposals and slot not in proposals):
            continue
        if basis.lag or ((edit := edit_of(state, earlier)) is not None and edit.operator == operator):
            return True
    return False


def _rivals_are_measured(state: RunState, proposal: Proposal) -> bool:
    """Return whether every slot of a proposal's operator has been measured or has its verdict: only the best
    of them joins."""
    generation, basis = open_basis(state)
    for slot in range(basis.implementation_slots):
        rival = generation.proposals.get(slot)
        if rival is None and not generation.is_closed(slot):
            edit = edit_of(state, slot)
            if edit is not None and edit.operator == proposal.operator:
                return False
        if rival is not None and rival.operator == proposal.operator and not gate.is_measured(state, rival):
            return False
    return True


LOOKED_BACK = 12
"""Answers of earlier generations by which the form of answers is chosen."""
ENOUGH_ANSWERS = 4
"""Fewest answers that say whether a model is strong."""


def answer_form(state: RunState) -> Literal["whole", "diff"]:
    """Return how code is to be answered in the open generation.

    What is accepted within a generation depends on the order of answers, so only earlier ones count.
    """
    form = state.settings.answer_form
    if form != "auto":
        return form
    number = open_basis(state)[0].number
    judged = [
        call
        for call in sorted(state.ledger.calls.values(), key=_order)
        if call.purpose == "implement" and call.verdict is not None and (call.taken_in or 0) < number
    ][-LOOKED_BACK:]
    faults = [call.diagnostic or "" for call in judged if call.verdict == "rejected"]
    faults = [fault for fault in faults if not fault.startswith(NO_FAULT)]
    misfits = sum(fault.startswith(f"{DIFF_STAGE}:") for fault in faults)
    is_strong = len(judged) >= ENOUGH_ANSWERS and 3 * len(faults) <= len(judged)
    return "diff" if is_strong and 4 * misfits <= len(judged) else "whole"


def _order(call: Call) -> tuple[int, int, int, int]:
    """Return the place of a call; those that land together are numbered in any order."""
    if call.ticket is None:
        return call.taken_in or 0, call.number, 0, 0
    return call.taken_in or 0, *call.place, call.attempt


async def read_task(
    state: RunState, slot: int, attempt: int, context: tasks.PromptContext, sources: SourceReader
) -> tasks.ImplementTask:
    """Return what a proposer is asked for a slot whose edit is an addition or a replacement.

    Texts of implementations and of the answer refused before come from the log's blobs.
    """
    generation, basis = open_basis(state)
    edit, contracts = edit_to_ask(state, slot), tasks.known_contracts(state, context)
    past = await calls.read_past_attempts(state, "implement", slot, attempt, sources.blobs)

    async def implementation(operator: OperatorId, c: ImplementationId) -> Implementation:
        return await sources.implementation(state, Step(operator=operator, implementation=c))

    def of_category(category: str) -> tuple[Implementation, ...]:
        return tuple(other for other in others if contracts[OperatorId(other.operator)].category == category)

    entries = [
        tasks.PoolEntry(
            c,
            (await implementation(edit.operator, c)).source,
            basis.credits.implementation_credit(c, state.settings.epsilon),
            *pool_figures(state, c),
        )
        for c in basis.pools[edit.operator]
    ]
    others = [
        await implementation(operator, c)
        for operator in basis.graph.operators
        if operator != edit.operator
        for c in basis.pools[operator]
    ]
    settings, known = state.settings, {ImplementationId(other.id) for other in others}
    others += [  # whatever the graph holds
        await sources.implementation(state, step)
        for step in tasks.known_of_library(state, context)
        if step.operator != edit.operator and step.implementation not in known
    ]
    has_facts = state.settings.prompt_edition >= 2
    draft = generation.proposals.get(slot - 1) if slot % basis.turns else None
    rank, askers = rank_among_askers(state, slot)
    return tasks.ImplementTask(
        card=context.card,
        facts=await run_facts(state, slot, edit.operator, others, sources) if has_facts else None,
        operator=contracts[edit.operator],
        mode="add" if edit.kind == "add" else "replace",
        pool=tuple(entries),
        parent=max(entries, key=lambda entry: (entry.id == edit.parent, entry.credit, entry.id)),
        removed=edit.worst if edit.kind == "replace" else None,
        others=tuple(others),
        perturbations=of_category("perturbation"),
        improvers=of_category("local_search"),
        intensifiers=of_category("intensification"),
        unused=tuple(
            (context.contracts[OperatorId(c.operator)], c)
            for c in context.implementations
            if ImplementationId(c.id) not in state.operator_of
        ),
        structure_only=settings.race_contenders > 0 and "constants" in settings.moves,
        draft=None if draft is None else await _draft(state, draft, sources),
        answer_form=answer_form(state),
        summary=tasks.improvement_summary(state, generation),
        kernels=await offered_kernels(state, sources),
        allows_no_change=settings.no_change,
        allows_configurations=settings.configurations,
        near_copy_lines=settings.near_copy_lines,
        round_units=units_of_a_round(state),
        rank=rank,
        askers=askers,
        measured=frozenset(tried.implementation for tried in gate.tried_before(state, edit.operator)),
        **vars(past),
    )


async def read_asked(
    state: RunState, task: tasks.ImplementTask, call: Call, sources: SourceReader
) -> tasks.ImplementTask | None:
    """Return a task as it was when an earlier generation asked for it: the pool that it was to add to, and
    the member that it was to improve on; ``None`` for a call of the open generation."""
    ticket = call.ticket
    if ticket is None or ticket.operator is None or ticket.parent is None:
        return None
    steps = [Step(operator=ticket.operator, implementation=c) for c in _asked_pool(state, call, ticket)]
    texts = [(await sources.implementation(state, step)).source for step in steps]
    pool = tuple(
        tasks.PoolEntry(step.implementation, text, 0.0) for step, text in zip(steps, texts, strict=True)
    )
    parent = next(entry for entry in pool if entry.id == ticket.parent)
    form: Literal["whole", "diff"] = "whole" if state.settings.answer_form == "whole" else "diff"
    return replace(task, pool=pool, parent=parent, answer_form=form)


def _asked_pool(state: RunState, call: Call, ticket: Ticket) -> Sequence[ImplementationId]:
    assert call.generation is not None
    assert ticket.operator is not None
    return state.bases[call.generation].pools[ticket.operator]


async def _draft(state: RunState, draft: Proposal, sources: SourceReader) -> tasks.PoolEntry:
    step = Step(operator=draft.operator, implementation=draft.implementation)
    return tasks.PoolEntry(draft.implementation, (await sources.implementation(state, step)).source, 0.0)
