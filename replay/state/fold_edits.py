"""Fold handlers for edits of implementations and edges, and for the calls that paid for them."""

from __future__ import annotations

from dga2d.events import BlobDigest, ImplementationId, OperatorId, RecordedEvent
from dga2d.events import payloads as p
from dga2d.replay.state.credit import CreditTable, Transition, TransitionRecord
from dga2d.replay.state.generation_state import GenerationState, Proposal
from dga2d.replay.state.graph import END, START, structure_violation
from dga2d.replay.state.handler import (
    folds,
    judge,
    judge_offer,
    judge_origin,
    open_generation,
    replace,
    require,
)
from dga2d.replay.state.ledger import Call, Ledger, RefusedCall
from dga2d.replay.state.run_state import Declined, OwedTrial, RunState, TriedCode


@folds(p.ImplementationsKept)
def _implementation_verdict(state: RunState, event: RecordedEvent, payload: p.ImplementationEdit) -> RunState:
    generation = open_generation(state, event, payload.generation)
    _check_slot(generation, event, payload.slot, is_edge=False)
    require(not generation.is_closed(payload.slot), event, "the slot has its verdict")
    verdicts = generation.implementation_verdicts.set(payload.slot, event.seq)
    return replace(state, generation=replace(generation, implementation_verdicts=verdicts))


def _check_slot(generation: GenerationState, event: RecordedEvent, slot: int, *, is_edge: bool) -> None:
    basis = require(generation.basis, event, "the credits have not been updated")
    slots = basis.edge_slots if is_edge else basis.implementation_slots
    require(0 <= slot < slots, event, f"there is no slot {slot}")


def _set_pool(
    state: RunState,
    event: RecordedEvent,
    operator: OperatorId,
    added: tuple[ImplementationId, BlobDigest] | None,
    removed: ImplementationId | None,
) -> RunState:
    require(operator in state.pools, event, f"{operator} is not in the graph")
    pool = state.pools[operator]
    credits: CreditTable = state.credits
    sources, operator_of = state.sources, state.operator_of
    if removed is not None:
        require(removed in pool, event, f"{removed} is not in the pool of {operator}")
        pool = tuple(c for c in pool if c != removed)
        credits = credits.without(removed)
    if added is not None:
        implementation, source = added
        require(implementation not in pool, event, f"{implementation} is in the pool already")
        require(implementation.startswith(f"{operator}."), event, f"{implementation} belongs elsewhere")
        pool = tuple(sorted((*pool, implementation)))
        sources = sources.set(implementation, source)
        operator_of = operator_of.set(implementation, operator)
    # a resume may have lowered the limit below what the pool holds already
    most = max(state.settings.pool_limit, len(state.pools[operator]))
    require(0 < len(pool) <= most, event, f"the pool would have {len(pool)} members")
    trials = [trial for trial in state.owed_trials if removed is None or trial.implementation != removed]
    if added is not None and state.settings.trial_samples and state.generation is not None:
        number, left = state.generation.number, state.settings.trial_samples
        left -= _samples_in_gate(state.generation, added[0])
        trials += [OwedTrial(number, added[0], None, left)] if left > 0 else []
    return replace(
        state,
        pools=state.pools.set(operator, pool),
        credits=credits,
        sources=sources,
        operator_of=operator_of,
        owed_trials=tuple(sorted(trials, key=_trial_key)),
    )


def _samples_in_gate(generation: GenerationState, implementation: ImplementationId) -> int:
    """Return how often the gate ran new code in its program."""
    found = [p.measured for p in generation.proposals.values() if p.implementation == implementation]
    return max((len(measured.gains) for measured in found if measured is not None), default=0)


def _with_gate_credits(state: RunState, slot: int) -> RunState:
    """Return the state with the credits that the gate gave to what joined."""
    proposal = None if state.generation is None else state.generation.proposals.get(slot)
    if proposal is None or proposal.measured is None:
        return state
    credits = state.credits.update(
        (Transition(t.source, t.target), TransitionRecord(t.credit, t.activations))
        for t in proposal.measured.credits
    )
    return replace(state, credits=credits)


def _trial_key(trial: OwedTrial) -> tuple[int, str, str]:
    return trial.key


