"""MethodRunner: lets a method that evolves complete programs plan its rounds, and carries them out.

It asks the model for what a round wants, judges the answers and, when the programs are evaluated and scored,
records what the method works on from then on. What is asked for and kept is the method's to say
(`dga2d.agents.methods`); everything it decides on is the state.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

from dga2d.agents import calls
from dga2d.agents.agent import Decision, Duty, GenerationDuty, decide_on, open_generation
from dga2d.agents.calls import AbandonCall, AskModel, CallDesk, GiveUp, JudgeAnswer, Judged, NoRoom, Quoted
from dga2d.agents.conductor import Turn
from dga2d.agents.credit_keeper import round_evaluated
from dga2d.agents.evaluator_pool import SourceReader
from dga2d.agents.methods import Ask, get_method, library_operators, next_plan, search_of, seeds_of
from dga2d.agents.ports import EventAppender
from dga2d.agents.prompt_facts import program_facts
from dga2d.agents.proposing.answers import idea_of
from dga2d.agents.proposing.errors import ProposalError
from dga2d.agents.proposing.models import Models
from dga2d.agents.proposing.program_answers import parse_program, parse_reflection
from dga2d.agents.proposing.tasks import ProgramTask, PromptContext, ReflectTask, ShownProgram
from dga2d.agents.work_calibration import units_of_a_round
from dga2d.domains.core.components import split_component
from dga2d.domains.core.contract import Implementation, OperatorName
from dga2d.events import AgentName, ImplementationId, blob_digest
from dga2d.events import payloads as p
from dga2d.replay.state.fold_methods import round_programs
from dga2d.replay.state.run_state import RunState
from dga2d.replay.state.search_state import PROGRAM, SEED, RoundState

_RESUMED = ("RunResumed", "RunForked")
_ASKS = ("RoundPlanned", "ProgramRejected", "LLMCallAbandoned")
# What a slot follows: another slot of the round, which has its text or goes without.
_FOLLOWS = ("ProgramWritten", "ReflectionWritten", "ProgramSkipped", "ProgramRejected")
_SCORES = ("EvaluationRecorded (train)", *_FOLLOWS)
ROUND: tuple[Turn, ...] = (
    Turn("RoundPlanned", "method_runner", ("GenerationStarted",), "1"),
    Turn("LLMCallReserved", "method_runner", (*_ASKS, *_FOLLOWS), "≤ attempts_per_edit per slot"),
    Turn("LLMCallRefused", "method_runner", (*_ASKS, *_FOLLOWS), "≤ 1 per slot, at a limit"),
    Turn("LLMCallSettled", "method_runner", ("LLMCallReserved",), "≤ 1 per call"),
    Turn("LLMCallAbandoned", "method_runner", ("LLMCallReserved", *_RESUMED), "1 per call lost"),
    Turn("ProgramRejected", "method_runner", ("LLMCallSettled",), "1 per answer of no use"),
    Turn("ProgramWritten", "method_runner", ("LLMCallSettled", "RoundPlanned"), "≤ 1 per slot"),
    Turn("ReflectionWritten", "method_runner", ("LLMCallSettled",), "≤ 1 per slot"),
    Turn("ProgramSkipped", "method_runner", (*_ASKS, *_FOLLOWS, "LLMCallRefused"), "≤ 1 per slot"),
    # A program is a candidate as soon as it is written, or described where that is asked for.
    Turn("WorkRateMeasured", "evaluator_pool", ("RunStarted", *_RESUMED), "1 per program"),
    Turn(
        "EvaluationRecorded (train)",
        "evaluator_pool",
        ("ProgramWritten", "ReflectionWritten", "ProgramSkipped", "ProgramRejected"),
        "1 per program and instance of the batch",
    ),
    Turn("CandidateScored", "credit_keeper", _SCORES, "1 per program, when all are evaluated"),
    Turn("PopulationUpdated", "method_runner", _SCORES, "1"),
    # After so many calls as `validation_interval` of `generations` would use, and at the end.
    Turn("ValidationStarted", "conductor", ("PopulationUpdated",), "1, if due"),
    Turn("PipelinesDecoded", "pipeline_sampler", ("ValidationStarted",), "1 per validation"),
    Turn("GenerationCompleted", "conductor", ("PopulationUpdated", "ValidationScored"), "1"),
)
"""A round in the order of its events; what a validation writes besides is that of `conductor.GENERATION`."""


class PlanRound(GenerationDuty):
    """Record what a round asks for."""


@dataclass(frozen=True)
class TakeSeed(Duty):
    """Record a program of the library as the candidate of its slot."""

    slot: int


@dataclass(frozen=True)
class SkipSlot(Duty):
    """Record that a slot goes without."""

    slot: int
    reason: str = field(compare=False)


class UpdatePopulation(GenerationDuty):
    """Record what the method works on after a round."""


MethodDuty = AskModel | JudgeAnswer | AbandonCall | PlanRound | TakeSeed | SkipSlot | UpdatePopulation


JudgedText = Judged[ProgramTask | ReflectTask]


class ProgramTexts(NamedTuple):
    """Texts of all programs, those of the open round included."""

    sources: Mapping[ImplementationId, str]


Observed = JudgedText | ProgramTexts | Quoted | NoRoom | None


class MethodRunner:
    """Owns rounds, programs, reflections and the population of a method."""

    name: AgentName = "method_runner"

    def __init__(
        self, log: EventAppender, model: Models, sources: SourceReader, context: PromptContext
    ) -> None:
        self._log = log
        self._desk = CallDesk(log, model)
        self._sources = sources
        self._context = context

    def duties(self, state: RunState) -> Sequence[MethodDuty]:
        return duties(state)

    async def perform(self, duty: MethodDuty, state: RunState) -> None:
        match duty:
            case AskModel():
                task = await read_task(state, duty.slot, duty.attempt, self._context, self._sources)
                await self._desk.ask(state, duty, task)
            case JudgeAnswer():
                judged = await read_judged(state, duty, self._context, self._sources)
                await self._log.append(*decide(state, duty, judged))
            case UpdatePopulation():
                texts = await read_programs(state, self._sources)
                await self._log.append(*decide(state, duty, texts))
            case _:
                await self._log.append(*decide(state, duty, None))


# ------------------------------------------------------------ duties


def duties(state: RunState) -> tuple[MethodDuty, ...]:
    """Return what the open round still needs of the method."""
    generation = state.generation
    if state.status != "running" or state.settings.evolves_pipelines or generation is None:
        return ()
    planned = generation.round
    if planned is None:
        return (PlanRound(generation.seq, generation.number),)
    if planned.updated_seq:
        return ()
    slots = range(len(planned.asks))
    owed = (_slot_duty(state, planned, slot) for slot in slots if slot not in planned.verdicts)
    if len(planned.verdicts) < len(planned.asks):
        return tuple(duty for duty in owed if duty is not None)
    evaluated = round_evaluated(state)
    if evaluated is None or len(generation.scores) < len(generation.pipelines):
        return ()
    return (UpdatePopulation(evaluated, generation.number),)


def _slot_duty(state: RunState, planned: RoundState, slot: int) -> MethodDuty | None:
    ask, cause = planned.asks[slot], planned.seq
    if ask.variation == SEED:
        return TakeSeed(cause, slot)
    if ask.after is not None:
        if ask.after not in planned.verdicts:
            return None
        cause = planned.verdicts[ask.after]
        if ask.after not in planned.written and ask.after not in planned.texts:
            return SkipSlot(cause, slot, f"slot {ask.after}, which it follows, brought nothing")
    most = calls.slot_allowance(planned.calls_left, _count_asking(planned), _place(planned, slot))
    step = calls.next_call(state, ask.purpose, slot, cause, most)
    return SkipSlot(step.caused_by, slot, step.reason) if isinstance(step, GiveUp) else step


def _count_asking(planned: RoundState) -> int:
    """Return the slots that ask a model."""
    return sum(ask.variation != SEED for ask in planned.asks)


def _place(planned: RoundState, slot: int) -> int:
    """Return the place of a slot among those that ask a model."""
    return sum(ask.variation != SEED for ask in planned.asks[:slot])


def _open_round(state: RunState) -> RoundState:
    planned = open_generation(state).round
    assert planned is not None
    return planned


# ------------------------------------------------------------ decisions


def decide(state: RunState, duty: MethodDuty, observed: Observed) -> Decision:
    """Return the events that fulfil a duty."""
    match duty, observed:
        case AskModel() | AbandonCall(), Quoted() | NoRoom() | None:
            return calls.decide(state, duty, observed)
        case JudgeAnswer(), Judged():
            return _verdict(state, duty, observed)
        case PlanRound(), None:
            return _decision(state, duty, _plan(state, duty.number))
        case TakeSeed(), None:
            return _decision(state, duty, _seed(state, duty.slot))
        case SkipSlot(), None:
            number = open_generation(state).number
            return _decision(
                state, duty, p.ProgramSkipped(generation=number, slot=duty.slot, reason=duty.reason)
            )
        case UpdatePopulation(), ProgramTexts():
            return _update(state, duty, observed.sources)
    raise TypeError(f"{duty} is not decided by {type(observed).__name__}")


_decision = partial(decide_on, "method_runner")


def _plan(state: RunState, number: int) -> p.RoundPlanned:
    plan = next_plan(_before_round(state))
    if plan is None:  # the conductor asked the same before it began the round
        raise RuntimeError(f"{state.settings.method} has no round {number}")
    return p.RoundPlanned(
        generation=number,
        phase=plan.phase,
        asks=tuple(p.ProgramAsk(**vars(ask)) for ask in plan.asks),
        calls_left=state.ledger.left,
    )


def _seed(state: RunState, slot: int) -> p.ProgramWritten:
    (name,) = _open_round(state).asks[slot].parents
    return p.ProgramWritten(
        generation=open_generation(state).number,
        slot=slot,
        implementation=name,
        source=state.sources[name],
        call=None,
        idea="The safe baseline as one program.",
    )


def _verdict(state: RunState, duty: JudgeAnswer, observed: JudgedText) -> Decision:
    number = open_generation(state).number
    try:
        if isinstance(observed.task, ReflectTask):
            text = parse_reflection(observed.text, observed.task)
            reflected = p.ReflectionWritten(generation=number, slot=duty.slot, text=text, call=duty.call)
            return _decision(state, duty, reflected)
        source_text = parse_program(observed.text, observed.task.frame)
        new = Implementation(OperatorName(PROGRAM), source_text, f"call:{duty.call}")
        if ImplementationId(new.id) in state.search.programs:
            raise ProposalError("duplicate", f"{new.id} was evaluated before; it is the same text")
    except ProposalError as error:
        return _decision(state, duty, _reject(state, duty, error))
    source = new.source.encode()
    written = p.ProgramWritten(
        generation=number,
        slot=duty.slot,
        implementation=ImplementationId(new.id),
        source=blob_digest(source),
        call=duty.call,
        idea=idea_of(new.source),
    )
    return _decision(state, duty, written, source)


def _reject(state: RunState, duty: JudgeAnswer, error: ProposalError) -> p.ProgramRejected:
    planned, attempt = _open_round(state), state.ledger.calls[duty.call].attempt
    most = calls.slot_allowance(planned.calls_left, _count_asking(planned), _place(planned, duty.slot))
    return p.ProgramRejected(
        generation=open_generation(state).number,
        slot=duty.slot,
        call=duty.call,
        attempt=attempt,
        stage=error.stage,
        diagnostic=error.diagnostic,
        is_final=attempt + 1 >= min(state.settings.attempts_per_edit, most),
    )


def _update(state: RunState, duty: UpdatePopulation, sources: Mapping[ImplementationId, str]) -> Decision:
    """Return what the method works on after a round whose programs are scored."""
    generation, planned = open_generation(state), _open_round(state)
    latest = round_programs(state, generation.scores)
    search = search_of(state, duty.number, latest, planned.phase, sources)
    population = get_method(state.settings.method).update(search)
    updated = p.PopulationUpdated(
        generation=duty.number,
        population=population.members,
        archive=population.archive,
        nodes=population.nodes,
        memory=population.memory,
    )
    return _decision(state, duty, updated)


# ------------------------------------------------------------ what a proposer is told


async def read_judged(
    state: RunState, duty: JudgeAnswer, context: PromptContext, sources: SourceReader
) -> JudgedText:
    """Return what the log holds of an answer."""
    call = state.ledger.calls[duty.call]
    task = await read_task(state, duty.slot, call.attempt, context, sources)
    return JudgedText(task, await calls.read_answer(call, sources.blobs))


async def read_programs(state: RunState, sources: SourceReader) -> ProgramTexts:
    """Return the texts of all programs."""
    written = (program.implementation for program in _open_round(state).written.values())
    names = sorted({*state.search.programs, *written})
    steps = [p.Step(operator=PROGRAM, implementation=name) for name in names]
    texts = [(await sources.implementation(state, step)).source for step in steps]
    if state.settings.evolves_component:  # what is the same in all tells none from another
        texts = [split_component(text)[0] for text in texts]
    return ProgramTexts(dict(zip(names, texts, strict=True)))


async def read_task(
    state: RunState, slot: int, attempt: int, context: PromptContext, sources: SourceReader
) -> ProgramTask | ReflectTask:
    """Return what a proposer is asked for in a slot of the open round."""
    planned, number = _open_round(state), open_generation(state).number
    asked = planned.asks[slot]
    method = get_method(state.settings.method)
    variation = method.variations[asked.variation]
    names = list(asked.parents)
    notes = list(method.notes(search_of(_before_round(state), number), _ask(asked)))
    if asked.after is not None and (text := planned.texts.get(asked.after)) is not None:
        notes.append(text)
    if asked.purpose == "describe" and asked.after is not None:
        names.append(planned.written[asked.after].implementation)
    past = await calls.read_past_attempts(state, asked.purpose, slot, attempt, sources.blobs)
    common = {
        "card": context.card,
        "variation": asked.variation,
        "instruction": variation.instruction,
        "parents": tuple([await _show_program(state, name, sources) for name in names]),
        "notes": tuple(notes),
        **vars(past),
    }
    if asked.purpose != "program":
        return ReflectTask(**common, max_words=variation.max_words)
    operators = tuple(context.contracts[o.id] for o in library_operators(state) if o.id != PROGRAM)
    library = await _library(state, sources)
    shown = library if variation.shows_library else ()
    return ProgramTask(
        **common,
        shows_scores=variation.shows_scores,
        operators=operators,
        code=library,
        facts=program_facts(state, shown),
        frame=await _frame(state, sources),
        round_units=units_of_a_round(state),
    )


async def _frame(state: RunState, sources: SourceReader) -> str:
    """Return the program whose skeleton stays as it is; empty where whole programs are evolved."""
    if not state.settings.evolves_component:
        return ""
    (seed,) = seeds_of(state)
    return (await sources.implementation(state, p.Step(operator=PROGRAM, implementation=seed))).source


def _ask(asked: p.ProgramAsk) -> Ask:
    return Ask(**dict(asked))


def _before_round(state: RunState) -> RunState:
    """Return the state as it was for planning: the open round does not count."""
    return replace(state, generation=None)


async def _library(state: RunState, sources: SourceReader) -> tuple[Implementation, ...]:
    steps = [
        p.Step(operator=operator.id, implementation=implementation.id)
        for operator in library_operators(state)
        if operator.id != PROGRAM
        for implementation in operator.implementations
    ]
    return tuple([await sources.implementation(state, step) for step in steps])


async def _show_program(state: RunState, name: ImplementationId, sources: SourceReader) -> ShownProgram:
    step = p.Step(operator=PROGRAM, implementation=name)
    source = (await sources.implementation(state, step)).source
    if state.settings.evolves_component:
        source = split_component(source)[0]
    record = state.search.programs.get(name)
    if record is None:  # of the open round, and not evaluated yet
        return ShownProgram(name, source, idea_of(source), "", "not measured yet", -math.inf)
    gap = "it failed on a training instance" if record.failed else f"{-100.0 * record.score:.3f} %"
    return ShownProgram(name, source, record.idea or idea_of(source), record.description, gap, record.score)
