"""ImplementationEvolver: deletes, adds or replaces implementations.

References
----------
DGA2D paper, Section 3.5, and Algorithm 2, lines 1–17.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from dga2d.agents import bank_offers, calls, gate
from dga2d.agents.agent import Decision, decide_on, open_basis
from dga2d.agents.bank_offers import JudgeOffer, Origin, origin_of
from dga2d.agents.calls import STALE, AbandonCall, AskModel, JudgeAnswer, Judged, NoRoom, Quoted
from dga2d.agents.evaluator_pool import SourceReader
from dga2d.agents.evolver import Evolver
from dga2d.agents.implementation_duties import (
    EditByRule,
    ImplementationDuty,
    JudgeProposal,
    KeepPool,
    RefuseStale,
    duties,
    read_asked,
    read_task,
)
from dga2d.agents.pool_edits import edit_of, edit_to_ask, kept_members, lowest_credit
from dga2d.agents.proposing.answers import configured_member, idea_of, parse_implementation
from dga2d.agents.proposing.errors import ProposalError
from dga2d.agents.proposing.tasks import ImplementTask, PromptContext
from dga2d.domains.core.contract import Implementation, OperatorName
from dga2d.events import AgentName, Draft, ImplementationId, Payload, blob_digest
from dga2d.events import payloads as p
from dga2d.replay.state.generation_state import Proposal
from dga2d.replay.state.run_state import RunState

JudgedImplementation = Judged[ImplementTask]


class ImplementationEvolver(Evolver[ImplementationDuty]):
    """Owns the implementation pools. All slots are treated at once; those of one operator are judged one
    after the other."""

    name: AgentName = "implementation_evolver"

    def duties(self, state: RunState) -> Sequence[ImplementationDuty]:
        return duties(state)

    async def _task(self, state: RunState, duty: AskModel) -> ImplementTask:
        return await read_task(state, duty.slot, duty.attempt, self._context, self._trials.sources)

    async def _decision(self, state: RunState, duty: ImplementationDuty) -> Decision:
        judged = await self._judge_answer(state, duty) if isinstance(duty, JudgeAnswer | JudgeOffer) else None
        return decide(state, duty, judged)

    async def _judge_answer(self, state: RunState, duty: JudgeAnswer | JudgeOffer) -> JudgedImplementation:
        answer = await read_judged(state, duty, self._context, self._trials.sources)
        try:
            new = parse_proposal(answer, duty)
        except ProposalError:
            return answer
        _, basis = open_basis(state)
        return answer._replace(trial=await self._trials.find_failure(state, basis, new))


def decide(
    state: RunState, duty: ImplementationDuty, observed: JudgedImplementation | Quoted | NoRoom | None
) -> Decision:
    """Return the verdict on an answer, the edit that needs no model, or what the ledger records of a call."""
    match duty, observed:
        case AskModel() | AbandonCall(), Quoted() | NoRoom() | None:
            return calls.decide(state, duty, observed)
        case JudgeAnswer() | JudgeOffer(), Judged():
            return _verdict(state, duty, observed)
        case JudgeProposal(), None:
            return _pass_gate(state, duty)
        case RefuseStale(), None:
            origin: Origin = {"call": duty.call, "offer": None}
            return _decision(
                state, duty, _reject(state, duty.slot, origin, ProposalError(STALE, duty.reason))
            )
        case EditByRule(), None:
            return _decision(state, duty, _edit_by_rule(state, duty))
        case KeepPool(), None:
            kept = p.ImplementationsKept(generation=duty.generation, slot=duty.slot, reason=duty.reason)
            return _decision(state, duty, kept)
    raise TypeError(f"{duty} is not decided by {type(observed).__name__}")


def _verdict(state: RunState, duty: JudgeAnswer | JudgeOffer, observed: JudgedImplementation) -> Decision:
    origin = origin_of(duty)
    try:
        new = parse_proposal(observed, duty)
        if observed.trial is not None:
            raise observed.trial
        _refuse_what_was_here(state, duty, ImplementationId(new.id))
    except ProposalError as error:
        return _decision(state, duty, _reject(state, duty.slot, origin, error))
    task, source = observed.task, new.source.encode()
    configured = configured_member(new.source, task.pool) if task.allows_configurations else None
    proposal = Proposal(
        seq=state.seq + 1,
        slot=duty.slot,
        **origin,
        operator=edit_to_ask(state, duty.slot).operator,
        implementation=ImplementationId(new.id),
        source=blob_digest(source),
        parent=task.parent.id if configured is None else configured.id,
        is_configuration=configured is not None,
        idea=idea_of(new.source),
    )
    payload = _propose(state, proposal) if gate.is_gated(state) else _join(state, proposal)
    return _decision(state, duty, payload, source)


def _refuse_what_was_here(state: RunState, duty: JudgeAnswer | JudgeOffer, new: ImplementationId) -> None:
    """Refuse code that joined the pool in this generation, or that the gate has measured before."""
    operator = edit_to_ask(state, duty.slot).operator
    call = state.ledger.calls[duty.call] if isinstance(duty, JudgeAnswer) else None
    asked = call.generation if call is not None and call.ticket is not None else None
    if gate.is_gated(state):
        before = [t for t in gate.tried_before(state, operator) if t.implementation == new]
        if before:
            is_news = asked is not None and all(tried.generation >= asked for tried in before)
            raise ProposalError(STALE if is_news else "duplicate", f"{new} was measured before")
        generation, basis = open_basis(state)
        turn = duty.slot % basis.turns
        drafts = (generation.proposals.get(slot) for slot in range(duty.slot - turn, duty.slot))
        if any(draft is not None and draft.implementation == new for draft in drafts):
            raise ProposalError("duplicate", f"{new} is the answer of a turn before")
    elif new in state.pools[operator]:
        stage = "duplicate" if asked is None else STALE
        raise ProposalError(stage, f"{new} joined the pool in this generation")


def _propose(state: RunState, proposal: Proposal) -> p.ImplementationProposed:
    operator, parent = proposal.operator, proposal.parent
    return p.ImplementationProposed(
        generation=open_basis(state)[0].number,
        slot=proposal.slot,
        operator=operator,
        implementation=proposal.implementation,
        source=proposal.source,
        **origin_of(proposal),
        parent=parent,
        is_configuration=proposal.is_configuration,
        idea=proposal.idea,
        program=gate.gate_program(state, operator, parent),
        control=gate.control_number(state, proposal.slot, parent),
        instances=gate.gate_instances(state),
    )


def _pass_gate(state: RunState, duty: JudgeProposal) -> Decision:
    """Return what the gate measured, unless that is in the log, and the verdict: of rivals the best that does
    not lose joins."""
    generation = open_basis(state)[0]
    proposal = generation.proposals[duty.slot]
    result, best = gate.gate_result(state, proposal), gate.best_rival(state, proposal)
    is_here = proposal.implementation in state.pools[proposal.operator]
    is_accepted = best is not None and best.slot == proposal.slot and not is_here
    has_credits = is_accepted and not proposal.is_configuration
    measured = p.ImplementationMeasured(
        generation=generation.number,
        slot=duty.slot,
        gains=result.gains,
        is_accepted=is_accepted,
        credits=gate.gate_credits(state, proposal, result) if has_credits else (),
    )
    if is_accepted:
        verdict = _join(state, proposal)
    else:
        lost = ProposalError("gate", gate.loss(result, best))
        verdict = _reject(state, duty.slot, origin_of(proposal), lost)
    payloads: list[Payload] = [verdict] if proposal.measured else [measured, verdict]
    drafts = (
        Draft("implementation_evolver", payload, generation.number, duty.caused_by) for payload in payloads
    )
    return Decision(tuple(drafts))


_decision = partial(decide_on, "implementation_evolver")


def parse_proposal(answer: JudgedImplementation, duty: JudgeAnswer | JudgeOffer) -> Implementation:
    """Return the implementation that an answer holds.

    Raises
    ------
    ProposalError
        The text breaks a rule; see `parse_implementation`. ``stale``: it broke none when it was asked for in
        an earlier generation, and does now.
    """
    source = parse_implementation(answer.text, answer.asked or answer.task)
    if answer.asked is not None:
        try:
            parse_implementation(answer.text, replace(answer.asked, pool=answer.task.pool))
        except ProposalError as error:
            raise ProposalError(STALE, error.diagnostic) from None
    origin = f"bank:{duty.offer}" if isinstance(duty, JudgeOffer) else f"call:{duty.call}"
    return Implementation(OperatorName(answer.task.operator.id), source, origin)


async def read_judged(
    state: RunState, duty: JudgeAnswer | JudgeOffer, context: PromptContext, sources: SourceReader
) -> JudgedImplementation:
    """Return what the log holds of an answer or of an entry of the bank; no trial has been made."""
    if isinstance(duty, JudgeOffer):
        task = await read_task(state, duty.slot, 0, context, sources)
        return JudgedImplementation(task, await bank_offers.read_offer(state, duty.offer, sources.blobs))
    call = state.ledger.calls[duty.call]
    task = await read_task(state, duty.slot, call.attempt, context, sources)
    text, asked = await calls.read_answer(call, sources.blobs), await read_asked(state, task, call, sources)
    return JudgedImplementation(task, text, None, asked)


def _edit_by_rule(state: RunState, duty: EditByRule) -> Payload:
    """Return the edit that needs no model: delete c⁻, or keep the pools as they are."""
    edit, number, slot = edit_of(state, duty.slot), duty.generation, duty.slot
    if edit is None:
        return p.ImplementationsKept(generation=number, slot=slot, reason="no further operator")
    if edit.kind == "keep":
        if slot % open_basis(state)[1].slots_per_edit:
            reason = f"{edit.operator} needs no further answer"
            return p.ImplementationsKept(generation=number, slot=slot, reason=reason)
        reason = f"{edit.operator} has no negative credit and a single implementation"
        if len(open_basis(state)[1].pools[edit.operator]) > 1:
            reason = f"{edit.operator} has no negative credit and no implementation that may be removed"
        return p.ImplementationsKept(generation=number, slot=slot, reason=reason)
    return p.ImplementationDeleted(
        generation=number, slot=slot, operator=edit.operator, implementation=edit.worst
    )


def _join(state: RunState, new: Proposal) -> Payload:
    """Return that c⁺ joins the pool: in the place of the member that it configures, or of c⁻ when the pool is
    full."""
    generation, basis = open_basis(state)
    pool, settings = state.pools[new.operator], state.settings
    accepted: dict[str, Any] = {
        "generation": generation.number,
        "slot": new.slot,
        "operator": new.operator,
        "implementation": new.implementation,
        "source": new.source,
        **origin_of(new),
    }
    if new.is_configuration and new.parent in pool:
        return p.ImplementationReplaced(**accepted, removed=new.parent, inherits_credits=True)
    if len(pool) < settings.pool_limit:
        return p.ImplementationAdded(**accepted)
    kept = kept_members(state)
    if settings.gate_rivals == "edit":  # what joined in this generation has no credit to be judged by yet
        kept |= {c for c in pool if c not in basis.pools[new.operator]}
    worst = lowest_credit(basis, pool, settings.epsilon, kept)
    return p.ImplementationReplaced(**accepted, removed=worst, inherits_credits=False)


FINAL_STAGES = ("no_change", "gate", STALE)
"""Stages behind which there is nothing to repair."""


def _reject(state: RunState, slot: int, origin: Origin, error: ProposalError) -> Payload:
    """Return that new code cannot be used; final when no further call may be made for the slot. A refused
    offer leaves the slot to the next one, or to a call."""
    attempt, is_last = 0, False
    if (call := origin["call"]) is not None:
        attempt = state.ledger.calls[call].attempt
        is_last = calls.is_last_attempt(state, "implement", slot, attempt)
    return p.ImplementationRejected(
        generation=open_basis(state)[0].number,
        slot=slot,
        operator=edit_to_ask(state, slot).operator,
        **origin,
        attempt=attempt,
        stage=error.stage,
        diagnostic=error.diagnostic,
        is_final=is_last or error.stage in FINAL_STAGES,
    )