@folds(p.ImplementationProposed)
def _implementation_proposed(
    state: RunState, event: RecordedEvent, payload: p.ImplementationProposed
) -> RunState:
    generation, new = open_generation(state, event, payload.generation), payload.implementation
    _check_slot(generation, event, payload.slot, is_edge=False)
    require(not generation.is_closed(payload.slot), event, "the slot has its verdict")
    require(payload.slot not in generation.proposals, event, "the slot has its proposal")
    require(new.startswith(f"{payload.operator}."), event, f"{new} belongs elsewhere")
    steps = (*payload.program, p.Step(operator=payload.operator, implementation=payload.parent))
    known = all(state.operator_of.get(step.implementation) == step.operator for step in steps)
    require(payload.program and known, event, "it is measured with an unknown implementation")
    train = {entry.key for entry in state.header.splits.train}
    is_sound = 0 < len(payload.instances) == len({*payload.instances} & train)
    require(is_sound, event, "an instance is not of the training split")
    proposal = Proposal(
        seq=event.seq, program=payload.program, **payload.model_dump(exclude={"generation", "program"})
    )
    if payload.offer is not None:
        state = judge_offer(state, event, payload, _place(payload), new)
    return replace(
        state,
        sources=state.sources.set(new, payload.source),
        operator_of=state.operator_of.set(new, payload.operator),
        generation=replace(generation, proposals=generation.proposals.set(payload.slot, proposal)),
    )


@folds(p.ImplementationMeasured)
def _implementation_measured(
    state: RunState, event: RecordedEvent, payload: p.ImplementationMeasured
) -> RunState:
    generation = open_generation(state, event, payload.generation)
    proposal = require(generation.proposals.get(payload.slot), event, "there is no such proposal")
    require(proposal.measured is None, event, "it was measured before")
    require(payload.gains, event, "nothing was measured")
    tried = TriedCode(
        payload.generation,
        payload.slot,
        proposal.implementation,
        proposal.parent,
        proposal.idea,
        payload.gains,
        payload.is_accepted,
        proposal.call,
        _first_failure(generation, proposal, payload.gains),
    )
    operator, proposals = proposal.operator, generation.proposals
    return replace(
        state,
        tried=state.tried.set(operator, (*state.tried.get(operator, ()), tried)),
        generation=replace(
            generation, proposals=proposals.set(payload.slot, replace(proposal, measured=payload))
        ),
    )


def _first_failure(generation: GenerationState, proposal: Proposal, gains: p.Gains) -> str:
    """Return the instance on which new code failed first in the gate, and how; empty where it did not."""
    for key, gain in zip(proposal.instances, gains, strict=False):
        outcome = generation.gate_outcomes.get((proposal.slot, key))
        if gain is None and outcome is not None and outcome.failure is not None:
            return f"{key}: {outcome.failure}: {outcome.diagnostic}"
    return ""


def _accept(
    state: RunState, event: RecordedEvent, payload: p.ImplementationAdded | p.ImplementationReplaced
) -> RunState:
    new = payload.implementation
    judged = judge_origin(state, event, payload, _place(payload), "accepted", new)
    return _implementation_verdict(judged, event, payload)


def _place(
    payload: p.ImplementationProposed
    | p.ImplementationAdded
    | p.ImplementationReplaced
    | p.ImplementationRejected,
) -> tuple[OperatorId, int]:
    return payload.operator, payload.slot


@folds(p.ImplementationAdded)
def _implementation_added(state: RunState, event: RecordedEvent, payload: p.ImplementationAdded) -> RunState:
    state = _accept(state, event, payload)
    state = _set_pool(state, event, payload.operator, (payload.implementation, payload.source), None)
    return _with_gate_credits(state, payload.slot)


@folds(p.ImplementationReplaced)
def _implementation_replaced(
    state: RunState, event: RecordedEvent, payload: p.ImplementationReplaced
) -> RunState:
    state = _accept(state, event, payload)
    old, new, credits, shares = payload.removed, payload.implementation, state.credits, state.contributions
    state = _set_pool(state, event, payload.operator, (new, payload.source), old)
    if not payload.inherits_credits:
        return _with_gate_credits(state, payload.slot)
    if old in shares:
        shares = shares.set(new, shares[old])
    return replace(state, credits=credits.replace_implementation(old, new), contributions=shares)


@folds(p.ImplementationDeleted)
def _implementation_deleted(
    state: RunState, event: RecordedEvent, payload: p.ImplementationDeleted
) -> RunState:
    state = _implementation_verdict(state, event, payload)
    return _set_pool(state, event, payload.operator, None, payload.implementation)


@folds(p.ImplementationRejected)
def _implementation_rejected(
    state: RunState, event: RecordedEvent, payload: p.ImplementationRejected
) -> RunState:
    open_generation(state, event, payload.generation)
    diagnostic = f"{payload.stage}: {payload.diagnostic}"
    state = judge_origin(state, event, payload, _place(payload), "rejected", diagnostic=diagnostic)
    if not payload.is_final:
        return state
    return _implementation_verdict(_with_declined(state, event, payload), event, payload)


