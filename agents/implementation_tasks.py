"""What a proposer is asked for a slot of an implementation pool; all of it follows from the log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from dga2d.agents import calls
from dga2d.agents.agent import open_basis
from dga2d.agents.evaluator_pool import SourceReader
from dga2d.agents.kernel_texts import offered_kernels
from dga2d.agents.pool_edits import edit_to_ask
from dga2d.agents.prompt_facts import pool_figures, run_facts
from dga2d.agents.proposing import (
    ImplementTask,
    PoolEntry,
    PromptContext,
    improvement_summary,
    known_contracts,
    known_of_library,
)
from dga2d.agents.proposing.answers import DIFF_STAGE
from dga2d.domains.core.contract import Implementation
from dga2d.events import ImplementationId, OperatorId
from dga2d.events.payloads import Step, Ticket
from dga2d.replay.state.generation_state import Proposal
from dga2d.replay.state.ledger import NO_FAULT, Call
from dga2d.replay.state.run_state import RunState

LOOKED_BACK = 12
"""Answers of earlier generations by which the form of answers is chosen."""
ENOUGH_ANSWERS = 4
"""Fewest answers that say whether a model is strong."""


def answer_form(state: RunState) -> Literal["whole", "diff"]:
    """Return how code is to be answered in the open generation.

    What is accepted within a generation depends on the order of answers, so only earlier ones count.
    """
    form = state.settings.answer_form
    if form != "auto":
        return form
    number = open_basis(state)[0].number
    judged = [
        call
        for call in sorted(state.ledger.calls.values(), key=_order)
        if call.purpose == "implement" and call.verdict is not None and (call.taken_in or 0) < number
    ][-LOOKED_BACK:]
    faults = [call.diagnostic or "" for call in judged if call.verdict == "rejected"]
    faults = [fault for fault in faults if not fault.startswith(NO_FAULT)]
    misfits = sum(fault.startswith(f"{DIFF_STAGE}:") for fault in faults)
    is_strong = len(judged) >= ENOUGH_ANSWERS and 3 * len(faults) <= len(judged)
    return "diff" if is_strong and 4 * misfits <= len(judged) else "whole"


def _order(call: Call) -> tuple[int, int, int, int]:
    """Return the place of a call; those that land together are numbered in any order."""
    if call.ticket is None:
        return call.taken_in or 0, call.number, 0, 0
    return call.taken_in or 0, *call.place, call.attempt


async def read_task(
    state: RunState, slot: int, attempt: int, context: PromptContext, sources: SourceReader
) -> ImplementTask:
    """Return what a proposer is asked for a slot whose edit is an addition or a replacement.

    Texts of implementations and of the answer refused before come from the log's blobs.
    """
    generation, basis = open_basis(state)
    edit, contracts = edit_to_ask(state, slot), known_contracts(state, context)
    past = await calls.read_past_attempts(state, "implement", slot, attempt, sources.blobs)

    async def implementation(operator: OperatorId, c: ImplementationId) -> Implementation:
        return await sources.implementation(state, Step(operator=operator, implementation=c))

    def of_category(category: str) -> tuple[Implementation, ...]:
        return tuple(other for other in others if contracts[OperatorId(other.operator)].category == category)

    entries = [
        PoolEntry(
            c,
            (await implementation(edit.operator, c)).source,
            basis.credits.implementation_credit(c, state.settings.epsilon),
            *pool_figures(state, c),
        )
        for c in basis.pools[edit.operator]
    ]
    others = [
        await implementation(operator, c)
        for operator in basis.graph.operators
        if operator != edit.operator
        for c in basis.pools[operator]
    ]
    settings, known = state.settings, {ImplementationId(other.id) for other in others}
    others += [  # whatever the graph holds
        await sources.implementation(state, step)
        for step in known_of_library(state, context)
        if step.operator != edit.operator and step.implementation not in known
    ]
    has_facts = state.settings.prompt_edition >= 2
    draft = generation.proposals.get(slot - 1) if slot % basis.turns else None
    return ImplementTask(
        card=context.card,
        facts=await run_facts(state, slot, edit.operator, others, sources) if has_facts else None,
        operator=contracts[edit.operator],
        mode="add" if edit.kind == "add" else "replace",
        pool=tuple(entries),
        parent=max(entries, key=lambda entry: (entry.id == edit.parent, entry.credit, entry.id)),
        removed=edit.worst if edit.kind == "replace" else None,
        others=tuple(others),
        perturbations=of_category("perturbation"),
        improvers=of_category("local_search"),
        intensifiers=of_category("intensification"),
        unused=tuple(
            (context.contracts[OperatorId(c.operator)], c)
            for c in context.implementations
            if ImplementationId(c.id) not in state.operator_of
        ),
        structure_only=settings.race_contenders > 0 and "constants" in settings.moves,
        draft=None if draft is None else await _draft(state, draft, sources),
        answer_form=answer_form(state),
        summary=improvement_summary(state, generation),
        kernels=await offered_kernels(state, sources),
        allows_no_change=settings.no_change,
        allows_configurations=settings.configurations,
        near_copy_lines=settings.near_copy_lines,
        **vars(past),
    )


async def read_asked(
    state: RunState, task: ImplementTask, call: Call, sources: SourceReader
) -> ImplementTask | None:
    """Return a task as it was when an earlier generation asked for it: the pool that it was to add to, and
    the member that it was to improve on; ``None`` for a call of the open generation."""
    ticket = call.ticket
    if ticket is None or ticket.operator is None or ticket.parent is None:
        return None
    steps = [Step(operator=ticket.operator, implementation=c) for c in _asked_pool(state, call, ticket)]
    texts = [(await sources.implementation(state, step)).source for step in steps]
    pool = tuple(PoolEntry(step.implementation, text, 0.0) for step, text in zip(steps, texts, strict=True))
    parent = next(entry for entry in pool if entry.id == ticket.parent)
    form: Literal["whole", "diff"] = "whole" if state.settings.answer_form == "whole" else "diff"
    return replace(task, pool=pool, parent=parent, answer_form=form)


def _asked_pool(state: RunState, call: Call, ticket: Ticket) -> Sequence[ImplementationId]:
    assert call.generation is not None
    assert ticket.operator is not None
    return state.bases[call.generation].pools[ticket.operator]


async def _draft(state: RunState, draft: Proposal, sources: SourceReader) -> PoolEntry:
    step = Step(operator=draft.operator, implementation=draft.implementation)
    return PoolEntry(draft.implementation, (await sources.implementation(state, step)).source, 0.0)
