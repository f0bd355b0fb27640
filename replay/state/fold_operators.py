"""Fold handlers for new operators: proposed, measured by the gate, taken into the graph or refused."""

from __future__ import annotations

from dga2d.events import ImplementationId, OperatorId, RecordedEvent
from dga2d.events import payloads as p
from dga2d.replay.state.credit import Transition, TransitionRecord
from dga2d.replay.state.generation_state import GenerationState, Proposal
from dga2d.replay.state.graph import END, START, structure_violation
from dga2d.replay.state.handler import (
    Place,
    folds,
    judge_offer,
    judge_origin,
    open_generation,
    refuse,
    replace,
    require,
)
from dga2d.replay.state.run_state import OPERATOR_SLOT, RunState, TriedCode

NO_PARENT = ImplementationId("")
"""Parent of an operator's first implementation."""


def _require_operator_duty(state: RunState, event: RecordedEvent, number: int) -> GenerationState:
    """Return the open generation, which must owe a verdict on a new operator."""
    generation = open_generation(state, event, number)
    basis = require(generation.basis, event, "the credits have not been updated")
    require(basis.operator_slots, event, "no operator is asked for in this generation")
    require(not generation.operator_verdict, event, "the generation has its verdict on operators")
    require(generation.closed_slots == basis.slots, event, "other edits have no verdict yet")
    return generation


@folds(p.OperatorProposed)
def _operator_proposed(state: RunState, event: RecordedEvent, payload: p.OperatorProposed) -> RunState:
    generation, new = _require_operator_duty(state, event, payload.generation), payload.operator
    require(generation.operator_proposal is None, event, "the generation has its proposal")
    require(new not in (START, END, *state.operator_of.values()), event, f"{new} is known already")
    require(
        payload.implementation.startswith(f"{new}."), event, f"{payload.implementation} belongs elsewhere"
    )
    graph = require(state.graph, event, "there is no graph yet")
    nodes = {START, END, new, *graph.operators}
    sound = all(new in edge and set(edge) <= nodes and edge[0] != edge[1] for edge in payload.edges)
    require(payload.edges and sound, event, "an edge does not join it to the graph")
    require(not any(s == END or t == START for s, t in payload.edges), event, "an edge enters START")
    if payload.offer is not None:
        place = _place(state, event, payload)
        require(place[0] == new, event, f"entry {payload.offer} was written for {place[0]}")
        state = judge_offer(state, event, payload, place, payload.implementation)
    operator_of = state.operator_of.set(payload.implementation, new)
    steps = (*payload.program, *payload.extended)
    known = all(operator_of.get(step.implementation) == step.operator for step in steps)
    require(payload.program and known, event, "it is measured with an unknown implementation")
    train = {entry.key for entry in state.header.splits.train}
    is_sound = 0 < len(payload.instances) == len({*payload.instances} & train)
    require(is_sound, event, "an instance is not of the training split")
    proposal = Proposal(
        seq=event.seq,
        slot=payload.control - 1,
        call=payload.call,
        operator=new,
        implementation=payload.implementation,
        source=payload.source,
        parent=NO_PARENT,
        is_configuration=False,
        idea=payload.summary,
        program=payload.program,
        control=payload.control,
        instances=payload.instances,
        extended=payload.extended,
    )
    return replace(
        state,
        sources=state.sources.set(payload.implementation, payload.source),
        operator_of=operator_of,
        generation=replace(generation, operator_proposal=proposal, proposed_operator=payload),
    )


def _place(
    state: RunState,
    event: RecordedEvent,
    payload: p.OperatorProposed | p.OperatorAdded | p.OperatorRejected,
) -> Place:
    """Return where an entry of the bank stands that is offered as an operator of its own."""
    bank, entry = state.header.bank or (), payload.offer
    if entry is None:
        return OperatorId(""), OPERATOR_SLOT
    if not 0 <= entry < len(bank):
        refuse(event, f"the run's bank has no entry {entry}")
    return bank[entry].operator, OPERATOR_SLOT


