"""Fold handlers for methods that evolve whole programs."""

from __future__ import annotations

import math
from collections.abc import Mapping

from dga2d.events import RecordedEvent
from dga2d.events import payloads as p
from dga2d.replay.state.generation_state import GenerationState, SampledPipeline
from dga2d.replay.state.handler import folds, judge, open_generation, replace, require
from dga2d.replay.state.run_state import RunState
from dga2d.replay.state.search_state import (
    PROGRAM,
    SEED,
    ProgramRecord,
    Reflection,
    RoundState,
    WrittenProgram,
)


@folds(p.RoundPlanned)
def _round_planned(state: RunState, event: RecordedEvent, payload: p.RoundPlanned) -> RunState:
    generation = open_generation(state, event, payload.generation)
    require(not state.settings.evolves_pipelines, event, "the run evolves pipelines")
    require(generation.round is None, event, "the round was planned before")
    require(payload.asks, event, "the round asks for nothing")
    for slot, ask in enumerate(payload.asks):
        known = all(state.operator_of.get(parent) == PROGRAM for parent in ask.parents)
        require(known, event, f"slot {slot} shows an unknown program")
        require(ask.after is None or 0 <= ask.after < slot, event, f"slot {slot} follows no earlier one")
        is_whole = len(ask.parents) == 1 if ask.variation == SEED else True
        require(is_whole, event, f"slot {slot} takes no single program")
        described = None if ask.after is None else payload.asks[ask.after].purpose
        if ask.purpose == "describe":
            require(described == "program", event, f"slot {slot} describes no program")
    planned = RoundState(event.seq, payload.phase, payload.asks, payload.calls_left)
    return replace(state, generation=replace(generation, round=planned))


def _open_slot(
    state: RunState, event: RecordedEvent, number: int, slot: int
) -> tuple[GenerationState, RoundState]:
    generation = open_generation(state, event, number)
    planned = require(generation.round, event, "the round was not planned")
    require(0 <= slot < len(planned.asks), event, f"there is no slot {slot}")
    require(slot not in planned.verdicts, event, "the slot has its verdict")
    return generation, planned


def _closed_slot(
    state: RunState, event: RecordedEvent, slot: int, generation: GenerationState, planned: RoundState
) -> RunState:
    """Return the state with the verdict on a slot; a program that waited for it becomes a candidate."""
    planned = replace(planned, verdicts=planned.verdicts.set(slot, event.seq))
    ask = planned.asks[slot]
    ready = slot if ask.purpose == "program" and planned.follower(slot) is None else None
    if ask.purpose == "describe":
        ready = ask.after
    pipelines = generation.pipelines
    if ready is not None and (program := planned.written.get(ready)) is not None:
        step = p.Step(operator=PROGRAM, implementation=program.implementation)
        pipelines = pipelines.set(ready, SampledPipeline(event.seq, (step,)))
    changed = replace(generation, round=planned, pipelines=pipelines, size=len(pipelines))
    return replace(state, generation=changed)


@folds(p.ProgramWritten)
def _program_written(state: RunState, event: RecordedEvent, payload: p.ProgramWritten) -> RunState:
    generation, planned = _open_slot(state, event, payload.generation, payload.slot)
    ask, new = planned.asks[payload.slot], payload.implementation
    require(ask.purpose == "program", event, "the slot asks for no program")
    require(new.startswith(f"{PROGRAM}."), event, f"{new} is no program")
    if payload.call is None:
        is_seed = ask.variation == SEED and ask.parents == (new,)
        require(is_seed, event, "it is neither the answer to a call nor a program of the library")
    else:
        require(new not in state.search.programs, event, f"{new} was evaluated before")
        state = judge(state, event, payload.call, "accepted", bought=(new,))
    written = planned.written.set(payload.slot, WrittenProgram(new, payload.idea))
    planned = replace(planned, written=written)
    state = replace(
        state,
        sources=state.sources.set(new, payload.source),
        operator_of=state.operator_of.set(new, PROGRAM),
    )
    return _closed_slot(state, event, payload.slot, generation, planned)


