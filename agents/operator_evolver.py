"""OperatorEvolver: asks the bank and the model for operators that the graph lacks, and retires the least used
to make room.

It works when all other edits of a generation have their verdicts, so that what a proposal meets does not
depend on the order of their answers. A proposal passes the rules, trial runs and the gate of any code. The
gate compares the incumbent with the operator to the incumbent without it; what does not gain is refused.

References
----------
DGA2D paper, Section 5: adaptive operator pools, named as future work; the rules here are our own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from dga2d.agents import bank_offers, calls, gate
from dga2d.agents.agent import Decision, Duty, GenerationDuty, open_basis, present_graph
from dga2d.agents.bank_offers import JudgeOperatorOffer, Origin, origin_of
from dga2d.agents.calls import AbandonCall, AskModel, GiveUp, JudgeAnswer, Judged, NoRoom, Quoted
from dga2d.agents.conductor import slots_closed
from dga2d.agents.evaluator_pool import SourceReader
from dga2d.agents.evolver import Evolver
from dga2d.agents.gate import GateResult
from dga2d.agents.kernel_texts import offered_kernels
from dga2d.agents.prompt_facts import operator_facts
from dga2d.agents.proposing.errors import ProposalError
from dga2d.agents.proposing.operator_answers import ProposedOperator, graph_with, parse_operator
from dga2d.agents.proposing.tasks import OperatorTask, PromptContext, known_contracts, known_of_library
from dga2d.agents.trial_walks import fill, walk_through
from dga2d.agents.work_calibration import units_of_a_round
from dga2d.domains.core.contract import Implementation, OperatorName
from dga2d.events import AgentName, Draft, ImplementationId, OperatorId, Payload, blob_digest
from dga2d.events import payloads as p
from dga2d.replay.state.generation_state import EvolutionBasis
from dga2d.replay.state.incumbent import incumbent
from dga2d.replay.state.run_state import RunState

SLOT = 0
"""There is one request in a generation at most."""


@dataclass(frozen=True)
class KeepOperators(Duty):
    """Record that no operator joins, without an answer of the model."""

    generation: int
    reason: str = field(compare=False)


class JudgeOperator(GenerationDuty):
    """Record the verdict that follows from what the gate measured."""


OperatorDuty = AskModel | JudgeAnswer | JudgeOperatorOffer | AbandonCall | KeepOperators | JudgeOperator


JudgedOperator = Judged[OperatorTask]


class OperatorEvolver(Evolver[OperatorDuty]):
    """Owns which operators are in the graph, after the first graph."""

    name: AgentName = "operator_evolver"

    def duties(self, state: RunState) -> Sequence[OperatorDuty]:
        return duties(state)

    async def _task(self, state: RunState, duty: AskModel) -> OperatorTask:
        return await read_task(state, duty.attempt, self._context, self._trials.sources)

    async def _decision(self, state: RunState, duty: OperatorDuty) -> Decision:
        judged = None
        if isinstance(duty, JudgeAnswer | JudgeOperatorOffer):
            judged = await self._judge_answer(state, duty)
        return decide(state, duty, judged)

    async def _judge_answer(self, state: RunState, duty: JudgeAnswer | JudgeOperatorOffer) -> JudgedOperator:
        answer = await read_judged(state, duty, self._context, self._trials.sources)
        try:
            proposed = parse_operator(answer.text, answer.task)
        except ProposalError:
            return answer
        new = _implementation(proposed, duty)
        basis = _basis_with(state, proposed, ImplementationId(new.id))
        return answer._replace(trial=await self._trials.find_failure(state, basis, new))


def duties(state: RunState) -> tuple[OperatorDuty, ...]:
    """Return what is owed towards the verdict of the open generation, when all other edits have theirs."""
    generation = state.generation
    if state.status != "running" or generation is None or generation.basis is None:
        return ()
    if not generation.basis.operator_slots or generation.operator_verdict:
        return ()
    closed = slots_closed(generation)
    if closed is None:
        return ()
    if (proposal := generation.operator_proposal) is not None:
        is_measured = gate.is_measured(state, proposal)
        return (JudgeOperator(proposal.seq, generation.number),) if is_measured else ()
    if (reason := _reason_to_keep(state)) is not None:
        return (KeepOperators(closed, generation.number, reason),)
    if (offer := state.next_operator()) is not None:
        return (JudgeOperatorOffer(closed, offer),)
    if not _asks_model(state):
        return (KeepOperators(closed, generation.number, "the bank offers no further operator"),)
    made = len(state.ledger.calls_for(calls.call_subject(state, "operator", SLOT)))
    step = calls.next_call(state, "operator", SLOT, closed, made + state.ledger.left)
    if isinstance(step, GiveUp):
        return (KeepOperators(step.caused_by, generation.number, step.reason),)
    return () if step is None else (step,)


def _reason_to_keep(state: RunState) -> str | None:
    if state.settings.structure == "fixed":
        return "the structure is fixed"
    if is_full(state) and not _may_retire(state):
        return "the graph is full and every operator of it is needed"
    return None


def _asks_model(state: RunState) -> bool:
    """Return whether a model is asked for an operator in the open generation, behind what the bank offers."""
    every = state.settings.new_operators
    return bool(every) and open_basis(state)[0].number % every == 0


def is_full(state: RunState) -> bool:
    """Return whether the graph has as many operators as it may have, K."""
    return len(present_graph(state).operators) >= state.settings.operator_limit


def _may_retire(state: RunState) -> list[OperatorId]:
    """Return the operators that may leave the graph: not those of the incumbent and the safe baseline, and
    none without which no walk is left."""
    graph, longest = present_graph(state), state.settings.max_length
    needed = {step.operator for step in (*incumbent(state), *state.header.baseline)}
    if state.checkpoint is not None:
        needed |= {step.operator for step in state.checkpoint.steps}
    free = (o for o in graph.operators if o not in needed)
    return [o for o in free if graph.without_operator(o).has_route(longest)]


def retired_for(state: RunState, proposal: p.OperatorProposed) -> OperatorId | None:
    """Return the operator that makes room for a new one, or ``None``.

    It is the one with the fewest samples among those whose removal leaves every other operator, the new one
    included, on some walk.
    """
    graph, longest = present_graph(state), state.settings.max_length
    is_initialiser = proposal.requires == "none"
    before = graph.on_walks(longest)

    def rank(operator: OperatorId) -> tuple[int, int, OperatorId]:
        uses = state.credits.operator_samples(state.pools[operator])
        after = graph.without_operator(operator).on_walks(longest)
        return len(before - after - {operator}), uses, operator

    def keeps_new(operator: OperatorId) -> bool:
        edges = [edge for edge in proposal.edges if operator not in edge]
        after = graph.without_operator(operator).with_operator(proposal.operator, is_initialiser, edges)
        return proposal.operator in after.on_walks(longest)

    return min((o for o in _may_retire(state) if keeps_new(o)), key=rank, default=None)


# ---------------------------------------------------------------- decisions


def decide(
    state: RunState, duty: OperatorDuty, observed: JudgedOperator | Quoted | NoRoom | None
) -> Decision:
    """Return the verdict on an answer or a measurement, that all stays, or what the ledger records."""
    match duty, observed:
        case AskModel() | AbandonCall(), Quoted() | NoRoom() | None:
            return calls.decide(state, duty, observed)
        case JudgeAnswer() | JudgeOperatorOffer(), Judged():
            return _verdict(state, duty, observed)
        case JudgeOperator(), None:
            return _decision(state, duty, _pass_gate(state))
        case KeepOperators(), None:
            return _decision(state, duty, [p.OperatorsKept(generation=duty.generation, reason=duty.reason)])
    raise TypeError(f"{duty} is not decided by {type(observed).__name__}")


def _decision(state: RunState, duty: Duty, payloads: Sequence[Payload], *blobs: bytes) -> Decision:
    number = open_basis(state)[0].number
    return Decision(
        tuple(Draft("operator_evolver", payload, number, duty.caused_by) for payload in payloads), blobs
    )


def _verdict(state: RunState, duty: JudgeAnswer | JudgeOperatorOffer, observed: JudgedOperator) -> Decision:
    try:
        proposed = parse_operator(observed.text, observed.task)
        if observed.trial is not None:
            raise observed.trial
    except ProposalError as error:
        return _decision(state, duty, [_reject(state, origin_of(duty), error)])
    new, source = _implementation(proposed, duty), proposed.source.encode()
    name = ImplementationId(new.id)
    basis = _basis_with(state, proposed, name)
    program, contract = incumbent(state), proposed.contract
    base = tuple(step.operator for step in program)
    walk = walk_through(basis.graph, base, contract.id, state.settings.max_length)
    payload = p.OperatorProposed(
        generation=open_basis(state)[0].number,
        operator=contract.id,
        title=contract.title,
        category=contract.category,
        requires=contract.requires,
        provides=contract.provides,
        summary=contract.summary,
        edges=proposed.edges,
        implementation=name,
        source=blob_digest(source),
        **origin_of(duty),
        program=program,
        extended=fill(walk or basis.graph.route_through(contract.id), program, basis.pools, basis.credits),
        control=gate.operator_arms(state)[1],
        instances=gate.gate_instances(state),
    )
    return _decision(state, duty, [payload], source)


def _implementation(proposed: ProposedOperator, duty: JudgeAnswer | JudgeOperatorOffer) -> Implementation:
    origin = f"call:{duty.call}" if isinstance(duty, JudgeAnswer) else f"bank:{duty.offer}"
    return Implementation(OperatorName(proposed.contract.id), proposed.source, origin)


def _basis_with(state: RunState, proposed: ProposedOperator, new: ImplementationId) -> EvolutionBasis:
    """Return the present graph, pools and credits with a proposed operator among them."""
    return replace(
        open_basis(state)[1],
        graph=graph_with(present_graph(state), proposed),
        pools=state.pools.set(proposed.contract.id, (new,)),
        credits=state.credits,
    )


def _pass_gate(state: RunState) -> list[Payload]:
    """Return what a measurement leads to: the operator joins if the incumbent gained by it."""
    generation = open_basis(state)[0]
    proposed, proposal = generation.proposed_operator, generation.operator_proposal
    assert proposed is not None
    assert proposal is not None
    result = gate.gate_result(state, proposal)
    if result.mean is None or result.mean <= 0.0:
        return [_reject(state, origin_of(proposed), ProposalError("gate", _loss(result)), result.gains)]
    added = p.OperatorAdded(
        generation=generation.number,
        operator=proposed.operator,
        implementation=proposed.implementation,
        **origin_of(proposed),
        gains=result.gains,
        credits=gate.operator_credits(state, proposed, result),
    )
    if not is_full(state):
        return [added]
    retired = retired_for(state, proposed)
    if retired is None:
        reason = ProposalError("retire", "it would be on no walk without the operators that may be retired")
        return [_reject(state, origin_of(proposed), reason, result.gains)]
    uses = state.credits.operator_samples(state.pools[retired])
    return [p.OperatorRetired(generation=generation.number, operator=retired, uses=uses), added]


def _loss(result: GateResult) -> str:
    if result.mean is None:
        return "it failed on an instance that it was measured on"
    gains = ", ".join("failed" if gain is None else f"{100 * gain:+.3f}" for gain in result.gains)
    return f"the program did not gain by it: {100 * result.mean:+.3f} points ({gains})"


FINAL_STAGES = ("no_change", "gate", "retire")
"""Stages behind which there is nothing to repair."""


def _reject(
    state: RunState, origin: Origin, error: ProposalError, gains: tuple[float | None, ...] = ()
) -> p.OperatorRejected:
    """Return that an operator does not join. A refused offer leaves the generation to the next one, or to a
    call."""
    attempt, is_last = 0, False
    if (call := origin["call"]) is not None:
        attempt = state.ledger.calls[call].attempt
        is_last = attempt + 1 >= state.settings.attempts_per_edit or state.ledger.left <= 0
    return p.OperatorRejected(
        generation=open_basis(state)[0].number,
        **origin,
        attempt=attempt,
        stage=error.stage,
        diagnostic=error.diagnostic,
        gains=gains,
        is_final=is_last or error.stage in FINAL_STAGES,
    )


# ---------------------------------------------------------------- what is asked


async def read_judged(
    state: RunState,
    duty: JudgeAnswer | JudgeOperatorOffer,
    context: PromptContext,
    sources: SourceReader,
) -> JudgedOperator:
    """Return what the log holds of an answer or of an entry of the bank; no trial has been made."""
    if isinstance(duty, JudgeOperatorOffer):
        task = await read_task(state, 0, context, sources)
        text = await bank_offers.read_operator_offer(state, duty.offer, task, sources.blobs)
        return JudgedOperator(task, text)
    call = state.ledger.calls[duty.call]
    task = await read_task(state, call.attempt, context, sources)
    return JudgedOperator(task, await calls.read_answer(call, sources.blobs))


async def read_task(
    state: RunState, attempt: int, context: PromptContext, sources: SourceReader
) -> OperatorTask:
    """Return what a proposer is asked for, with what was wrong with the answer before."""
    past = await calls.read_past_attempts(state, "operator", SLOT, attempt, sources.blobs)
    graph, contracts = present_graph(state), known_contracts(state, context)
    others = [
        await sources.implementation(state, p.Step(operator=operator, implementation=c))
        for operator in graph.operators
        for c in state.pools[operator]
    ]
    known = {ImplementationId(other.id) for other in others}
    others += [
        await sources.implementation(state, step)
        for step in known_of_library(state, context)
        if step.implementation not in known
    ]
    return OperatorTask(
        card=context.card,
        operators=tuple(contracts[o] for o in graph.operators),
        edges=tuple(sorted(graph.edges)),
        incumbent=tuple(step.operator for step in incumbent(state)),
        taken=tuple(sorted({*state.operator_of.values()})),
        categories={o: contract.category for o, contract in contracts.items()},
        others=tuple(others),
        max_length=state.settings.max_length,
        structure=state.settings.structure,
        retires=is_full(state),
        facts=await operator_facts(state, sources),
        kernels=await offered_kernels(state, sources),
        round_units=units_of_a_round(state),
        **vars(past),
    )
