"""Fold handlers for edits of implementations and edges, and for the calls that paid for them."""

from __future__ import annotations

from dga2d.events import BlobDigest, ImplementationId, OperatorId, RecordedEvent
from dga2d.events import payloads as p
from dga2d.replay.state.credit import CreditTable
from dga2d.replay.state.graph import END, START, structure_violation
from dga2d.replay.state.handler import folds, judge, open_generation, replace, require
from dga2d.replay.state.ledger import Call, Ledger, RefusedCall
from dga2d.replay.state.run_state import GenerationState, RunState


@folds(p.ImplementationsKept)
def _implementation_verdict(state: RunState, event: RecordedEvent, payload: p.ImplementationEdit) -> RunState:
    generation = open_generation(state, event, payload.generation)
    _check_slot(generation, event, payload.slot)
    require(payload.slot not in generation.implementation_verdicts, event, "the slot has its verdict")
    verdicts = generation.implementation_verdicts.set(payload.slot, event.seq)
    return replace(state, generation=replace(generation, implementation_verdicts=verdicts))


def _check_slot(generation: GenerationState, event: RecordedEvent, slot: int) -> None:
    basis = require(generation.basis, event, "the credits have not been updated")
    require(0 <= slot < basis.edits, event, f"there is no slot {slot}")


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
    return replace(
        state,
        pools=state.pools.set(operator, pool),
        credits=credits,
        sources=sources,
        operator_of=operator_of,
    )


@folds(p.ImplementationAdded)
def _implementation_added(state: RunState, event: RecordedEvent, payload: p.ImplementationAdded) -> RunState:
    state = _implementation_verdict(judge(state, event, payload.call, "accepted"), event, payload)
    return _set_pool(state, event, payload.operator, (payload.implementation, payload.source), None)


@folds(p.ImplementationReplaced)
def _implementation_replaced(
    state: RunState, event: RecordedEvent, payload: p.ImplementationReplaced
) -> RunState:
    state = _implementation_verdict(judge(state, event, payload.call, "accepted"), event, payload)
    added = (payload.implementation, payload.source)
    return _set_pool(state, event, payload.operator, added, payload.removed)


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
    state = judge(state, event, payload.call, "rejected", diagnostic)
    return _implementation_verdict(state, event, payload) if payload.is_final else state


def _edge_verdict(state: RunState, event: RecordedEvent, number: int, slot: int) -> RunState:
    generation = open_generation(state, event, number)
    _check_slot(generation, event, slot)
    require(slot not in generation.edge_verdicts, event, "the slot has its verdict")
    verdicts = generation.edge_verdicts.set(slot, event.seq)
    return replace(state, generation=replace(generation, edge_verdicts=verdicts))


@folds(p.EdgeReplaced)
def _edge_replaced(state: RunState, event: RecordedEvent, payload: p.EdgeReplaced) -> RunState:
    state = judge(state, event, payload.call, "accepted")
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
    return replace(state, graph=graph, graph_seq=event.seq)


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
    )
    return replace(state, ledger=ledger.reserve(call))


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
