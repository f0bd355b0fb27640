"""Decisions around language models made again: prompts, calls, and verdicts on recorded answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from dga2d.agents.agent import Duty
from dga2d.agents.briefing import DomainBriefing
from dga2d.agents.calls import ABANDONED, answer_of, last_refusal
from dga2d.agents.edge_edits import connect_task, edge_duty, edge_subject, edge_verdict
from dga2d.agents.evaluator_pool import SourceReader
from dga2d.agents.implementation_edits import (
    implement_task,
    implementation_accepted,
    implementation_duty,
    implementation_rejected,
    implementation_subject,
    rule_verdict,
)
from dga2d.agents.initializer import SUBJECT, graph_duty, graph_verdict, initialize_task, library_graph
from dga2d.agents.ports import BlobSource
from dga2d.agents.proposing import (
    ConnectTask,
    ImplementTask,
    ProposalError,
    Task,
    parse_implementation,
    render,
)
from dga2d.agents.remade_rules import Remade
from dga2d.agents.trials import TRIAL_STAGES
from dga2d.domains.core.contract import Implementation
from dga2d.domains.core.contract import OperatorId as DomainOperatorId
from dga2d.events import Payload, blob_digest
from dga2d.events import payloads as p
from dga2d.replay.state.run_state import GenerationState, RunState

RemakeAnswer = Callable[[RunState, Any], Awaitable[Remade | None]]


class AnswerRemaker:
    """Makes the events of Initializer and evolvers again from the log's blobs and the domain's words."""

    def __init__(self, briefing: DomainBriefing, blobs: BlobSource) -> None:
        self._briefing = briefing
        self._blobs = blobs
        self._sources = SourceReader(blobs)
        self.answers: Mapping[str, RemakeAnswer] = {
            "GraphInitialized": self._graph,
            "GraphRejected": self._graph,
            "LLMCallReserved": self._reserved,
            "LLMCallSettled": self._settled,
            "LLMCallAbandoned": self._abandoned,
            "LLMCallRefused": self._refused,
            "ImplementationAdded": self._implementation,
            "ImplementationReplaced": self._implementation,
            "ImplementationDeleted": self._implementation,
            "ImplementationRejected": self._implementation,
            "ImplementationsKept": self._implementation,
            "EdgeReplaced": self._edge,
            "EdgeRejected": self._edge,
            "EdgesKept": self._edge,
        }

    async def _graph(self, state: RunState, payload: Payload) -> Remade | None:
        duty = None if state.graph is not None else graph_duty(state)
        if duty is None or duty.subject[0] not in ("library", "judge"):
            return None
        if duty.subject[0] == "library":
            return Remade(library_graph(state, initialize_task(state, 0, self._briefing)), duty.caused_by)
        number = int(duty.subject[1])
        call = state.ledger.calls[number]
        task = initialize_task(state, call.attempt, self._briefing)
        verdict = graph_verdict(state, task, number, await answer_of(call, self._blobs))
        return Remade(verdict, duty.caused_by)

    # ------------------------------------------------------------ calls

    async def _reserved(self, state: RunState, payload: p.LLMCallReserved) -> Remade | None:
        owed = self._asked(state, payload)
        if owed is None:
            return None
        duty, slot = owed
        attempt = int(duty.subject[-1])
        prompt = render(await self._task(state, payload.purpose, slot, attempt))
        again = payload.model_copy(
            update={
                "call": state.ledger.used + 1,
                "attempt": attempt,
                "prompt": blob_digest(prompt.text.encode()),
                "template": prompt.template,
            }
        )
        return Remade(again, duty.caused_by)

    async def _refused(self, state: RunState, payload: p.LLMCallRefused) -> Remade | None:
        """That the store had no room is observed; that the call was owed is checked."""
        owed = self._asked(state, payload)
        return None if owed is None else Remade(payload, owed[0].caused_by, is_decision=False)

    def _asked(
        self, state: RunState, payload: p.LLMCallReserved | p.LLMCallRefused
    ) -> tuple[Duty, int] | None:
        """The duty to ask about the call's subject, and its slot."""
        generation = state.generation
        found: list[tuple[Duty | None, int]] = []
        if payload.purpose == "initialize":
            if state.graph is None and payload.subject == SUBJECT:
                found = [(graph_duty(state), 0)]
        elif generation is not None and generation.basis is not None:
            slots = _waiting(state, generation, payload)
            found = [(self._duty(state, payload.purpose, slot), slot) for slot in slots]
        for duty, slot in found:
            if duty is not None and duty.subject[0] == "ask":
                return duty, slot
        return None

    def _duty(self, state: RunState, purpose: p.CallPurpose, slot: int) -> Duty | None:
        if purpose == "implement":
            return implementation_duty(state, slot)
        return edge_duty(state, slot, self._briefing)

    async def _task(self, state: RunState, purpose: p.CallPurpose, slot: int, attempt: int) -> Task:
        if purpose == "initialize":
            refusal = await last_refusal(state, SUBJECT, attempt, self._blobs)
            return initialize_task(state, attempt, self._briefing, refusal)
        if purpose == "implement":
            return await self._implement_task(state, slot, attempt)
        return await self._connect_task(state, slot, attempt)

    async def _implement_task(self, state: RunState, slot: int, attempt: int) -> ImplementTask:
        assert state.generation is not None
        subject = implementation_subject(state.generation.number, slot)
        refusal = await last_refusal(state, subject, attempt, self._blobs)
        return await implement_task(state, slot, attempt, self._briefing, self._sources, refusal)

    async def _connect_task(self, state: RunState, slot: int, attempt: int) -> ConnectTask:
        assert state.generation is not None
        subject = edge_subject(state.generation.number, slot)
        refusal = await last_refusal(state, subject, attempt, self._blobs)
        return connect_task(state, slot, attempt, self._briefing, refusal)

    async def _settled(self, state: RunState, payload: p.LLMCallSettled) -> Remade | None:
        call = state.ledger.calls.get(payload.call)
        return None if call is None else Remade(payload, call.reserved_seq, is_decision=False)

    async def _abandoned(self, state: RunState, payload: p.LLMCallAbandoned) -> Remade | None:
        """A call of a process that is gone is abandoned by rule; why a live one gives up is observed."""
        call = state.ledger.calls.get(payload.call)
        if call is None:
            return None
        if call.reserved_seq >= state.process_seq:
            return Remade(payload, call.reserved_seq, is_decision=False)
        again = p.LLMCallAbandoned(call=payload.call, reason=ABANDONED)
        return Remade(again, state.process_seq)

    # ------------------------------------------------------------ verdicts

    async def _implementation(self, state: RunState, payload: p.ImplementationEdit) -> Remade | None:
        generation, slot = state.generation, payload.slot
        if generation is None or generation.basis is None or slot in generation.implementation_verdicts:
            return None
        duty = implementation_duty(state, slot)
        if duty is None or duty.subject[0] in ("ask", "abandon"):
            return None
        if duty.subject[0] == "rule":
            return Remade(rule_verdict(state, slot), duty.caused_by)
        if duty.subject[0] == "give up":
            reason = str(duty.subject[2])
            kept = p.ImplementationsKept(generation=generation.number, slot=slot, reason=reason)
            return Remade(kept, duty.caused_by)
        return Remade(await self._judged(state, payload, int(duty.subject[2])), duty.caused_by)

    async def _judged(self, state: RunState, payload: p.ImplementationEdit, number: int) -> Payload:
        """The verdict on an answer; the outcome of trials is taken from the log."""
        slot, call = payload.slot, state.ledger.calls[number]
        task = await self._implement_task(state, slot, call.attempt)
        try:
            source = parse_implementation(await answer_of(call, self._blobs), task)
        except ProposalError as error:
            return implementation_rejected(state, slot, number, error)
        if isinstance(payload, p.ImplementationRejected) and payload.stage in TRIAL_STAGES:
            observed = ProposalError(payload.stage, payload.diagnostic)
            return implementation_rejected(state, slot, number, observed)
        new = Implementation(DomainOperatorId(task.operator.id), source, origin=f"call:{number}")
        return implementation_accepted(state, slot, new, number)

    async def _edge(self, state: RunState, payload: Any) -> Remade | None:
        generation = state.generation
        if generation is None or generation.basis is None:
            return None
        slot = len(generation.edge_verdicts)
        duty = edge_duty(state, slot, self._briefing)
        if duty is None or duty.subject[0] not in ("keep", "judge"):
            return None
        if duty.subject[0] == "keep":
            reason = str(duty.subject[2])
            kept = p.EdgesKept(generation=generation.number, slot=slot, reason=reason)
            return Remade(kept, duty.caused_by)
        number = int(duty.subject[2])
        call = state.ledger.calls[number]
        task = await self._connect_task(state, slot, call.attempt)
        verdict = edge_verdict(state, task, slot, number, await answer_of(call, self._blobs))
        return Remade(verdict, duty.caused_by)


def _waiting(
    state: RunState, generation: GenerationState, payload: p.LLMCallReserved | p.LLMCallRefused
) -> list[int]:
    """Slots without a verdict whose calls have the subject of `payload`."""
    assert generation.basis is not None
    edits = range(generation.basis.edits)
    if payload.purpose == "connect":
        slot = len(generation.edge_verdicts)
        return [slot] if slot in edits and payload.subject == edge_subject(generation.number, slot) else []
    return [
        slot
        for slot in edits
        if slot not in generation.implementation_verdicts
        and payload.subject == implementation_subject(generation.number, slot)
    ]