def _with_declined(state: RunState, event: RecordedEvent, payload: p.ImplementationRejected) -> RunState:
    """Note that a model would change nothing about an operator; from the second turn on it keeps its own."""
    generation = open_generation(state, event, payload.generation)
    basis = require(generation.basis, event, "the credits have not been updated")
    operator = payload.operator
    if payload.stage != "no_change" or payload.slot % basis.turns:
        return state
    new = Declined(payload.generation, basis.pools.get(operator, ()))
    return replace(state, declined=state.declined.set(operator, (*state.declined.get(operator, ()), new)))


def _edge_verdict(state: RunState, event: RecordedEvent, number: int, slot: int) -> RunState:
    generation = open_generation(state, event, number)
    _check_slot(generation, event, slot, is_edge=True)
    is_closed = slot in generation.edge_verdicts or slot in generation.asked_edges
    require(not is_closed, event, "the slot has its verdict")
    verdicts = generation.edge_verdicts.set(slot, event.seq)
    return replace(state, generation=replace(generation, edge_verdicts=verdicts))


@folds(p.EdgeReplaced)
def _edge_replaced(state: RunState, event: RecordedEvent, payload: p.EdgeReplaced) -> RunState:
    bought = tuple(">".join(edge) for edge in payload.added)
    state = judge(state, event, payload.call, "accepted", bought=bought)
    state = _edge_verdict(state, event, payload.generation, payload.slot)
    before = require(state.graph, event, "there is no graph yet")
    require(payload.removed or payload.added, event, "the edit is empty")
    nodes = {START, END, *before.operators}
    require(
        all(end in nodes for edge in payload.added for end in edge), event, "an edge leads out of the graph"
    )
    require(not any(s == END or t == START for s, t in payload.added), event, "an edge enters START")
    require(set(payload.removed) <= before.edges, event, "a removed edge is not in the graph")
    require(not set(payload.added) & before.edges, event, "an added edge is in the graph already")
    graph = before.edit(payload.removed, payload.added)
    require(graph.has_route(state.settings.max_length), event, "the last route would be cut")
    broken = structure_violation(graph.edges, state.settings.structure)
    require(broken is None, event, "the structure would be lost")
    return replace(state, graph=graph, graph_seq=event.seq, owed_trials=_edge_trials(state, payload))


def _edge_trials(state: RunState, edit: p.EdgeReplaced) -> tuple[OwedTrial, ...]:
    """Return the samples owed after an edit: those of its new edges are added, of removed ones dropped."""
    trials = [trial for trial in state.owed_trials if trial.edge is None or trial.edge not in edit.removed]
    if state.settings.trial_samples:
        left = state.settings.trial_samples
        trials += [OwedTrial(edit.generation, None, edge, left) for edge in edit.added]
    return tuple(sorted(trials, key=_trial_key))


@folds(p.EdgeRejected)
def _edge_rejected(state: RunState, event: RecordedEvent, payload: p.EdgeRejected) -> RunState:
    open_generation(state, event, payload.generation)
    state = judge(state, event, payload.call, "rejected", payload.reason)
    return _edge_verdict(state, event, payload.generation, payload.slot) if payload.is_final else state


@folds(p.EdgesKept)
def _edges_kept(state: RunState, event: RecordedEvent, payload: p.EdgesKept) -> RunState:
    return _edge_verdict(state, event, payload.generation, payload.slot)


@folds(p.LLMCallReserved)
def _call_reserved(state: RunState, event: RecordedEvent, payload: p.LLMCallReserved) -> RunState:
    ledger = state.ledger
    require(payload.call == ledger.used + 1, event, f"call {ledger.used + 1} is next, not {payload.call}")
    require(payload.call <= ledger.limit, event, f"the limit is {ledger.limit} calls")
    _check_room(ledger, event, payload)
    call = Call(
        number=payload.call,
        purpose=payload.purpose,
        agent=event.agent,
        generation=event.generation,
        subject=payload.subject,
        attempt=payload.attempt,
        model=payload.model,
        reserved_seq=event.seq,
        prompt=payload.prompt,
        reserved_tokens=payload.reserved_tokens,
        reserved_microusd=payload.reserved_microusd,
        choice=payload.choice,
        ticket=payload.ticket,
    )
    state = replace(state, ledger=ledger.reserve(call))
    return state if payload.ticket is None else _close_ticketed_slot(state, event, payload, payload.ticket)


