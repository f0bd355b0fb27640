"""ImplementationEvolver: deletes, adds or replaces implementations of the lowest-credit operators."""

from __future__ import annotations

from collections.abc import Sequence

from dga2d.agents.agent import Duty
from dga2d.agents.briefing import DomainBriefing
from dga2d.agents.calls import CallDesk, answer_of, last_refusal
from dga2d.agents.implementation_edits import (
    implement_task,
    implementation_accepted,
    implementation_duty,
    implementation_rejected,
    implementation_subject,
    open_basis,
    rule_verdict,
)
from dga2d.agents.ports import BlobSource, EventAppender
from dga2d.agents.proposing import ImplementTask, LanguageModel, ProposalError, parse_implementation, render
from dga2d.agents.trials import TrialRunner
from dga2d.domains.contract import Implementation
from dga2d.domains.contract import OperatorId as DomainOperatorId
from dga2d.events import Draft
from dga2d.events.ownership import AgentName
from dga2d.events.payloads import ImplementationsKept, Payload
from dga2d.replay.state.run_state import RunState


class ImplementationEvolver:
    """Owns the implementation pools. All slots are treated at once: they concern different operators."""

    name: AgentName = "implementation_evolver"

    def __init__(
        self,
        log: EventAppender,
        source: BlobSource,
        model: LanguageModel,
        trials: TrialRunner,
        briefing: DomainBriefing,
    ) -> None:
        self._log = log
        self._source = source
        self._desk = CallDesk(self.name, "implement", log, model)
        self._trials = trials
        self._briefing = briefing

    def duties(self, state: RunState) -> Sequence[Duty]:
        generation = state.generation
        if state.status != "running" or generation is None or generation.basis is None:
            return ()
        waiting = [
            slot for slot in range(generation.basis.edits) if slot not in generation.implementation_verdicts
        ]
        owed = [implementation_duty(state, slot) for slot in waiting]
        return [duty for duty in owed if duty is not None]

    async def perform(self, duty: Duty, state: RunState) -> None:
        number = open_basis(state)[0].number
        kind, slot = duty.subject[0], int(duty.subject[1])
        if kind == "rule":
            await self._append(number, rule_verdict(state, slot), duty.caused_by)
        elif kind == "give up":
            kept = ImplementationsKept(generation=number, slot=slot, reason=str(duty.subject[2]))
            await self._append(number, kept, duty.caused_by)
        elif kind == "abandon":
            await self._desk.abandon(state, int(duty.subject[2]), duty.caused_by)
        else:
            work = self._ask if kind == "ask" else self._judge
            await work(state, slot, int(duty.subject[2]), duty.caused_by)

    async def _ask(self, state: RunState, slot: int, attempt: int, caused_by: int) -> None:
        number = open_basis(state)[0].number
        task = await self._task(state, slot, attempt)
        subject = implementation_subject(number, slot)
        await self._desk.ask(state, subject, attempt, render(task), task, (number, slot), caused_by)

    async def _task(self, state: RunState, slot: int, attempt: int) -> ImplementTask:
        subject = implementation_subject(open_basis(state)[0].number, slot)
        refusal = await last_refusal(state, subject, attempt, self._source)
        return await implement_task(state, slot, attempt, self._briefing, self._trials.sources, refusal)

    async def _judge(self, state: RunState, slot: int, number: int, caused_by: int) -> None:
        generation, basis = open_basis(state)
        call = state.ledger.calls[number]
        task = await self._task(state, slot, call.attempt)
        try:
            source = parse_implementation(await answer_of(call, self._source), task)
            new = Implementation(DomainOperatorId(task.operator.id), source, origin=f"call:{number}")
            await self._trials.try_out(state, basis, new)
        except ProposalError as error:
            rejected = implementation_rejected(state, slot, number, error)
            await self._append(generation.number, rejected, caused_by)
        else:
            verdict = implementation_accepted(state, slot, new, number)
            await self._append(generation.number, verdict, caused_by, [source.encode()])

    async def _append(
        self, number: int, payload: Payload, caused_by: int, blobs: Sequence[bytes] = ()
    ) -> None:
        await self._log.append([Draft(self.name, payload, number, caused_by)], blobs)
