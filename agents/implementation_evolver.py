"""ImplementationEvolver: deletes, adds or replaces implementations of the lowest-credit operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from dga2d.agents.agent import Duty
from dga2d.agents.briefing import DomainBriefing, improvement_summary
from dga2d.agents.calls import CallDesk, GiveUp, calls_made, next_call, share_of_calls
from dga2d.agents.ports import EventAppender, EventSource
from dga2d.agents.proposing import (
    ImplementTask,
    LanguageModel,
    PoolEntry,
    ProposalError,
    parse_implementation,
    render,
)
from dga2d.agents.trials import TrialRunner
from dga2d.domains.contract import Implementation
from dga2d.domains.contract import OperatorId as DomainOperatorId
from dga2d.events import Draft, ImplementationId, OperatorId, blob_digest
from dga2d.events.ownership import AgentName
from dga2d.events.payloads import (
    ImplementationAdded,
    ImplementationDeleted,
    ImplementationRejected,
    ImplementationReplaced,
    ImplementationsKept,
    Payload,
    Step,
)
from dga2d.replay.state.run_state import EvolutionBasis, RunState
from dga2d.replay.streams import spawn_key


class PoolEdit(NamedTuple):
    """What Algorithm 2 (lines 4–17) decides for one operator."""

    kind: Literal["delete", "add", "replace", "keep"]
    operator: OperatorId
    worst: ImplementationId
    """c⁻."""


def pool_edit(basis: EvolutionBasis, slot: int, pool_limit: int, epsilon: float) -> PoolEdit | None:
    """The edit of the `slot`-th lowest-credit operator, ties to the smaller id; ``None`` beyond the last."""
    ranked = sorted(
        (basis.credits.operator_credit(basis.pools[operator], epsilon), operator)
        for operator in basis.graph.operators
    )
    if slot >= len(ranked):
        return None
    credit, operator = ranked[slot]
    pool = basis.pools[operator]
    worst = min(pool, key=lambda c: (basis.credits.implementation_credit(c, epsilon), c))
    if credit >= 0:
        return PoolEdit("delete" if len(pool) > 1 else "keep", operator, worst)
    return PoolEdit("add" if len(pool) < pool_limit else "replace", operator, worst)


class ImplementationEvolver:
    """Owns the implementation pools."""

    name: AgentName = "implementation_evolver"

    def __init__(
        self,
        log: EventAppender,
        source: EventSource,
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
        if not state.settings.evolution:
            return ()
        owed = []
        for slot in range(state.settings.edits_per_generation):
            if slot not in generation.implementation_verdicts:
                duty = self._slot_duty(state, generation.basis, slot)
                if duty is not None:
                    owed.append(duty)
        return owed

    def _slot_duty(self, state: RunState, basis: EvolutionBasis, slot: int) -> Duty | None:
        assert state.generation is not None
        settings = state.settings
        edit = pool_edit(basis, slot, settings.pool_limit, settings.epsilon)
        if edit is None or edit.kind in ("keep", "delete"):
            return Duty(f"settle/{state.generation.number}/{slot}", basis.seq, ("rule", slot))
        subject = f"implement/{state.generation.number}/{slot}"
        step = next_call(state, subject, basis.seq, settings.attempts_per_edit, _allowance(state, basis))
        if isinstance(step, GiveUp):
            return Duty(f"give-up/{subject}", step.caused_by, ("give up", slot, step.reason))
        if step is None:
            return None
        return Duty(f"{subject}:{step.key}", step.caused_by, (step.subject[0], slot, *step.subject[1:]))

    async def perform(self, duty: Duty, state: RunState) -> None:
        assert state.generation is not None
        basis = state.generation.basis
        assert basis is not None
        kind, slot = duty.subject[0], int(duty.subject[1])
        edit = pool_edit(basis, slot, state.settings.pool_limit, state.settings.epsilon)
        if kind == "rule":
            await self._append(state, rule_verdict(state, edit, slot), duty.caused_by)
        elif kind == "give up":
            kept = ImplementationsKept(
                generation=state.generation.number, slot=slot, reason=str(duty.subject[2])
            )
            await self._append(state, kept, duty.caused_by)
        elif kind == "abandon":
            await self._desk.abandon(state, int(duty.subject[2]), duty.caused_by)
        else:
            assert edit is not None
            work = self._ask if kind == "ask" else self._judge
            await work(state, basis, edit, slot, int(duty.subject[2]), duty.caused_by)

    async def _ask(
        self,
        state: RunState,
        basis: EvolutionBasis,
        edit: PoolEdit,
        slot: int,
        attempt: int,
        caused_by: int,
    ) -> None:
        assert state.generation is not None
        number = state.generation.number
        subject = f"implement/{number}/{slot}"
        task = await self._task(state, basis, edit, attempt, subject)
        seed = (state.header.seed, *spawn_key("proposal", 1, number, slot, attempt))
        await self._desk.ask(state, subject, attempt, render(task), task, seed, caused_by)

    async def _task(
        self, state: RunState, basis: EvolutionBasis, edit: PoolEdit, attempt: int, subject: str
    ) -> ImplementTask:
        assert state.generation is not None
        epsilon = state.settings.epsilon
        entries = [
            PoolEntry(
                c,
                (await self._implementation(state, edit.operator, c)).source,
                basis.credits.implementation_credit(c, epsilon),
            )
            for c in basis.pools[edit.operator]
        ]
        others = [
            await self._implementation(state, operator, c)
            for operator in basis.graph.operators
            if operator != edit.operator
            for c in basis.pools[operator]
        ]
        calls = state.ledger.calls_for(subject)
        return ImplementTask(
            card=self._briefing.card,
            operator=self._briefing.contracts[edit.operator],
            mode="add" if edit.kind == "add" else "replace",
            pool=tuple(entries),
            parent=max(entries, key=lambda entry: (entry.credit, entry.id)),
            removed=edit.worst if edit.kind == "replace" else None,
            others=tuple(others),
            summary=improvement_summary(state, state.generation),
            diagnostic=calls[-1].diagnostic if calls else None,
            attempt=attempt,
        )

    async def _implementation(
        self, state: RunState, operator: OperatorId, implementation: ImplementationId
    ) -> Implementation:
        step = Step(operator=operator, implementation=implementation)
        return await self._trials.sources.implementation(state, step)

    async def _judge(
        self,
        state: RunState,
        basis: EvolutionBasis,
        edit: PoolEdit,
        slot: int,
        number: int,
        caused_by: int,
    ) -> None:
        assert state.generation is not None
        call = state.ledger.calls[number]
        assert call.response is not None
        task = await self._task(state, basis, edit, call.attempt, call.subject)
        answer = (await self._source.get_blob(call.response)).decode()
        try:
            source = parse_implementation(answer, task)
            new = Implementation(DomainOperatorId(edit.operator), source, origin=f"call:{number}")
            await self._trials.try_out(state, basis, new)
        except ProposalError as error:
            left = _allowance(state, basis)
            rejected = ImplementationRejected(
                generation=state.generation.number,
                slot=slot,
                operator=edit.operator,
                call=number,
                attempt=call.attempt,
                stage=error.stage,
                diagnostic=error.diagnostic,
                is_final=call.attempt + 1 >= state.settings.attempts_per_edit or left <= 0,
            )
            await self._append(state, rejected, caused_by)
        else:
            verdict = accepted(state, edit, slot, new, number)
            await self._append(state, verdict, caused_by, [source.encode()])

    async def _append(
        self, state: RunState, payload: Payload, caused_by: int, blobs: Sequence[bytes] = ()
    ) -> None:
        assert state.generation is not None
        await self._log.append([Draft(self.name, payload, state.generation.number, caused_by)], blobs)


def rule_verdict(state: RunState, edit: PoolEdit | None, slot: int) -> Payload:
    """The verdict that needs no model: delete c⁻, or keep the pools as they are."""
    assert state.generation is not None
    number = state.generation.number
    if edit is None:
        return ImplementationsKept(generation=number, slot=slot, reason="no further operator")
    if edit.kind == "keep":
        reason = f"{edit.operator} has no negative credit and a single implementation"
        return ImplementationsKept(generation=number, slot=slot, reason=reason)
    return ImplementationDeleted(
        generation=number, slot=slot, operator=edit.operator, implementation=edit.worst
    )


def accepted(state: RunState, edit: PoolEdit, slot: int, new: Implementation, call: int) -> Payload:
    """The verdict that c⁺ joins the pool, in the place of c⁻ when the pool is full."""
    assert state.generation is not None
    number, implementation = state.generation.number, ImplementationId(new.id)
    source = blob_digest(new.source.encode())
    if edit.kind == "add":
        return ImplementationAdded(
            generation=number,
            slot=slot,
            operator=edit.operator,
            implementation=implementation,
            source=source,
            call=call,
        )
    return ImplementationReplaced(
        generation=number,
        slot=slot,
        operator=edit.operator,
        removed=edit.worst,
        implementation=implementation,
        source=source,
        call=call,
    )


def _allowance(state: RunState, basis: EvolutionBasis) -> int:
    assert state.generation is not None
    settings = state.settings
    share = share_of_calls(
        basis.calls_left, settings.edits_per_generation, settings.attempts_per_edit, is_edge=False
    )
    return share - calls_made(state, "implementation_evolver", state.generation.number)
