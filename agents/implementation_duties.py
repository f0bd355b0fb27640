"""What the implementation evolver owes: which slots wait, ask a model, or are to be judged."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from dga2d.agents import bank_offers, calls, gate
from dga2d.agents.agent import Duty, open_basis
from dga2d.agents.bank_offers import JudgeOffer
from dga2d.agents.calls import STALE, AbandonCall, AskModel, GiveUp, JudgeAnswer
from dga2d.agents.pool_edits import edit_of, edit_to_ask, parent_of, stale_reason
from dga2d.events import OperatorId
from dga2d.events.payloads import Ticket
from dga2d.replay.state.generation_state import Proposal
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
