"""Initializer: asks for H, the operator pool and the first graph (Algorithm 1, line 1; Template I)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dga2d.agents import calls
from dga2d.agents.agent import Decision, Duty
from dga2d.agents.calls import AbandonCall, AskModel, CallDesk, GiveUp, JudgeAnswer, Judged, NoRoom, Quoted
from dga2d.agents.ports import BlobSource, EventAppender
from dga2d.agents.prompt_facts import start_facts
from dga2d.agents.proposing.errors import ProposalError
from dga2d.agents.proposing.graph_answers import clamp, parse_graph
from dga2d.agents.proposing.graphs import default_graph
from dga2d.agents.proposing.models import Models
from dga2d.agents.proposing.tasks import HBounds, InitializeTask, PastAttempts, PromptContext
from dga2d.events import AgentName, Draft, ImplementationId, OperatorId
from dga2d.events.payloads import GraphInitialized, GraphRejected, Payload
from dga2d.replay.state.graph import END, START, OperatorGraph, restrict_to_structure
from dga2d.replay.state.run_state import RunState
from dga2d.replay.state.search_state import PROGRAM


@dataclass(frozen=True)
class UseLibrary(Duty):
    """Record the graph over the library itself, because no further call may be made."""


@dataclass(frozen=True)
class UsePrograms(Duty):
    """Record the graph of a method that evolves complete programs: each is a walk of its own."""


GraphDuty = AskModel | JudgeAnswer | AbandonCall | UseLibrary | UsePrograms


JudgedGraph = Judged[InitializeTask]
"""Its text is empty where the library is used instead."""


class Initializer:
    """Owns H, the operator pool, D₁ and C⁽¹⁾."""

    name: AgentName = "initializer"

    def __init__(self, log: EventAppender, source: BlobSource, model: Models, context: PromptContext) -> None:
        self._log = log
        self._source = source
        self._desk = CallDesk(log, model)
        self._context = context

    def duties(self, state: RunState) -> Sequence[GraphDuty]:
        return duties(state)

    async def perform(self, duty: GraphDuty, state: RunState) -> None:
        match duty:
            case AskModel():
                task = await read_task(state, duty.attempt, self._context, self._source)
                await self._desk.ask(state, duty, task)
            case JudgeAnswer() | UseLibrary():
                judged = await read_judged(state, duty, self._context, self._source)
                await self._log.append(*decide(state, duty, judged))
            case AbandonCall() | UsePrograms():
                await self._log.append(*decide(state, duty, None))


def duties(state: RunState) -> tuple[GraphDuty, ...]:
    """Return what is owed towards the first graph; nothing while an answer is awaited."""
    if state.status != "running" or state.graph is not None:
        return ()
    if not state.settings.evolves_pipelines:
        return (UsePrograms(1),)
    step = calls.next_call(state, "initialize", 0, 1, state.ledger.limit)
    if step is None:
        return ()
    return (UseLibrary(step.caused_by),) if isinstance(step, GiveUp) else (step,)


def decide(state: RunState, duty: GraphDuty, observed: JudgedGraph | Quoted | NoRoom | None) -> Decision:
    """Return the first graph, the reason why an answer is refused, or what the ledger records of a call."""
    match duty, observed:
        case AskModel() | AbandonCall(), Quoted() | NoRoom() | None:
            return calls.decide(state, duty, observed)
        case JudgeAnswer(), Judged():
            payload = graph_verdict(state, observed.task, duty.call, observed.text)
        case UseLibrary(), Judged():
            payload = library_graph(state, observed.task)
        case UsePrograms(), None:
            payload = program_graph(state)
        case _:
            raise TypeError(f"{duty} is not decided by {type(observed).__name__}")
    return Decision((Draft("initializer", payload, None, duty.caused_by),))


async def read_judged(
    state: RunState, duty: JudgeAnswer | UseLibrary, context: PromptContext, blobs: BlobSource
) -> JudgedGraph:
    """Return what the log holds of an answer, or what the library's graph is made of."""
    if isinstance(duty, UseLibrary):
        return JudgedGraph(initialize_task(state, context, PastAttempts()), "")
    call = state.ledger.calls[duty.call]
    task = initialize_task(state, context, PastAttempts(attempt=call.attempt))
    return JudgedGraph(task, await calls.read_answer(call, blobs))


async def read_task(
    state: RunState, attempt: int, context: PromptContext, blobs: BlobSource
) -> InitializeTask:
    """Return what a proposer is asked for, with what was wrong with the answer before."""
    past = await calls.read_past_attempts(state, "initialize", 0, attempt, blobs)
    return initialize_task(state, context, past)


def initialize_task(state: RunState, context: PromptContext, past: PastAttempts) -> InitializeTask:
    """Return what a proposer is asked for the first graph: τ as configured, K at most as configured."""
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
        facts=start_facts(state) if state.settings.prompt_edition >= 3 else None,
        **vars(past),
    )


def graph_verdict(state: RunState, task: InitializeTask, number: int, answer: str) -> Payload:
    """Return the first graph as proposed, or the reason why the answer was refused."""
    try:
        proposal, clamped = clamp(parse_graph(answer, task), task.bounds)
    except ProposalError as error:
        attempt = state.ledger.calls[number].attempt
        return GraphRejected(call=number, attempt=attempt, reason=str(error))
    graph = proposal.graph(o.id for o in state.header.library if o.requires == "none")
    return _first_graph(state, graph, proposal.operator_limit, proposal.temperature, clamped, number)


def library_graph(state: RunState, task: InitializeTask) -> Payload:
    """Return D₁ over the library itself, for when no proposal was valid; the log says so."""
    limit = task.bounds.operator_limit_max
    graph = default_graph(task.operators, limit, task.baseline)
    return _first_graph(state, graph, limit, state.settings.temperature, (), None)


def program_graph(state: RunState) -> GraphInitialized:
    """Return the graph whose walks are single programs, with the library's own as the first."""
    return GraphInitialized(
        origin="library",
        operator_limit=1,
        temperature=state.settings.temperature,
        clamped=(),
        operators=(PROGRAM,),
        edges=((START, PROGRAM), (PROGRAM, END)),
        pools=_pools(state, (PROGRAM,)),
        call=None,
    )


def _first_graph(
    state: RunState,
    graph: OperatorGraph,
    operator_limit: int,
    temperature: float,
    clamped: tuple[str, ...],
    call: int | None,
) -> GraphInitialized:
    graph, cut = _restrict(state, graph)
    return GraphInitialized(
        origin="library" if call is None else "proposed",
        operator_limit=operator_limit,
        temperature=temperature,
        clamped=(*clamped, *cut),
        operators=graph.operators,
        edges=tuple(sorted(graph.edges)),
        pools=_pools(state, graph.operators),
        call=call,
    )


def _restrict(state: RunState, graph: OperatorGraph) -> tuple[OperatorGraph, tuple[str, ...]]:
    """Return the graph cut down to the run's structure, and a line about it for the log.

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
    """Return the library's implementations of the chosen operators, at most M each."""
    library = {operator.id: operator for operator in state.header.library}
    return {
        operator: tuple(sorted(i.id for i in library[operator].implementations[: state.settings.pool_limit]))
        for operator in sorted(operators)
    }
