"""Contenders of a race that are put together at random: marked functions and constants at once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from immutables import Map
from tests.agents.memory_log import before
from tests.agents.simulation import Simulation

from dga2d.agents.race_assemblies import ASSEMBLED
from dga2d.agents.race_material import NewContender, RaceMaterial
from dga2d.agents.race_moves import draw_proposals
from dga2d.agents.racer import opening_evaluations, race_evaluations
from dga2d.domains.core.tunables import find_tunables
from dga2d.events import ImplementationId
from dga2d.events.payloads import IncumbentSelected, RaceStarted
from dga2d.replay.state.incumbent import incumbent
from dga2d.replay.state.run_state import Contribution, RunState, program_key
from dga2d.runtime.runs.estimate import search_evaluations

PACE = re.compile(r"return n \+ (\d+)")
"""What tells one marked function from another."""


def material_of(state: RunState, sources: Mapping[ImplementationId, str], run: Simulation) -> RaceMaterial:
    donors = {name: sources[name] for pool in state.pools.values() for name in pool}
    return RaceMaterial(state, sources, run.prompt_context.contracts, np.random.default_rng(3), donors)


def assembled(
    state_and_sources: tuple[RunState, Mapping[ImplementationId, str]],
    marked: Simulation,
    count: int = 60,
    efforts: Sequence[float] = (),
    raced: frozenset[str] = frozenset(),
    evolution: bool = True,
) -> list[NewContender]:
    state, sources = state_and_sources
    shares = zip(incumbent(state), efforts, strict=False)
    rules = {
        "evolution": evolution,
        "race_assemblies": count,
        "share_effort": 0.1,
        "race_moves": "implementation",
    }
    changed = replace(
        state,
        raced=raced,
        contributions=Map({step.implementation: Contribution(effort, 0.0, 1) for step, effort in shares}),
        settings=state.settings.model_copy(update=rules),
    )
    found = draw_proposals(material_of(changed, sources, marked), 60)
    return [new for new in found if new.change.startswith(ASSEMBLED)]


def test_texts_are_assembled_of_marked_functions_and_other_constants(
    state_and_sources: tuple[RunState, Mapping[ImplementationId, str]], marked: Simulation
) -> None:
    """Of one member of a pool and a function of any; what has the member's own is a configuration of it."""
    _, sources = state_and_sources
    found = assembled(state_and_sources, marked)
    assert len(found) > 6
    own = later = 0
    for new in found:
        ((text, parent, constants),) = new.configured
        paces, former_paces = PACE.findall(text.source), PACE.findall(sources[parent])
        assert len(paces) == len(former_paces)
        assert {*paces} <= {pace for source in sources.values() for pace in PACE.findall(source)}
        former, now = find_tunables(sources[parent]), find_tunables(text.source)
        assert [(t.name, t.low, t.high) for t in former] == [(t.name, t.low, t.high) for t in now]
        assert all(t.low <= float(t.value) <= t.high for t in now)
        changed = {t.name: t.value for old, t in zip(former, now, strict=True) if t.value != old.value}
        own += paces == former_paces
        later += paces[1:] != former_paces[1:]
        assert constants.items() >= changed.items() if paces == former_paces else not constants
        if not changed:
            assert PACE.sub("", text.source) == PACE.sub("", sources[parent])
    assert 0 < own < len(found)
    assert later, "of a composed text's functions of one name every one is drawn"


def test_an_assembled_text_stands_where_most_time_goes_or_alone(
    state_and_sources: tuple[RunState, Mapping[ImplementationId, str]], marked: Simulation
) -> None:
    steps, contracts = incumbent(state_and_sources[0]), marked.prompt_context.contracts
    assert [step.operator for step in steps] == ["build", "kick", "climb", "intensify"]
    found = assembled(state_and_sources, marked, efforts=(0.9, 0.2, 0.3, 0.6))
    alone = [new.steps for new in found if len(new.steps) == 2]
    whole = [new.steps for new in found if len(new.steps) == 4]
    assert alone
    assert whole
    assert {steps[0] for steps in (*alone, *whole)} == {steps[0]}
    for other in whole:
        place = next(i for i in range(4) if other[i] != steps[i])
        category = contracts[other[place].operator].category
        assert (place, category) == (3, "intensification"), "searches that use all the time they get, if any"
        assert other[place + 1 :] == steps[place + 1 :]
    idle = assembled(state_and_sources, marked, efforts=(0.9, 0.05, 0.05, 0.05))
    assert idle == [], "positions that take hardly any time have no turn"


