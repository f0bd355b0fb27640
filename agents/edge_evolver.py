"""EdgeEvolver: exchanges the lowest-credit edges of the graph.

References
----------
DGA2D paper, Section 3.5, Eqs. 13–14, and Algorithm 2, lines 18–25.
"""

from __future__ import annotations

from collections.abc import Sequence

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
from dga2d.agents.ports import BlobSource, EventAppender
from dga2d.agents.proposing import (
    ConnectTask,
    EdgeCredit,
    LanguageModel,
    PromptContext,
    ProposalError,
    addable_edges,
    improvement_summary,
    parse_edges,
)
from dga2d.agents.proposing.graph_answers import EdgeEdit, check_edit
from dga2d.events import AgentName
from dga2d.events.payloads import Edge, EdgeRejected, EdgeReplaced, EdgesKept, Payload
from dga2d.replay.state.graph import END
from dga2d.replay.state.run_state import EvolutionBasis, RunState

NO_CHANGE = "empty: the answer changes nothing, so all edges stay"


def removable_edge(basis: EvolutionBasis, slot: int, epsilon: float) -> tuple[Edge, float] | None:
    """The `slot`-th lowest-credit edge and its credit, ties to the smaller edge; ``None`` beyond the last.

    Edges into ``END`` carry no transitions and are never removed for credit.
    """
    ranked = sorted(
        (basis.credits.edge_credit(edge, basis.pools, epsilon), edge)
        for edge in basis.graph.edges
        if edge[1] != END
    )
    if slot >= len(ranked):
        return None
    credit, edge = ranked[slot]
    return edge, credit


def edge_subject(generation: int, slot: int) -> str:
    """How the ledger names the calls for a slot."""
    return f"connect/{generation}/{slot}"


def edge_allowance(state: RunState, slot: int) -> int:
    """Most calls for a slot."""
    basis = open_basis(state)[1]
    return slot_allowance(basis.calls_left, basis.edits, state.settings.attempts_per_edit, slot, is_edge=True)


def edge_duty(state: RunState, slot: int, context: PromptContext) -> Duty | None:
    """What is owed towards the verdict of a slot, the slots before having theirs; ``None`` while an answer
    is awaited. No call is spent where no valid edit exists.
    """
    generation, basis = open_basis(state)
    cause = generation.edge_verdicts[slot - 1] if slot else basis.seq
    reason = _reason_to_keep(state, basis, slot)
    if reason is not None:
        return _keep(generation.number, slot, cause, reason)
    subject = edge_subject(generation.number, slot)
    step = next_call(state, subject, cause, state.settings.attempts_per_edit, edge_allowance(state, slot))
    if isinstance(step, GiveUp):
        return _keep(generation.number, slot, step.caused_by, step.reason)
    if step is None:
        return None
    kind, number = step.subject
    if kind == "ask" and number == 0 and not an_edit_exists(connect_task(state, slot, 0, context)):
        return _keep(generation.number, slot, cause, "no valid edit exists")
    return Duty(f"{subject}:{step.key}", step.caused_by, (kind, slot, number))


def _reason_to_keep(state: RunState, basis: EvolutionBasis, slot: int) -> str | None:
    assert state.graph is not None
    if state.settings.structure == "fixed":
        return "the structure is fixed"
    lowest = removable_edge(basis, slot, state.settings.epsilon)
    if lowest is None:
        return "no further edge"
    if lowest[1] >= 0:
        return "no edge has negative credit"
    if lowest[0] not in state.graph.edges:
        return "an edit before took the edge out already"
    return None


def _keep(number: int, slot: int, caused_by: int, reason: str) -> Duty:
    return Duty(f"keep/{number}/{slot}", caused_by, ("keep", slot, reason))


def an_edit_exists(task: ConnectTask) -> bool:
    """Whether some answer to the task would be valid and change the graph."""
    if addable_edges(task):
        return True
    if task.mode == "replace" or task.remove is None:
        return False
    return check_edit(EdgeEdit(task, task.graph, (task.remove,), ())) is None


def connect_task(
    state: RunState, slot: int, attempt: int, context: PromptContext, refusal: Refusal | None = None
) -> ConnectTask:
    """What a proposer is asked for a slot with a removable edge: the graph as earlier slots left it."""
    assert state.graph is not None
    generation, basis = open_basis(state)
    epsilon = state.settings.epsilon
    lowest = removable_edge(basis, slot, epsilon)
    assert lowest is not None
    refusal = refusal or Refusal()
    return ConnectTask(
        card=context.card,
        operators=tuple(context.contracts[o] for o in state.graph.operators),
        edges=tuple(
            EdgeCredit(edge, basis.credits.edge_credit(edge, basis.pools, epsilon))
            for edge in sorted(state.graph.edges)
        ),
        remove=lowest[0],
        mode=state.settings.edge_edit,
        max_length=state.settings.max_length,
        summary=improvement_summary(state, generation),
        diagnostic=refusal.diagnostic,
        attempt=attempt,
        previous=refusal.previous,
        structure=state.settings.structure,
    )


def edge_verdict(state: RunState, task: ConnectTask, slot: int, number: int, answer: str) -> Payload:
    """The decision about a proposed edge edit.

    A delta may be empty: then all edges stay, and the rejection is final, since nothing is to be repaired.
    """
    assert state.graph is not None
    generation, attempt = open_basis(state)[0].number, state.ledger.calls[number].attempt
    most = min(state.settings.attempts_per_edit, edge_allowance(state, slot))

    def rejected(reason: str, is_final: bool) -> EdgeRejected:
        return EdgeRejected(
            generation=generation, slot=slot, call=number, attempt=attempt, reason=reason, is_final=is_final
        )

    try:
        removed, added = parse_edges(answer, task, state.graph)
    except ProposalError as error:
        return rejected(f"{error.stage}: {error.diagnostic}", attempt + 1 >= most)
    if not removed and not added:
        return rejected(NO_CHANGE, is_final=True)
    return EdgeReplaced(
        generation=generation, slot=slot, removed=tuple(removed), added=tuple(added), call=number
    )


class EdgeEvolver(SlotEvolver[ConnectTask]):
    """Owns the edges of the graph. Slots are treated one after the other: each sees the edges of the last."""

    name: AgentName = "edge_evolver"

    def __init__(
        self, log: EventAppender, source: BlobSource, model: LanguageModel, context: PromptContext
    ) -> None:
        super().__init__(log, source, CallDesk(self.name, "connect", log, model), context)

    def duties(self, state: RunState) -> Sequence[Duty]:
        generation = state.generation
        if state.status != "running" or generation is None or generation.basis is None:
            return ()
        slot = len(generation.edge_verdicts)
        if slot >= generation.basis.edits:
            return ()
        duty = edge_duty(state, slot, self._context)
        return () if duty is None else (duty,)

    def _subject(self, number: int, slot: int) -> str:
        return edge_subject(number, slot)

    async def _task(self, state: RunState, slot: int, attempt: int) -> ConnectTask:
        refusal = await self._last_refusal(state, slot, attempt)
        return connect_task(state, slot, attempt, self._context, refusal)

    async def _judge(self, state: RunState, slot: int, number: int, caused_by: int) -> None:
        call = state.ledger.calls[number]
        task = await self._task(state, slot, call.attempt)
        verdict = edge_verdict(state, task, slot, number, await answer_of(call, self._source))
        await self._append(state, verdict, caused_by)

    def _closing(self, state: RunState, kind: str, slot: int, reason: str = "") -> Payload:
        return EdgesKept(generation=open_basis(state)[0].number, slot=slot, reason=reason)
