"""From a run's state to what a method decides on, and when a run of a method is over."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dga2d.agents.methods.contract import Plan, Search, seeding
from dga2d.agents.methods.registry import get_method
from dga2d.events import ImplementationId
from dga2d.events.payloads import LibraryOperator, RunStarted
from dga2d.replay.state.run_state import RunState
from dga2d.replay.state.search_state import PROGRAM, ProgramRecord


def search_of(
    state: RunState,
    number: int,
    latest: tuple[ProgramRecord, ...] = (),
    phase: str = "",
    sources: Mapping[ImplementationId, str] = MappingProxyType({}),
) -> Search:
    """Return what a method decides on in round `number`; with `latest` when these have been evaluated, and
    the `sources` of all programs."""
    search, ledger = state.search, state.ledger
    programs: Mapping[ImplementationId, ProgramRecord] = search.programs
    if latest:
        programs = {**{record.id: record for record in reversed(latest)}, **search.programs}
    return Search(
        seed=state.header.seed,
        round=number,
        calls_left=ledger.left,
        calls_limit=ledger.limit,
        size=state.settings.population,
        attempts=state.settings.attempts_per_edit,
        seeds=seeds_of(state),
        programs=programs,
        latest=latest,
        population=search.population,
        archive=search.archive,
        tree=search.tree,
        reflections=search.reflections,
        memory=search.memory,
        phase=phase,
        sources=sources,
    )


def seeds_of(state: RunState) -> tuple[ImplementationId, ...]:
    """Return the library's own programs."""
    programs = next(operator for operator in library_operators(state) if operator.id == PROGRAM)
    return tuple(implementation.id for implementation in programs.implementations)


def library_operators(state: RunState) -> tuple[LibraryOperator, ...]:
    """Return the operators that the run began with; the last is that of complete programs."""
    match state.header:
        case RunStarted(library=operators):
            return operators


def next_plan(state: RunState) -> Plan | None:
    """Return the round behind those that are over; ``None`` when the run is.

    In an open round that has been evaluated it is the one behind it.
    """
    open_number = 0 if state.generation is None else state.generation.number
    number = max(state.completed, open_number) + 1
    search = search_of(state, number)
    if number == 1:
        return seeding(search)
    if state.ledger.spent_reason is not None:
        return None
    return get_method(state.settings.method).plan(search)


def method_end(state: RunState) -> str | None:
    """Return why a run of a method is over after its last round; ``None`` if it goes on.

    A limit of tokens or money is no end that was asked for; that of calls is.
    """
    if not state.completed and state.generation is None:
        return None
    ledger, limit = state.ledger, state.settings.rejection_limit
    if ledger.left <= 0:
        return f"all {ledger.limit} calls made"
    if ledger.spent_reason is not None:
        return ledger.spent_reason
    if 0 < limit <= ledger.rejections.in_a_row:
        return ledger.rejections.sentence
    if next_plan(state) is None:
        return f"no further round fits: {ledger.used} of {ledger.limit} calls made"
    return None
