"""EdgeEvolver: exchanges the lowest-credit edges of the graph.

References
----------
DGA2D paper, Section 3.5, Eqs. 13–14, and Algorithm 2, lines 18–25.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from dga2d.agents import calls
from dga2d.agents.agent import Decision, Duty, decide_on, open_basis, present_graph
from dga2d.agents.calls import STALE, AbandonCall, AskModel, GiveUp, JudgeAnswer, Judged, NoRoom, Quoted
from dga2d.agents.evolver import Evolver
from dga2d.agents.ports import BlobSource
from dga2d.agents.prompt_facts import edge_facts
from dga2d.agents.proposing import tasks
from dga2d.agents.proposing.errors import ProposalError
from dga2d.agents.proposing.graph_answers import EdgeEdit, addable_edges, check_edit, parse_edges
from dga2d.events import AgentName, Payload
from dga2d.events.payloads import Edge, EdgeRejected, EdgeReplaced, EdgesKept, Ticket
from dga2d.replay.state.generation_state import EvolutionBasis
from dga2d.replay.state.graph import END, OperatorGraph
from dga2d.replay.state.run_state import RunState

NO_CHANGE = "empty: the answer changes nothing, so all edges stay"


@dataclass(frozen=True)
class KeepEdges(Duty):
    """Record that all edges stay, without an answer of the model."""

    generation: int
    slot: int
    reason: str = field(compare=False)


EdgeDuty = AskModel | JudgeAnswer | AbandonCall | KeepEdges


JudgedEdges = Judged[tasks.ConnectTask]


class EdgeEvolver(Evolver[EdgeDuty]):
    """Owns the edges of the graph. Slots are treated one after the other: each sees the edges of the last."""

    name: AgentName = "edge_evolver"

    def duties(self, state: RunState) -> Sequence[EdgeDuty]:
        return duties(state, self._context)

    async def _task(self, state: RunState, duty: AskModel) -> tasks.ConnectTask:
        return await read_task(state, duty.slot, duty.attempt, self._context, self._trials.sources.blobs)

    async def _decision(self, state: RunState, duty: EdgeDuty) -> Decision:
        judged = await self._judge_answer(state, duty) if isinstance(duty, JudgeAnswer) else None
        return decide(state, duty, judged)

    async def _judge_answer(self, state: RunState, duty: JudgeAnswer) -> JudgedEdges:
        answer = await read_judged(state, duty, self._context, self._trials.sources.blobs)
        if not state.settings.edge_smoke:
            return answer
        try:
            removed, added = parse_proposal(state, duty.call, answer)
        except ProposalError:
            return answer
        edited = present_graph(state).edit(removed, added)
        return answer._replace(trial=await self._trials.find_edge_failure(state, edited, added))


def duties(state: RunState, context: tasks.PromptContext) -> tuple[EdgeDuty, ...]:
    """Return what is owed towards the verdict of the first slot that has none.

    No call is spent where no valid edit exists.
    """
    generation = state.generation
    if state.status != "running" or generation is None or generation.basis is None:
        return ()
    number, basis, slot = generation.number, generation.basis, generation.closed_edges
    if slot >= basis.edge_slots:
        return ()
    closed = {**generation.edge_verdicts, **generation.asked_edges}
    cause = closed[slot - 1] if slot else basis.seq
    takes = basis.landing_call("connect", slot) is not None
    if not takes and (reason := _reason_to_keep(state, slot)) is not None:
        return (KeepEdges(cause, number, slot, reason),)
    step = calls.next_call(state, "connect", slot, cause, calls.allowance(state, "connect", slot))
    if step is None:
        return ()
    if isinstance(step, GiveUp):
        return (KeepEdges(step.caused_by, number, slot, step.reason),)
    if isinstance(step, AskModel):
        return (_question(state, step, context, checks=takes or step.attempt == 0),)
    return (step,)


def _question(state: RunState, ask: AskModel, context: tasks.PromptContext, *, checks: bool) -> EdgeDuty:
    """Return a question with what its answer is for; with `checks`, that the edges stay where no answer could
    be of use."""
    (generation, basis), slot = open_basis(state), ask.slot
    reason = _reason_to_keep(state, slot) if checks else None
    if (
        checks
        and reason is None
        and not an_edit_exists(connect_task(state, slot, context, tasks.PastAttempts()))
    ):
        reason = "no valid edit exists"
    if reason is not None:
        return KeepEdges(ask.caused_by, generation.number, slot, reason)
    if not basis.lag:
        return ask
    lowest, lands = _lowest_edge(state, slot), generation.number + basis.lag
    edge = None if lowest is None else lowest[0]
    return replace(ask, ticket=Ticket(slot=slot, lands=lands, operator=None, parent=None, edge=edge))


def _reason_to_keep(state: RunState, slot: int) -> str | None:
    longest = state.settings.max_length
    if state.settings.structure == "fixed":
        return "the structure is fixed"
    lowest = _lowest_edge(state, slot)
    if lowest is None:
        return "no further edge"
    if lowest[1] >= 0:
        return "no edge has negative credit"
    if lowest[0] not in _asked_graph(state).edges:
        return "an edit before took the edge out already"
    if state.settings.edit_scope == "walks" and is_last_way(_asked_graph(state), lowest[0], longest):
        return "an edit before left the edge as an operator's last way in or out"
    return None


def _asked_graph(state: RunState) -> OperatorGraph:
    """Return the graph on which edges are asked for: the present one, where answers are taken at once."""
    basis = open_basis(state)[1]
    return basis.graph if basis.lag else present_graph(state)


def _edge_of_ticket(state: RunState, slot: int) -> Edge | None:
    """Return the edge for which the answer was asked that a slot takes; ``None`` where it takes none."""
    call = open_basis(state)[1].landing_call("connect", slot)
    ticket = None if call is None else state.ledger.calls[call].ticket
    return None if ticket is None else ticket.edge


def _edges_under_way(state: RunState) -> set[Edge | None]:
    """Return the edges for whose exchange earlier generations asked and whose answers were not taken
    before."""
    generation, basis = open_basis(state)
    flying = (state.ledger.calls[n] for n in (*state.ledger.in_flight, *basis.landing_edges))
    return {c.ticket.edge for c in flying if c.ticket is not None and c.generation != generation.number}


def _lowest_edge(state: RunState, slot: int) -> tuple[Edge, float] | None:
    """Return the `slot`-th lowest-credit edge of those that may be judged now, and its credit; for a slot
    that takes an answer, the edge that it was asked for."""
    (generation, basis), settings = open_basis(state), state.settings
    if (edge := _edge_of_ticket(state, slot)) is not None:
        return edge, basis.credits.edge_credit(edge, basis.pools, settings.epsilon)
    graph, longest, pools = basis.graph, settings.max_length, basis.pools
    waiting = {t.edge for t in state.owed_trials if t.generation < generation.number}
    waiting |= _edges_under_way(state)

    def is_judged(edge: Edge) -> bool:
        if edge in waiting or basis.credits.edge_samples(edge, pools) < settings.min_samples:
            return False
        if settings.edit_scope == "graph":
            return True
        return graph.is_on_walk(edge, longest) and not is_last_way(graph, edge, longest)

    return removable_edge(basis, slot, settings.epsilon, is_judged)


def _why(state: RunState, slot: int) -> str:
    """Return what sets the edge of a slot apart from all others, as a sentence goes on."""
    settings = state.settings
    among = ["that do not lead to END"]
    if settings.min_samples:
        among.append(f"that at least {settings.min_samples} samples went along")
    if settings.trial_samples:
        among.append("that are not still being tried")
    if settings.edit_scope == "walks":
        among.append("that lie on a walk and that no operator needs to stay on one")
    if not slot:
        return f"of the edges {', '.join(among)}, it has the lowest credit"
    began = "of the edges with which this generation began"
    return f"{began} and {', '.join(among)}, at most {slot} had a lower credit"


def is_last_way(graph: OperatorGraph, edge: Edge, longest: int) -> bool:
    """Return whether some operator would be on no walk of at most `longest` operators without `edge`."""
    return graph.edit((edge,), ()).on_walks(longest) != graph.on_walks(longest)


def decide(state: RunState, duty: EdgeDuty, observed: JudgedEdges | Quoted | NoRoom | None) -> Decision:
    """Return the verdict on an answer, that the edges stay, or what the ledger records of a call."""
    match duty, observed:
        case AskModel() | AbandonCall(), Quoted() | NoRoom() | None:
            return calls.decide(state, duty, observed)
        case JudgeAnswer(), Judged():
            payload = _verdict(state, duty, observed)
        case KeepEdges(), None:
            payload = EdgesKept(generation=duty.generation, slot=duty.slot, reason=duty.reason)
        case _:
            raise TypeError(f"{duty} is not decided by {type(observed).__name__}")
    return decide_on("edge_evolver", state, duty, payload)


def _verdict(state: RunState, duty: JudgeAnswer, observed: JudgedEdges) -> Payload:
    """Return the verdict on a proposed edit.

    It may be empty where that is allowed: then all edges stay, and the rejection is final, since nothing is
    to be repaired.
    """
    generation, attempt = open_basis(state)[0].number, state.ledger.calls[duty.call].attempt
    slot, call = duty.slot, duty.call
    try:
        removed, added = parse_proposal(state, call, observed)
        if observed.trial is not None:
            raise observed.trial
    except ProposalError as error:
        is_last = calls.is_last_attempt(state, "connect", slot, attempt)
        reason, is_final = str(error), is_last or error.stage == STALE
    else:
        if removed or added:
            return EdgeReplaced(generation=generation, slot=slot, removed=removed, added=added, call=call)
        reason, is_final = NO_CHANGE, True
    return EdgeRejected(
        generation=generation, slot=slot, call=call, attempt=attempt, reason=reason, is_final=is_final
    )


def parse_proposal(
    state: RunState, call: int, answer: JudgedEdges
) -> tuple[tuple[Edge, ...], tuple[Edge, ...]]:
    """Return the removed and the added edges of an answer, judged on the present graph.

    Raises
    ------
    ProposalError
        As `parse_edges`, on the graph that the call was asked on. ``stale``: it broke no rule there, and does
        on the present one.
    """
    graph, asked = present_graph(state), state.ledger.calls[call]
    if asked.ticket is None:
        return parse_edges(answer.text, answer.task, graph)
    parse_edges(answer.text, answer.task, answer.task.graph)
    try:
        return parse_edges(answer.text, answer.task, graph)
    except ProposalError as error:
        raise ProposalError(STALE, error.diagnostic) from None


def removable_edge(
    basis: EvolutionBasis, slot: int, epsilon: float, is_judged: Callable[[Edge], bool] = lambda edge: True
) -> tuple[Edge, float] | None:
    """Return the `slot`-th lowest-credit edge that is judged and its credit; ``None`` beyond the last.

    Of edges with equal credit the smaller comes first. Edges into ``END`` carry no transitions and are never
    removed for credit.
    """
    ranked = sorted(
        (basis.credits.edge_credit(edge, basis.pools, epsilon), edge)
        for edge in basis.graph.edges
        if edge[1] != END and is_judged(edge)
    )
    if slot >= len(ranked):
        return None
    credit, edge = ranked[slot]
    return edge, credit


def an_edit_exists(task: tasks.ConnectTask) -> bool:
    """Return whether some answer to the task would be valid and change the graph."""
    if addable_edges(task):
        return True
    if task.mode == "replace" or task.remove is None:
        return False
    return check_edit(EdgeEdit(task, task.graph, (task.remove,), ())) is None


async def read_judged(
    state: RunState, duty: JudgeAnswer, context: tasks.PromptContext, blobs: BlobSource
) -> JudgedEdges:
    """Return what the log holds of an answer."""
    call, past = state.ledger.calls[duty.call], tasks.PastAttempts()
    graph = present_graph(state)
    if call.ticket is not None and call.generation is not None:
        graph = state.bases[call.generation].graph
    task = connect_task(state, duty.slot, context, past, graph)
    return JudgedEdges(task, await calls.read_answer(call, blobs))


async def read_task(
    state: RunState, slot: int, attempt: int, context: tasks.PromptContext, blobs: BlobSource
) -> tasks.ConnectTask:
    """Return what a proposer is asked for a slot, with what was wrong with the answer before."""
    past = await calls.read_past_attempts(state, "connect", slot, attempt, blobs)
    return connect_task(state, slot, context, past)


def connect_task(
    state: RunState,
    slot: int,
    context: tasks.PromptContext,
    past: tasks.PastAttempts,
    graph: OperatorGraph | None = None,
) -> tasks.ConnectTask:
    """Return what a proposer is asked for a slot: on a given graph, or on the one that earlier slots left."""
    graph, (generation, basis) = graph or _asked_graph(state), open_basis(state)
    epsilon = state.settings.epsilon
    lowest, contracts = _lowest_edge(state, slot), tasks.known_contracts(state, context)
    return tasks.ConnectTask(
        card=context.card,
        operators=tuple(contracts[o] for o in graph.operators),
        edges=tuple(
            tasks.EdgeCredit(
                edge,
                basis.credits.edge_credit(edge, basis.pools, epsilon),
                basis.credits.edge_samples(edge, basis.pools),
                basis.credits.edge_error(edge, basis.pools, state.settings.credit_rate),
            )
            for edge in sorted(graph.edges)
        ),
        remove=None if lowest is None else lowest[0],
        mode=state.settings.edge_edit,
        max_length=state.settings.max_length,
        summary=tasks.improvement_summary(state, generation),
        structure=state.settings.structure,
        allows_no_change=state.settings.no_change,
        keeps_reach=state.settings.edit_scope == "walks",
        edition=state.settings.prompt_edition,
        chosen_for=_why(state, slot),
        facts=edge_facts(state) if state.settings.prompt_edition >= 3 else None,
        **vars(past),
    )