def _close_ticketed_slot(
    state: RunState, event: RecordedEvent, payload: p.LLMCallReserved, ticket: p.Ticket
) -> RunState:
    """Close the slot of an edit whose answer a later generation takes."""
    generation = open_generation(state, event, event.generation or 0)
    is_edge, slot = payload.purpose == "connect", ticket.slot
    _check_slot(generation, event, slot, is_edge=is_edge)
    basis = require(generation.basis, event, "the credits have not been updated")
    require(basis.lag and ticket.lands == generation.number + basis.lag, event, "it lands elsewhere")
    taken = basis.landing_call(payload.purpose, slot)
    subject = f"{payload.purpose}/{generation.number}/{slot}"
    subject = subject if taken is None else state.ledger.calls[taken].subject
    require(payload.subject == subject, event, f"its slot is that of {subject}")
    if is_edge:
        require(slot == generation.closed_edges, event, f"slot {generation.closed_edges} is next")
        edges = generation.asked_edges.set(slot, event.seq)
        return replace(state, generation=replace(generation, asked_edges=edges))
    require(payload.purpose == "implement", event, "such an answer is waited for")
    require(not generation.is_closed(slot), event, "the slot has its verdict")
    asked = generation.asked_implementations.set(slot, event.seq)
    return replace(state, generation=replace(generation, asked_implementations=asked))


def _check_room(ledger: Ledger, event: RecordedEvent, payload: p.LLMCallReserved) -> None:
    require(payload.reserved_tokens >= 0 and payload.reserved_microusd >= 0, event, "a claim is negative")
    for limit, claimed, unit in (
        (ledger.token_limit, ledger.charged_tokens + payload.reserved_tokens, "tokens"),
        (ledger.microusd_limit, ledger.charged_microusd + payload.reserved_microusd, "µUSD"),
    ):
        require(limit is None or claimed <= limit, event, f"{claimed} {unit} claimed, the limit is {limit}")


def _open_call(state: RunState, event: RecordedEvent, number: int) -> Call:
    call = require(state.ledger.calls.get(number), event, f"call {number} was never reserved")
    require(call.status == "reserved", event, f"call {number} is {call.status} already")
    require(call.agent == event.agent, event, f"call {number} belongs to {call.agent}")
    return call


@folds(p.LLMCallSettled)
def _call_settled(state: RunState, event: RecordedEvent, payload: p.LLMCallSettled) -> RunState:
    reserved = _open_call(state, event, payload.call)
    require(
        payload.prompt_tokens >= 0
        and payload.completion_tokens >= 0
        and payload.tokens <= reserved.reserved_tokens,
        event,
        f"{payload.tokens} tokens used, {reserved.reserved_tokens} were reserved",
    )
    require(
        0 <= payload.microusd <= reserved.reserved_microusd,
        event,
        f"{payload.microusd} µUSD charged, {reserved.reserved_microusd} were reserved",
    )
    call = replace(
        reserved,
        status="settled",
        ended_seq=event.seq,
        response=payload.response,
        prompt_tokens=payload.prompt_tokens,
        completion_tokens=payload.completion_tokens,
        is_estimated=payload.is_estimated,
        cost_usd=payload.cost_usd,
        elapsed_s=payload.elapsed_s,
        refused_attempts=payload.refused_attempts,
        response_id=payload.response_id,
    )
    return replace(state, ledger=state.ledger.end(call))


@folds(p.LLMCallAbandoned)
def _call_abandoned(state: RunState, event: RecordedEvent, payload: p.LLMCallAbandoned) -> RunState:
    reserved = _open_call(state, event, payload.call)
    call = replace(reserved, status="abandoned", ended_seq=event.seq, reason=payload.reason)
    return replace(state, ledger=state.ledger.end(call))


@folds(p.LLMCallRefused)
def _call_refused(state: RunState, event: RecordedEvent, payload: p.LLMCallRefused) -> RunState:
    require(payload.subject not in state.ledger.refusals, event, "the subject was refused before")
    refused = RefusedCall(
        seq=event.seq,
        purpose=payload.purpose,
        agent=event.agent,
        generation=event.generation,
        subject=payload.subject,
        attempt=payload.attempt,
        limit=payload.limit,
        reason=payload.reason,
    )
    return replace(state, ledger=state.ledger.refuse(refused))


@folds(p.CallsSuspended)
def _calls_suspended(state: RunState, event: RecordedEvent, payload: p.CallsSuspended) -> RunState:
    return replace(state, suspension=payload.reason)


@folds(p.CallsResumed)
def _calls_resumed(state: RunState, event: RecordedEvent, payload: p.CallsResumed) -> RunState:
    return replace(state, suspension="")
