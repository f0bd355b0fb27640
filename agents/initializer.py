"""Initializer: asks for H, the operator pool and the first graph (Algorithm 1, line 1; Template I)."""

from __future__ import annotations

from collections.abc import Sequence

from dga2d.agents.agent import Duty
from dga2d.agents.calls import CallDesk, GiveUp, Refusal, answer_of, last_refusal, next_call
from dga2d.agents.ports import BlobSource, EventAppender
from dga2d.agents.proposing import (
    GraphProposal,
    HBounds,
    InitializeTask,
    LanguageModel,
    PromptContext,
    ProposalError,
    clamp,
    default_graph,
    parse_graph,
    render,
)
from dga2d.events import AgentName, Draft, ImplementationId, OperatorId
from dga2d.events.payloads import GraphInitialized, GraphRejected, Payload
from dga2d.replay.state.graph import OperatorGraph, restrict_to_structure
from dga2d.replay.state.run_state import RunState

SUBJECT = "initialize"


class Initializer:
    """Owns H, the operator pool, D₁ and C⁽¹⁾."""

    name: AgentName = "initializer"

    def __init__(
        self, log: EventAppender, source: BlobSource, model: LanguageModel, context: PromptContext
    ) -> None:
        self._log = log
        self._source = source
        self._desk = CallDesk(self.name, "initialize", log, model)
        self._context = context

    def duties(self, state: RunState) -> Sequence[Duty]:
        if state.status != "running" or state.graph is not None:
            return ()
        duty = graph_duty(state)
        return () if duty is None else (duty,)

    async def perform(self, duty: Duty, state: RunState) -> None:
        kind = duty.subject[0]
        if kind == "library":
            task = initialize_task(state, 0, self._context)
            await self._append(library_graph(state, task), duty.caused_by)
        elif kind == "abandon":
            await self._desk.abandon(state, int(duty.subject[1]), duty.caused_by)
        elif kind == "ask":
            attempt = int(duty.subject[1])
            refusal = await last_refusal(state, SUBJECT, attempt, self._source)
            task = initialize_task(state, attempt, self._context, refusal)
            await self._desk.ask(state, SUBJECT, attempt, render(task), task, (0, 0), duty.caused_by)
        else:
            await self._judge(state, int(duty.subject[1]), duty.caused_by)

    async def _judge(self, state: RunState, number: int, caused_by: int) -> None:
        call = state.ledger.calls[number]
        task = initialize_task(state, call.attempt, self._context)
        answer = await answer_of(call, self._source)
        await self._append(graph_verdict(state, task, number, answer), caused_by)

    async def _append(self, payload: Payload, caused_by: int) -> None:
        await self._log.append([Draft(self.name, payload, None, caused_by)])


def graph_duty(state: RunState) -> Duty | None:
    """What is owed towards the first graph; ``None`` while an answer is awaited."""
    step = next_call(state, SUBJECT, 1, state.settings.attempts_per_edit, state.ledger.limit)
    if isinstance(step, GiveUp):
        return Duty("whole-library", step.caused_by, ("library",))
    return step


def initialize_task(
    state: RunState, attempt: int, context: PromptContext, refusal: Refusal | None = None
) -> InitializeTask:
    """What a proposer is asked for the first graph. τ is the configured one, K at most the configured."""
    refusal = refusal or Refusal()
    return InitializeTask(
        card=context.card,
        operators=tuple(context.contracts[o.id] for o in state.header.library),
        bounds=HBounds(
            operator_limit_max=state.settings.operator_limit,
            temperature_min=state.settings.temperature,
            temperature_max=state.settings.temperature,
        ),
        baseline=tuple(step.operator for step in state.header.baseline),
        max_length=state.settings.max_length,
        diagnostic=refusal.diagnostic,
        attempt=attempt,
        previous=refusal.previous,
    )


def graph_verdict(state: RunState, task: InitializeTask, number: int, answer: str) -> Payload:
    """The decision about a proposed initial graph."""
    try:
        proposal, clamped = clamp(parse_graph(answer, task), task.bounds)
    except ProposalError as error:
        attempt = state.ledger.calls[number].attempt
        return GraphRejected(call=number, attempt=attempt, reason=f"{error.stage}: {error.diagnostic}")
    return _initialized(state, proposal, clamped, number)


def library_graph(state: RunState, task: InitializeTask) -> Payload:
    """D₁ over the library itself, when no proposal was valid; the log says so."""
    graph = default_graph(task.operators, task.bounds.operator_limit_max, task.baseline)
    graph, cut = _structured(state, graph)
    pools = _pools(state, graph.operators)
    return GraphInitialized(
        origin="library",
        operator_limit=task.bounds.operator_limit_max,
        temperature=state.settings.temperature,
        clamped=cut,
        operators=graph.operators,
        edges=tuple(sorted(graph.edges)),
        pools=pools,
        call=None,
    )


def _initialized(
    state: RunState, proposal: GraphProposal, clamped: tuple[str, ...], number: int
) -> GraphInitialized:
    proposed = proposal.graph(o.id for o in state.header.library if o.requires == "none")
    graph, cut = _structured(state, proposed)
    return GraphInitialized(
        origin="proposed",
        operator_limit=proposal.operator_limit,
        temperature=proposal.temperature,
        clamped=(*clamped, *cut),
        operators=graph.operators,
        edges=tuple(sorted(graph.edges)),
        pools=_pools(state, graph.operators),
        call=number,
    )


def _structured(state: RunState, graph: OperatorGraph) -> tuple[OperatorGraph, tuple[str, ...]]:
    """The graph cut down to the run's structure, and a line about it for the log.

    A graph that would lose its last route falls back to the baseline's chain, which is of every structure
    as long as no operator comes twice in it.
    """
    structure = state.settings.structure
    if structure == "dg":
        return graph, ()
    baseline = [step.operator for step in state.header.baseline]
    kept = restrict_to_structure(graph, structure, baseline)
    if not kept.has_route(state.settings.max_length):
        kept = restrict_to_structure(graph, "fixed", baseline)
    return kept, (f"structure {structure}: {len(graph.edges)} edges -> {len(kept.edges)}",)


def _pools(
    state: RunState, operators: Sequence[OperatorId]
) -> dict[OperatorId, tuple[ImplementationId, ...]]:
    """The library's implementations of the chosen operators, at most M each."""
    library = {operator.id: operator for operator in state.header.library}
    return {
        operator: tuple(sorted(i.id for i in library[operator].implementations[: state.settings.pool_limit]))
        for operator in sorted(operators)
    }
