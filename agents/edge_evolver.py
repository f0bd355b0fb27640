"""EdgeEvolver: exchanges the lowest-credit edges of the graph (DGA2D paper, Algorithm 2)."""

from __future__ import annotations

from collections.abc import Sequence

from dga2d.agents.agent import Duty
from dga2d.agents.briefing import DomainBriefing
from dga2d.agents.calls import CallDesk, answer_of
from dga2d.agents.edge_edits import connect_task, edge_duty, edge_subject, edge_verdict
from dga2d.agents.implementation_edits import open_basis
from dga2d.agents.ports import BlobSource, EventAppender
from dga2d.agents.proposing import ConnectTask, LanguageModel
from dga2d.agents.slot_evolver import SlotEvolver
from dga2d.events import AgentName
from dga2d.events.payloads import EdgesKept, Payload
from dga2d.replay.state.run_state import RunState


class EdgeEvolver(SlotEvolver[ConnectTask]):
    """Owns the edges of the graph. Slots are treated one after the other: each sees the edges of the last."""

    name: AgentName = "edge_evolver"

    def __init__(
        self, log: EventAppender, source: BlobSource, model: LanguageModel, briefing: DomainBriefing
    ) -> None:
        super().__init__(log, source, CallDesk(self.name, "connect", log, model), briefing)

    def duties(self, state: RunState) -> Sequence[Duty]:
        generation = state.generation
        if state.status != "running" or generation is None or generation.basis is None:
            return ()
        slot = len(generation.edge_verdicts)
        if slot >= generation.basis.edits:
            return ()
        duty = edge_duty(state, slot, self._briefing)
        return () if duty is None else (duty,)

    def _subject(self, number: int, slot: int) -> str:
        return edge_subject(number, slot)

    async def _task(self, state: RunState, slot: int, attempt: int) -> ConnectTask:
        refusal = await self._last_refusal(state, slot, attempt)
        return connect_task(state, slot, attempt, self._briefing, refusal)

    async def _judge(self, state: RunState, slot: int, number: int, caused_by: int) -> None:
        call = state.ledger.calls[number]
        task = await self._task(state, slot, call.attempt)
        verdict = edge_verdict(state, task, slot, number, await answer_of(call, self._source))
        await self._append(state, verdict, caused_by)

    def _closing(self, state: RunState, kind: str, slot: int, reason: str = "") -> Payload:
        return EdgesKept(generation=open_basis(state)[0].number, slot=slot, reason=reason)
