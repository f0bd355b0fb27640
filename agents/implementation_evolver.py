"""ImplementationEvolver: deletes, adds or replaces implementations of the lowest-credit operators."""

from __future__ import annotations

from collections.abc import Sequence

from dga2d.agents.agent import Duty
from dga2d.agents.briefing import DomainBriefing
from dga2d.agents.calls import CallDesk, answer_of
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
from dga2d.agents.proposing import ImplementTask, LanguageModel, ProposalError, parse_implementation
from dga2d.agents.slot_evolver import SlotEvolver
from dga2d.agents.trials import TrialRunner
from dga2d.domains.core.contract import Implementation
from dga2d.domains.core.contract import OperatorId as DomainOperatorId
from dga2d.events import AgentName
from dga2d.events.payloads import ImplementationsKept, Payload
from dga2d.replay.state.run_state import RunState


class ImplementationEvolver(SlotEvolver[ImplementTask]):
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
        super().__init__(log, source, CallDesk(self.name, "implement", log, model), briefing)
        self._trials = trials

    def duties(self, state: RunState) -> Sequence[Duty]:
        generation = state.generation
        if state.status != "running" or generation is None or generation.basis is None:
            return ()
        waiting = [
            slot for slot in range(generation.basis.edits) if slot not in generation.implementation_verdicts
        ]
        owed = [implementation_duty(state, slot) for slot in waiting]
        return [duty for duty in owed if duty is not None]

    def _subject(self, number: int, slot: int) -> str:
        return implementation_subject(number, slot)

    async def _task(self, state: RunState, slot: int, attempt: int) -> ImplementTask:
        refusal = await self._last_refusal(state, slot, attempt)
        return await implement_task(state, slot, attempt, self._briefing, self._trials.sources, refusal)

    async def _judge(self, state: RunState, slot: int, number: int, caused_by: int) -> None:
        _, basis = open_basis(state)
        call = state.ledger.calls[number]
        task = await self._task(state, slot, call.attempt)
        try:
            source = parse_implementation(await answer_of(call, self._source), task)
            new = Implementation(DomainOperatorId(task.operator.id), source, origin=f"call:{number}")
            await self._trials.try_out(state, basis, new)
        except ProposalError as error:
            rejected = implementation_rejected(state, slot, number, error)
            await self._append(state, rejected, caused_by)
        else:
            verdict = implementation_accepted(state, slot, new, number)
            await self._append(state, verdict, caused_by, [source.encode()])

    def _closing(self, state: RunState, kind: str, slot: int, reason: str = "") -> Payload:
        if kind == "rule":
            return rule_verdict(state, slot)
        return ImplementationsKept(generation=open_basis(state)[0].number, slot=slot, reason=reason)
