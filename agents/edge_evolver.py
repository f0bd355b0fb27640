"""EdgeEvolver: exchanges the lowest-credit edges of the graph (DGA2D paper, Eqs. 13–14, Algorithm 2)."""

from __future__ import annotations

from collections.abc import Sequence

from dga2d.agents.agent import Duty
from dga2d.agents.briefing import DomainBriefing, improvement_summary
from dga2d.agents.calls import CallDesk, GiveUp, calls_made, next_call, share_of_calls
from dga2d.agents.ports import EventAppender, EventSource
from dga2d.agents.proposing import (
    ConnectTask,
    EdgeCredit,
    LanguageModel,
    ProposalError,
    parse_edges,
    render,
)
from dga2d.events import Draft
from dga2d.events.ownership import AgentName
from dga2d.events.payloads import Edge, EdgeRejected, EdgeReplaced, EdgesKept, Payload
from dga2d.replay.state.graph import END
from dga2d.replay.state.run_state import EvolutionBasis, RunState
from dga2d.replay.streams import spawn_key


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


class EdgeEvolver:
    """Owns the edges of the graph. Slots are treated one after the other: each sees the edges of the last."""

    name: AgentName = "edge_evolver"

    def __init__(
        self, log: EventAppender, source: EventSource, model: LanguageModel, briefing: DomainBriefing
    ) -> None:
        self._log = log
        self._source = source
        self._desk = CallDesk(self.name, "connect", log, model)
        self._briefing = briefing

    def duties(self, state: RunState) -> Sequence[Duty]:
        generation = state.generation
        if state.status != "running" or generation is None or generation.basis is None:
            return ()
        if not state.settings.evolution:
            return ()
        slot = len(generation.edge_verdicts)
        if slot >= state.settings.edits_per_generation:
            return ()
        duty = self._slot_duty(state, generation.basis, slot)
        return () if duty is None else (duty,)

    def _slot_duty(self, state: RunState, basis: EvolutionBasis, slot: int) -> Duty | None:
        assert state.generation is not None
        number = state.generation.number
        cause = max(basis.seq, state.graph_seq)
        lowest = removable_edge(basis, slot, state.settings.epsilon)
        if lowest is None or lowest[1] >= 0:
            reason = "no further edge" if lowest is None else "no edge has negative credit"
            return Duty(f"keep/{number}/{slot}", cause, ("keep", slot, reason))
        subject = f"connect/{number}/{slot}"
        attempts = state.settings.attempts_per_edit
        step = next_call(state, subject, cause, attempts, _allowance(state, basis))
        if isinstance(step, GiveUp):
            return Duty(f"give-up/{subject}", step.caused_by, ("keep", slot, step.reason))
        if step is None:
            return None
        return Duty(f"{subject}:{step.key}", step.caused_by, (step.subject[0], slot, *step.subject[1:]))

    async def perform(self, duty: Duty, state: RunState) -> None:
        assert state.generation is not None
        basis = state.generation.basis
        assert basis is not None
        kind, slot = duty.subject[0], int(duty.subject[1])
        if kind == "keep":
            kept = EdgesKept(generation=state.generation.number, slot=slot, reason=str(duty.subject[2]))
            await self._append(state, kept, duty.caused_by)
        elif kind == "abandon":
            await self._desk.abandon(state, int(duty.subject[2]), duty.caused_by)
        else:
            work = self._ask if kind == "ask" else self._judge
            await work(state, basis, slot, int(duty.subject[2]), duty.caused_by)

    async def _ask(
        self, state: RunState, basis: EvolutionBasis, slot: int, attempt: int, caused_by: int
    ) -> None:
        assert state.generation is not None
        number = state.generation.number
        subject = f"connect/{number}/{slot}"
        task = self._task(state, basis, slot, attempt, subject)
        seed = (state.header.seed, *spawn_key("proposal", 2, number, slot, attempt))
        await self._desk.ask(state, subject, attempt, render(task), task, seed, caused_by)

    def _task(
        self, state: RunState, basis: EvolutionBasis, slot: int, attempt: int, subject: str
    ) -> ConnectTask:
        assert state.graph is not None
        assert state.generation is not None
        epsilon = state.settings.epsilon
        lowest = removable_edge(basis, slot, epsilon)
        assert lowest is not None
        calls = state.ledger.calls_for(subject)
        return ConnectTask(
            card=self._briefing.card,
            operators=tuple(self._briefing.contracts[o] for o in state.graph.operators),
            edges=tuple(
                EdgeCredit(edge, basis.credits.edge_credit(edge, basis.pools, epsilon))
                for edge in sorted(state.graph.edges)
            ),
            remove=lowest[0],
            mode=state.settings.edge_edit,
            max_length=state.settings.max_length,
            summary=improvement_summary(state, state.generation),
            diagnostic=calls[-1].diagnostic if calls else None,
            attempt=attempt,
        )

    async def _judge(
        self, state: RunState, basis: EvolutionBasis, slot: int, number: int, caused_by: int
    ) -> None:
        call = state.ledger.calls[number]
        assert call.response is not None
        answer = (await self._source.get_blob(call.response)).decode()
        task = self._task(state, basis, slot, call.attempt, call.subject)
        await self._append(
            state, edge_verdict(state, task, slot, number, answer, _allowance(state, basis)), caused_by
        )

    async def _append(self, state: RunState, payload: Payload, caused_by: int) -> None:
        assert state.generation is not None
        await self._log.append([Draft(self.name, payload, state.generation.number, caused_by)])


def edge_verdict(
    state: RunState, task: ConnectTask, slot: int, number: int, answer: str, calls_left: int
) -> Payload:
    """The decision about a proposed edge edit."""
    assert state.generation is not None
    assert state.graph is not None
    generation, attempt = state.generation.number, state.ledger.calls[number].attempt
    try:
        removed, added = parse_edges(answer, task, state.graph)
    except ProposalError as error:
        return EdgeRejected(
            generation=generation,
            slot=slot,
            call=number,
            attempt=attempt,
            reason=f"{error.stage}: {error.diagnostic}",
            is_final=attempt + 1 >= state.settings.attempts_per_edit or calls_left <= 0,
        )
    return EdgeReplaced(
        generation=generation, slot=slot, removed=tuple(removed), added=tuple(added), call=number
    )


def _allowance(state: RunState, basis: EvolutionBasis) -> int:
    assert state.generation is not None
    settings = state.settings
    share = share_of_calls(
        basis.calls_left, settings.edits_per_generation, settings.attempts_per_edit, is_edge=True
    )
    return share - calls_made(state, "edge_evolver", state.generation.number)