@folds(p.ProgramRejected)
def _program_rejected(state: RunState, event: RecordedEvent, payload: p.ProgramRejected) -> RunState:
    generation, planned = _open_slot(state, event, payload.generation, payload.slot)
    state = judge(state, event, payload.call, "rejected", f"{payload.stage}: {payload.diagnostic}")
    return _closed_slot(state, event, payload.slot, generation, planned) if payload.is_final else state


@folds(p.ProgramSkipped)
def _program_skipped(state: RunState, event: RecordedEvent, payload: p.ProgramSkipped) -> RunState:
    generation, planned = _open_slot(state, event, payload.generation, payload.slot)
    return _closed_slot(state, event, payload.slot, generation, planned)


@folds(p.ReflectionWritten)
def _reflection_written(state: RunState, event: RecordedEvent, payload: p.ReflectionWritten) -> RunState:
    generation, planned = _open_slot(state, event, payload.generation, payload.slot)
    require(planned.asks[payload.slot].purpose != "program", event, "the slot asks for a program")
    state = judge(state, event, payload.call, "accepted")
    planned = replace(planned, texts=planned.texts.set(payload.slot, payload.text))
    return _closed_slot(state, event, payload.slot, generation, planned)


@folds(p.PopulationUpdated)
def _population_updated(state: RunState, event: RecordedEvent, payload: p.PopulationUpdated) -> RunState:
    generation = open_generation(state, event, payload.generation)
    planned = require(generation.round, event, "the round was not planned")
    require(not planned.updated_seq, event, "the round is over")
    require(len(planned.verdicts) == len(planned.asks), event, "slots of the round are open")
    require(len(generation.scores) == len(generation.pipelines), event, "not all programs are scored")
    search = state.search
    programs = search.programs.mutate()
    for record in round_programs(state, generation.scores):
        if record.id not in programs:
            programs[record.id] = record
    known = programs.finish()
    named = (*payload.population, *payload.archive, *(node.program for node in payload.nodes))
    unknown = [name for name in named if name not in known]
    require(not unknown, event, f"programs were never evaluated: {', '.join(unknown)}")
    require(len({*payload.population}) == len(payload.population), event, "a program is there twice")
    tree = search.tree.mutate()
    for node in payload.nodes:
        tree[node.program] = node
    search = replace(
        search,
        programs=known,
        population=payload.population,
        archive=payload.archive,
        tree=tree.finish(),
        reflections=(*search.reflections, *_reflections(generation)),
        memory=payload.memory,
    )
    pools = state.pools.set(PROGRAM, payload.population) if payload.population else state.pools
    planned = replace(planned, updated_seq=event.seq)
    return replace(state, search=search, pools=pools, generation=replace(generation, round=planned))


def round_programs(state: RunState, scores: Mapping[int, float]) -> tuple[ProgramRecord, ...]:
    """Return the programs of the open round, which must be evaluated, with their scores by slot."""
    generation = state.generation
    assert generation is not None
    assert generation.round is not None
    planned, first = generation.round, len(state.search.programs) + 1
    unit = 0 if state.settings.work is not None else 1
    found = []
    for count, slot in enumerate(sorted(generation.pipelines)):
        program, ask, follower = planned.written[slot], planned.asks[slot], planned.follower(slot)
        outcomes = generation.outcomes.row(slot).values()
        efforts = [outcome.effort[unit] for outcome in outcomes]
        failed = any(outcome.failure for outcome in outcomes)
        found.append(
            ProgramRecord(
                id=program.implementation,
                number=first + count,
                round=generation.number,
                slot=slot,
                variation=ask.variation,
                parents=() if ask.variation == SEED else ask.parents,
                idea=program.idea,
                description="" if follower is None else planned.texts.get(follower, ""),
                score=scores[slot],
                effort=0.0 if failed or not efforts else math.fsum(sorted(efforts)) / len(efforts),
                failed=failed,
            )
        )
    return tuple(found)


def _reflections(generation: GenerationState) -> tuple[Reflection, ...]:
    planned = generation.round
    assert planned is not None
    return tuple(
        Reflection(generation.number, slot, planned.asks[slot].variation, text)
        for slot, text in sorted(planned.texts.items())
        if planned.asks[slot].purpose == "reflect"
    )