def _record_trial(
    state: RunState, generation: GenerationState, gains: p.Gains, is_accepted: bool
) -> RunState:
    """Return the state with what the gate measured of the proposed operator, for the prompts to come."""
    proposal = generation.operator_proposal
    if proposal is None or not gains:
        return state
    tried = TriedCode(
        generation.number,
        -1,
        proposal.implementation,
        NO_PARENT,
        proposal.idea,
        gains,
        is_accepted,
        proposal.call,
    )
    operator = proposal.operator
    return replace(state, tried=state.tried.set(operator, (*state.tried.get(operator, ()), tried)))


def _with_verdict(state: RunState, event: RecordedEvent, generation: GenerationState) -> RunState:
    return replace(state, generation=replace(generation, operator_verdict=event.seq))


@folds(p.OperatorRetired)
def _operator_retired(state: RunState, event: RecordedEvent, payload: p.OperatorRetired) -> RunState:
    generation, old = _require_operator_duty(state, event, payload.generation), payload.operator
    require(generation.operator_proposal, event, "no operator is proposed in its place")
    graph = require(state.graph, event, "there is no graph yet")
    require(old in graph.operators, event, f"{old} is not in the graph")
    left, pool, credits = graph.without_operator(old), state.pools[old], state.credits
    require(left.has_route(state.settings.max_length), event, "the last route would be cut")
    for implementation in pool:
        credits = credits.without(implementation)
    trials = (t for t in state.owed_trials if t.implementation not in pool and old not in (t.edge or ()))
    return replace(
        state,
        graph=left,
        graph_seq=event.seq,
        pools=state.pools.delete(old),
        credits=credits,
        owed_trials=tuple(trials),
    )


@folds(p.OperatorAdded)
def _operator_added(state: RunState, event: RecordedEvent, payload: p.OperatorAdded) -> RunState:
    generation = _require_operator_duty(state, event, payload.generation)
    proposed = require(generation.proposed_operator, event, "no operator is proposed")
    is_it = (payload.operator, payload.implementation) == (proposed.operator, proposed.implementation)
    require(is_it, event, "another operator is proposed")
    require(payload.gains, event, "nothing was measured")
    place = _place(state, event, payload)
    state = judge_origin(state, event, payload, place, "accepted", payload.implementation)
    before, longest = require(state.graph, event, "there is no graph yet"), state.settings.max_length
    room = max(state.settings.operator_limit, len(before.operators))
    require(len(before.operators) < room, event, f"the graph has {room} operators already")
    edges = [
        edge for edge in proposed.edges if set(edge) <= {START, END, payload.operator, *before.operators}
    ]
    graph = before.with_operator(payload.operator, proposed.requires == "none", edges)
    require(payload.operator in graph.on_walks(longest), event, "no walk passes the operator")
    broken = structure_violation(graph.edges, state.settings.structure)
    require(broken is None, event, "the structure would be lost")
    credits = state.credits.update(
        (Transition(t.source, t.target), TransitionRecord(t.credit, t.activations)) for t in payload.credits
    )
    state = replace(
        _record_trial(state, generation, payload.gains, True),
        graph=graph,
        graph_seq=event.seq,
        pools=state.pools.set(payload.operator, (payload.implementation,)),
        credits=credits,
        operators=state.operators.set(payload.operator, proposed),
    )
    return _with_verdict(state, event, generation)


@folds(p.OperatorRejected)
def _operator_rejected(state: RunState, event: RecordedEvent, payload: p.OperatorRejected) -> RunState:
    generation = _require_operator_duty(state, event, payload.generation)
    place, diagnostic = _place(state, event, payload), f"{payload.stage}: {payload.diagnostic}"
    state = judge_origin(state, event, payload, place, "rejected", diagnostic=diagnostic)
    state = _record_trial(state, generation, payload.gains, False)
    return _with_verdict(state, event, generation) if payload.is_final else state


@folds(p.OperatorsKept)
def _operators_kept(state: RunState, event: RecordedEvent, payload: p.OperatorsKept) -> RunState:
    return _with_verdict(state, event, _require_operator_duty(state, event, payload.generation))
