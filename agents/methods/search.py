"""Methods by name (shipped, of installed packages, classes of any module), what they decide on, and when a
run of one is over.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from types import MappingProxyType

from dga2d.agents.methods.contract import Method, Plan, Search, seeding
from dga2d.events import Dga2dError, ImplementationId
from dga2d.events.payloads import LibraryOperator, RunStarted
from dga2d.replay.state.run_state import RunState
from dga2d.replay.state.search_state import PROGRAM, ProgramRecord

GROUP = "dga2d.methods"
"""Entry points of installed packages: a name, and the class of a method."""
ALLOWED = "DGA2D_METHODS"
"""Environment variable: methods of modules that may be imported, with commas between them."""
SHIPPED = {
    "random": "dga2d.agents.methods.random_search:RandomSearch",
    "eoh": "dga2d.agents.methods.eoh:EvolutionOfHeuristics",
    "reevo": "dga2d.agents.methods.reevo:ReflectiveEvolution",
    "mcts-ahd": "dga2d.agents.methods.mcts_ahd:TreeOfHeuristics",
    "meoh": "dga2d.agents.methods.meoh:MultiObjectiveEvolution",
    "tree": "dga2d.agents.methods.tree_search:ProgramTreeSearch",
}
"""Name → class, imported when it is used."""


class MethodError(Dga2dError, ValueError):
    """There is no such method."""


def method_names() -> tuple[str, ...]:
    """Return the names of all methods, ``dga2d`` first."""
    installed = {entry.name for entry in entry_points(group=GROUP)}
    return ("dga2d", *sorted({*SHIPPED, *installed}))


@cache
def get_method(name: str) -> Method:
    """Return a method of complete programs by its name, or by ``MODULE:CLASS``.

    Such a class is imported only where ``DGA2D_METHODS`` names it, too: logs name methods, and a log of
    others would choose what code is run here.

    Raises
    ------
    MethodError
        There is none of that name, or its class cannot be imported or made without arguments.
    """
    target = SHIPPED.get(name)
    if target is None:
        target = next((entry.value for entry in entry_points(group=GROUP) if entry.name == name), name)
    module, _, attribute = target.partition(":")
    if not attribute:
        raise MethodError(f"method {name!r}: expected {', '.join(method_names())}, or MODULE:CLASS")
    if target == name and name not in os.environ.get(ALLOWED, "").split(","):
        raise MethodError(
            f"method {name!r}: code of a module, which is run outside the sandbox; if it is yours, allow it "
            f"with {ALLOWED}={name} in the environment"
        )
    try:
        method: Method = getattr(import_module(module), attribute)()
    except (ImportError, AttributeError, TypeError) as error:
        raise MethodError(f"method {name!r}: {error}") from error
    if missing := [part for part in ("variations", "plan", "update", "notes") if not hasattr(method, part)]:
        raise MethodError(f"method {name!r}: {attribute} has no {', '.join(missing)}")
    return method


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
