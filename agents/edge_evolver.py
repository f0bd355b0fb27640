"""EdgeEvolver: exchanges the lowest-credit edges of the graph (DGA2D paper, Algorithm 2)."""

from __future__ import annotations

from collections.abc import Sequence

from dga2d.agents.agent import Duty
from dga2d.agents.briefing import DomainBriefing
from dga2d.agents.calls import CallDesk, answer_of, last_refusal
from dga2d.agents.edge_edits import connect_task, edge_duty, edge_subject, edge_verdict
from dga2d.agents.implementation_edits import open_basis
from dga2d.agents.ports import BlobSource, EventAppender
from dga2d.agents.proposing import ConnectTask, LanguageModel, render
from dga2d.events import Draft
from dga2d.events.ownership import AgentName
from dga2d.events.payloads import EdgesKept, Payload
from dga2d.replay.state.run_state import RunState


class EdgeEvolver:
    """Owns the edges of the graph. Slots are treated one after the other: each sees the edges of the last."""

    name: AgentName = "edge_evolver"

    def __init__(
        self, log: EventAppender, source: BlobSource, model: LanguageModel, briefing: DomainBriefing
    ) -> None:
        self._log = log
        self._source = source
        self._desk = CallDesk(self.name, "connect", log, model)
        self._briefing = briefing

    def duties(self, state: RunState) -> Sequence[Duty]:
        generation = state.generation
        if state.status != "running" or generation is None or generation.basis is None:
            return ()
        slot = len(generation.edge_verdicts)
        if slot >= generation.basis.edits:
            return ()
        duty = edge_duty(state, slot, self._briefing)
        return () if duty is None else (duty,)

    async def perform(self, duty: Duty, state: RunState) -> None:
        number = open_basis(state)[0].number
        kind, slot = duty.subject[0], int(duty.subject[1])
        if kind == "keep":
            kept = EdgesKept(generation=number, slot=slot, reason=str(duty.subject[2]))
            await self._append(number, kept, duty.caused_by)
        elif kind == "abandon":
            await self._desk.abandon(state, int(duty.subject[2]), duty.caused_by)
        else:
            work = self._ask if kind == "ask" else self._judge
            await work(state, slot, int(duty.subject[2]), duty.caused_by)

    async def _ask(self, state: RunState, slot: int, attempt: int, caused_by: int) -> None:
        number = open_basis(state)[0].number
        task = await self._task(state, slot, attempt)
        subject = edge_subject(number, slot)
        await self._desk.ask(state, subject, attempt, render(task), task, (number, slot), caused_by)

    async def _task(self, state: RunState, slot: int, attempt: int) -> ConnectTask:
        subject = edge_subject(open_basis(state)[0].number, slot)
        refusal = await last_refusal(state, subject, attempt, self._source)
        return connect_task(state, slot, attempt, self._briefing, refusal)

    async def _judge(self, state: RunState, slot: int, number: int, caused_by: int) -> None:
        call = state.ledger.calls[number]
        task = await self._task(state, slot, call.attempt)
        verdict = edge_verdict(state, task, slot, number, await answer_of(call, self._source))
        await self._append(open_basis(state)[0].number, verdict, caused_by)

    async def _append(self, number: int, payload: Payload, caused_by: int) -> None:
        await self._log.append([Draft(self.name, payload, number, caused_by)])
