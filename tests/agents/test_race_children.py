"""Contenders of a race whose texts have two parents among those that went far in the races before."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from immutables import Map
from tests.agents.memory_log import MemoryLog, before
from tests.agents.simulation import Simulation

from dga2d.agents.agent import open_race
from dga2d.agents.race_children import CHILD
from dga2d.agents.race_material import NewContender, RaceMaterial
from dga2d.agents.race_moves import draw_proposals
from dga2d.domains.core.tunables import find_tunables
from dga2d.events import ImplementationId
from dga2d.events.payloads import IncumbentSelected, RaceStarted, Step
from dga2d.replay.state import fold_comparisons
from dga2d.replay.state.fold import fold
from dga2d.replay.state.incumbent import incumbent
from dga2d.replay.state.run_state import Contribution, RunState, program_key

PACE = re.compile(r"return n \+ (\d+)")
"""What tells one marked function from another."""
Program = tuple[Step, ...]
Sources = Mapping[ImplementationId, str]


@pytest.fixture(scope="module")
def breeding(marked: Simulation) -> tuple[Simulation, MemoryLog]:
    run = replace(marked, seed=4).changed(
        race_children=4,
        race_opening=6,
        race_contenders=8,
        race_error=0.95,
        race_growth=1.5,
        race_instances=4,
        screen_instances=4,
        screen_patience=2,
        generations=14,
    )
    return run, run.run()[1]


def parents_of(state: RunState) -> tuple[Program, Program]:
    """The incumbent with two members of a pool in the place of its last operator."""
    steps = incumbent(state)
    assert [step.operator for step in steps] == ["build", "kick", "climb", "intensify"]
    one, other = sorted(state.pools[steps[-1].operator])[:2]
    last = [Step(operator=steps[-1].operator, implementation=name) for name in (one, other)]
    return (*steps[:-1], last[0]), (steps[0], last[1])


def children(
    state_and_sources: tuple[RunState, Sources],
    marked: Simulation,
    far: tuple[Program, ...],
    count: int = 60,
    efforts: tuple[float, ...] = (),
    raced: frozenset[str] = frozenset(),
    evolution: bool = True,
    donors: Sources | None = None,
) -> list[NewContender]:
    state, sources = state_and_sources
    shares = zip(incumbent(state), efforts, strict=False)
    rules = {"evolution": evolution, "race_children": count, "share_effort": 0.1}
    changed = replace(
        state,
        far=far,
        raced=raced,
        contributions=Map({step.implementation: Contribution(effort, 0.0, 1) for step, effort in shares}),
        settings=state.settings.model_copy(update={**rules, "race_moves": "implementation"}),
    )
    members = {name: sources[name] for pool in state.pools.values() for name in pool}
    contracts, draws = marked.prompt_context.contracts, np.random.default_rng(3)
    material = RaceMaterial(changed, sources, contracts, draws, members if donors is None else donors)
    return [new for new in draw_proposals(material, 60) if new.change.startswith(CHILD)]


def test_a_child_has_functions_and_constants_of_both_parents_and_others(
    state_and_sources: tuple[RunState, Sources], marked: Simulation
) -> None:
    state, sources = state_and_sources
    far = parents_of(state)
    texts = {program[-1].implementation: sources[program[-1].implementation] for program in far}
    found = children(state_and_sources, marked, far)
    assert len(found) > 6
    functions, inherited, moved, parents = set[str](), 0, 0, set[ImplementationId]()
    for new in found:
        ((text, parent, constants),) = new.configured
        parents.add(parent)
        (other,) = texts.keys() - {parent}
        assert new.move == "implementation"
        now = {t.name: t for t in find_tunables(text.source)}
        own, mates = ({t.name: t.value for t in find_tunables(texts[name])} for name in (parent, other))
        assert [*now] == [*own]
        for name, tunable in now.items():
            assert tunable.accepts(tunable.value)
            inherited += tunable.value in (own[name], mates.get(name))
            moved += tunable.value not in (own[name], mates.get(name))
        paces = PACE.findall(text.source)
        functions |= {*paces}
        is_configuration = paces == PACE.findall(texts[parent])
        assert bool(constants) <= is_configuration
    known = {pace for text in texts.values() for pace in PACE.findall(text)}
    assert known <= functions, "functions of both"
    assert functions - known, "and of others"
    assert functions <= {pace for source in sources.values() for pace in PACE.findall(source)}
    assert parents == texts.keys()
    assert min(inherited, moved) > 0
    alone = children(state_and_sources, marked, far, donors={})
    assert {pace for new in alone for pace in PACE.findall(new.configured[0].text.source)} <= known


def test_a_child_stands_where_most_time_goes_or_alone(
    state_and_sources: tuple[RunState, Sources], marked: Simulation
) -> None:
    state, _ = state_and_sources
    steps, far = incumbent(state), parents_of(state)
    found = children(state_and_sources, marked, far, efforts=(0.9, 0.2, 0.3, 0.6))
    assert {len(new.steps) for new in found} == {2, 4}
    for new in found:
        assert new.steps[:-1] == steps[: len(new.steps) - 1]
        assert new.steps[-1].operator == steps[-1].operator
    assert children(state_and_sources, marked, far, efforts=(0.9, 0.05, 0.05, 0.05)) == []


def test_there_are_no_more_children_than_asked_for_and_none_without_parents(
    state_and_sources: tuple[RunState, Sources], marked: Simulation
) -> None:
    state, _ = state_and_sources
    far = parents_of(state)
    found = children(state_and_sources, marked, far)
    tried = frozenset(program_key(new.steps) for new in found)
    again = children(state_and_sources, marked, far, raced=tried)
    assert not tried & {program_key(new.steps) for new in again}
    assert children(state_and_sources, marked, far, count=2) == found[:2]
    assert children(state_and_sources, marked, far, count=0) == []
    assert children(state_and_sources, marked, far, evolution=False) == []
    assert children(state_and_sources, marked, ()) == []
    only = children(state_and_sources, marked, far[1:])
    assert {new.configured[0].parent for new in only} == {far[1][-1].implementation}


def test_parents_are_the_latest_programs_that_went_far(breeding: tuple[Simulation, MemoryLog]) -> None:
    _, log = breeding
    known: tuple[Program, ...] = ()
    longest = 0
    for state, event in before(log, IncumbentSelected):
        race, after = open_race(state), fold(state, event)
        assert state.far == known
        known = after.far
        if race.is_screen:
            assert known == state.far
            continue
        assert known[0] == incumbent(after)
        new = [program for program in known[1:] if program not in state.far]
        stayed = {race.contenders[j].pipeline for j in race.outranked}
        stayed |= {race.contenders[s.contender].pipeline for s in race.standings if s.verdict == "uncertain"}
        assert {*new} <= stayed | {incumbent(state)}
        assert len({*known}) == len(known)
        longest = max(longest, len(known))
    assert longest > 4


def test_no_more_than_so_many_programs_are_kept(
    breeding: tuple[Simulation, MemoryLog], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fold_comparisons, "FAR", 3)
    kept = [state.far for state, _ in before(breeding[0].run()[1], IncumbentSelected)]
    assert max(map(len, kept)) == 3


def test_texts_are_parents_once_whatever_stands_before_them(
    state_and_sources: tuple[RunState, Sources], marked: Simulation
) -> None:
    one, other = parents_of(state_and_sources[0])
    again = (one[0].model_copy(update={"share": 0.5}), *one[1:])
    found = children(state_and_sources, marked, (one, other))
    assert found
    assert children(state_and_sources, marked, (one, again, other)) == found


def test_children_race_join_the_pools_and_are_decided_again(breeding: tuple[Simulation, MemoryLog]) -> None:
    run, log = breeding
    told = [
        (event.payload.generation, contender.change)
        for _, event in before(log, RaceStarted)
        for contender in event.payload.contenders
    ]
    races = [number for number, change in told if change.startswith(CHILD)]
    assert min(races) == 2, "the first race has no parents yet"
    assert max(races.count(number) for number in races) == 4
    won = {
        open_race(state).contenders[event.payload.contender].change.split(":")[0]
        for state, event in before(log, IncumbentSelected)
        if event.payload.contender
    }
    assert CHILD in won
    assert run.made_again(log)


def test_a_screen_waits_for_as_many_races_as_the_settings_say(breeding: tuple[Simulation, MemoryLog]) -> None:
    run, log = breeding
    screens = 0
    for state, event in before(log, RaceStarted):
        race, champion = event.payload, state.champion
        is_screen = race.selecting == len(race.rounds)
        screens += is_screen
        if champion is None or state.screened is not None or race.generation == run.settings.generations:
            assert not is_screen
        else:
            is_new = champion.move not in ("constants", "share")
            assert is_screen == (not is_new or champion.generation < race.generation - 2)
    assert screens > 1