def test_at_most_so_many_are_assembled_and_none_that_has_raced(
    state_and_sources: tuple[RunState, Mapping[ImplementationId, str]], marked: Simulation
) -> None:
    found = assembled(state_and_sources, marked)
    tried = frozenset(program_key(new.steps) for new in found)
    assert not tried & {program_key(new.steps) for new in assembled(state_and_sources, marked, raced=tried)}
    assert assembled(state_and_sources, marked, count=2) == found[:2]
    assert assembled(state_and_sources, marked, count=0) == []
    assert assembled(state_and_sources, marked, evolution=False) == []


def test_the_first_race_opens_with_more_of_them(
    state_and_sources: tuple[RunState, Mapping[ImplementationId, str]], marked: Simulation
) -> None:
    """They come beside its other contenders and take nothing from them."""
    state, sources = state_and_sources
    assert state.champion is not None
    rules = {"race_assemblies": 1, "race_moves": "implementation,constants", "race_opening": 5}

    def contenders(changed: RunState, **more: object) -> list[NewContender]:
        settings = state.settings.model_copy(update={**rules, **more})
        return draw_proposals(material_of(replace(changed, settings=settings), sources, marked), 4)

    def texts(found: list[NewContender]) -> list[str]:
        return [new.change for new in found if new.change.startswith(ASSEMBLED)]

    first = replace(state, champion=None)
    opened, usual = contenders(first), contenders(first, race_opening=0)
    assert (len(opened), len(usual)) == (4 + 5, 4)
    assert (len(texts(opened)), len(texts(usual))) == (1 + 5, 1)
    assert len({program_key(new.steps) for new in opened}) == len(opened)
    assert [len(contenders(state, race_opening=n)) for n in (0, 5)] == [4, 4]
    assert len(contenders(first, evolution=False)) == 4, "what cannot be assembled is not made up for"


def test_an_opening_is_part_of_what_a_run_is_expected_to_take(marked: Simulation) -> None:
    rules = marked.settings.model_copy(update={"race_opening": 0, "race_contenders": 12})
    opening = rules.model_copy(update={"race_opening": 20})
    more = race_evaluations(rules, 32) - race_evaluations(rules, 12)
    assert more > 20 * rules.batch_size
    assert opening_evaluations(opening) == more
    assert opening_evaluations(rules) == opening_evaluations(marked.settings) == 0
    assert search_evaluations(opening) - search_evaluations(rules) == more
    later = search_evaluations(opening, generations_closed=1)
    assert later == search_evaluations(rules, generations_closed=1)


def test_assembled_texts_join_the_pools_and_are_decided_again(marked: Simulation) -> None:
    simulation = replace(marked, seed=2).changed(
        race_assemblies=6,
        race_opening=4,
        race_moves="implementation",
        race_error=0.95,
        race_instances=4,
        generations=6,
    )
    state, log = simulation.run()
    brought = {
        new.implementation: new
        for _, event in before(log, RaceStarted)
        for new in event.payload.configurations
    }
    sizes = [len(event.payload.contenders) for _, event in before(log, RaceStarted)]
    assert sizes[0] > simulation.settings.race_contenders + 1 >= max(sizes[1:])
    assert len(brought) > 10
    assert all(state.sources[name] == new.source for name, new in brought.items())
    assert {*state.configured} == {name for name, new in brought.items() if new.constants}
    joined = [c for _, event in before(log, IncumbentSelected) for c in event.payload.pool_changes]
    assert any(change.added in brought for change in joined)
    assert simulation.made_again(log) > 20
