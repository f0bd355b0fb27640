"""Screens ask what marked functions of other texts are worth in the incumbent, beside its constants."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pytest
from immutables import Map
from tests.agents.memory_log import MemoryLog, before
from tests.agents.simulation import Simulation

from dga2d.agents.race_factors import LEAST_FACTORS, SLOPE, WITH_FUNCTIONS
from dga2d.agents.race_levels import ARRAY
from dga2d.agents.race_material import NewContender, RaceMaterial
from dga2d.agents.race_screens import after_screen, draw_screen, most_programs
from dga2d.domains.core.tunables import find_tunables
from dga2d.events import ImplementationId
from dga2d.events.payloads import IncumbentSelected, RaceRoundScored, RaceStarted
from dga2d.replay.state.fold import fold
from dga2d.replay.state.incumbent import incumbent
from dga2d.replay.state.run_state import Contribution, RunState, Screened, ScreenedProgram, program_key

PACE = re.compile(r"return n \+ (\d+)")
"""What tells one marked function from another."""

Sources = Mapping[ImplementationId, str]
Gains = list[float | None]


def material_of(
    state_and_sources: tuple[RunState, Sources], marked: Simulation, seed: int = 1, **rules: object
) -> RaceMaterial:
    state, sources = state_and_sources
    settings = state.settings.model_copy(update={"screen_functions": 2, "screen_instances": 4, **rules})
    contracts, draws = marked.prompt_context.contracts, np.random.default_rng(seed)
    donors = {name: sources[name] for pool in state.pools.values() for name in pool}
    return RaceMaterial(replace(state, settings=settings), sources, contracts, draws, donors)


def functions_of(material: RaceMaterial, contender: NewContender) -> list[tuple[int, int, str]]:
    """Marked functions that differ from the incumbent's: position, number and what tells them apart."""
    texts = {ImplementationId(c.text.id): c.text.source for c in contender.configured}
    found = []
    for place, (step, old) in enumerate(zip(contender.steps, material.incumbent, strict=True)):
        source = texts.get(step.implementation, material.texts[old.implementation])
        own, now = PACE.findall(material.texts[old.implementation]), PACE.findall(source)
        found += [(place, n, b) for n, (a, b) in enumerate(zip(own, now, strict=True)) if a != b]
    return found


@pytest.mark.parametrize("seed", range(5))
def test_a_function_is_another_one_in_half_of_the_programs(
    state_and_sources: tuple[RunState, Sources], marked: Simulation, seed: int
) -> None:
    """Balanced with every constant and with the other function; the other text is one of the pools'."""
    material = material_of(state_and_sources, marked, seed)
    contenders = draw_screen(material)
    count = most_programs(material.state.settings)
    assert len(contenders) == count
    found = [functions_of(material, contender) for contender in contenders]
    asked = sorted({function for functions in found for function in functions})
    assert len(asked) == len({(place, number) for place, number, _ in asked}) == 2
    paces = {pace for source in state_and_sources[1].values() for pace in PACE.findall(source)}
    assert {pace for *_, pace in asked} <= paces
    columns = [[1 if function in functions else -1 for functions in found] for function in asked]
    for place in range(len(material.incumbent)):
        texts = [dict(constants_at(material, contender, place)) for contender in contenders]
        for name in texts[0]:
            values = [text[name] for text in texts]
            if len({*values}) == 2:
                columns.append([1 if value == max(values) else -1 for value in values])
    signs = np.array(columns)
    assert LEAST_FACTORS < len(signs) <= count // 2
    assert np.array_equal(signs @ signs.T, count * np.eye(len(signs)))
    half = count // 2
    assert np.array_equal(signs[:, :half], -signs[:, half:]), "each has its opposite"
    for contender, functions in zip(contenders, found, strict=True):
        assert contender.move == ("implementation" if functions else "constants")
        changed = {place for place, *_ in functions}
        for place, step in enumerate(contender.steps):
            for text, parent, constants in contender.configured:
                if ImplementationId(text.id) == step.implementation:
                    assert parent == material.incumbent[place].implementation
                    assert place not in changed or not constants


def constants_at(material: RaceMaterial, contender: NewContender, place: int) -> Iterator[tuple[str, float]]:
    texts = {ImplementationId(c.text.id): c.text.source for c in contender.configured}
    name, own = contender.steps[place].implementation, material.incumbent[place].implementation
    for tunable in find_tunables(texts.get(name, material.texts[own])):
        if not isinstance(tunable.value, str):
            yield tunable.name, float(tunable.value)


def test_functions_are_asked_about_where_time_goes_and_as_the_settings_say(
    state_and_sources: tuple[RunState, Sources], marked: Simulation
) -> None:
    def places(material: RaceMaterial) -> set[int]:
        made = [functions_of(material, contender) for contender in draw_screen(material)]
        return {place for functions in made for place, *_ in functions}

    state, sources = state_and_sources
    for rules in ({"evolution": False}, {"screen_functions": 0}, {"race_moves": "constants+walk"}):
        material = material_of(state_and_sources, marked, **rules)
        assert draw_screen(material)
        assert places(material) == set()
    every = set[int]()
    for seed in range(6):
        every |= places(material_of(state_and_sources, marked, seed, screen_functions=8))
    assert every == set(range(len(incumbent(state))))
    efforts = zip(incumbent(state), (0.9, 0.01, 0.9, 0.9), strict=True)
    known = Map({step.implementation: Contribution(effort, 0.0, 1) for step, effort in efforts})
    busy = (replace(state, contributions=known), sources)
    idle = [places(material_of(busy, marked, k, screen_functions=8, share_effort=0.1)) for k in range(6)]
    assert set().union(*idle) == {0, 2, 3}


def after(
    material: RaceMaterial, contenders: list[NewContender], gains: Gains
) -> list[tuple[NewContender, float, int]]:
    """What a race begins with after a screen with these gains."""
    programs = tuple(ScreenedProgram(c.steps, gain) for c, gain in zip(contenders, gains, strict=True))
    screened = Screened(material.incumbent, programs, 4)
    texts = {ImplementationId(c.text.id): c.text.source for new in contenders for c in new.configured}
    changed = replace(
        material,
        state=replace(material.state, screened=screened),
        texts={**material.texts, **texts},
        donors={},
    )
    return [(contender, *expected) for contender, expected in after_screen(changed)]


def gains_of(found: list[list[tuple[int, int, str]]], good: object, bad: object, failed: int | None) -> Gains:
    """What programs with these functions gain where one is worth 0.3 and another costs as much."""
    noise = 0.02 * np.random.default_rng(2).normal(size=len(found))
    gains: Gains = [
        0.3 * (good in functions) - 0.3 * (bad in functions) + float(e)
        for functions, e in zip(found, noise, strict=True)
    ]
    if failed is not None:
        gains[failed] = None
    return gains


@pytest.mark.parametrize("failed", [None, 5])
def test_a_function_that_is_clearly_worth_something_joins_the_slope(
    state_and_sources: tuple[RunState, Sources], marked: Simulation, failed: int | None
) -> None:
    """In a contender of its own behind the slope of constants alone, which expects as much less as the
    function is worth; what failed tells nothing."""
    material = material_of(state_and_sources, marked)
    contenders = draw_screen(material)
    found = [functions_of(material, contender) for contender in contenders]
    good, bad = sorted({function for functions in found for function in functions})
    gains = gains_of(found, good, bad, failed)
    (slope, less, pairs), (joined, more, pairs_too) = after(material, contenders, gains)
    assert pairs == pairs_too == 4 * len(contenders) // 2
    assert functions_of(material, slope) == []
    assert functions_of(material, joined) == [good]
    assert (slope.move, slope.change.split(":")[0]) == ("constants", SLOPE)
    assert (joined.move, joined.change.split(":")[0]) == ("implementation", WITH_FUNCTIONS)
    assert more - less == pytest.approx(0.3, abs=0.05 if failed is None else 0.15)
    for place in range(len(material.incumbent)):
        assert [*constants_at(material, slope, place)] == [*constants_at(material, joined, place)]


@pytest.mark.parametrize("failed", [None, 5])
@pytest.mark.parametrize("seed", range(3))
def test_with_three_levels_too_a_function_that_is_clearly_worth_something_is_taken(
    state_and_sources: tuple[RunState, Sources], marked: Simulation, failed: int | None, seed: int
) -> None:
    """The first function is another one in half of the programs, the second in a third."""
    material = material_of(state_and_sources, marked, seed, screen_levels=3)
    contenders = draw_screen(material)
    assert len(contenders) == most_programs(material.state.settings) == len(ARRAY)
    found = [functions_of(material, contender) for contender in contenders]
    asked = sorted({function for functions in found for function in functions})
    counts = sorted(sum(function in functions for functions in found) for function in asked)
    assert counts == [len(ARRAY) // 3, len(ARRAY) // 2]
    good, bad = asked
    gains = gains_of(found, good, bad, failed)
    *others, (joined, expected, pairs) = after(material, contenders, gains)
    assert functions_of(material, joined) == [good]
    assert joined.change.startswith(f"{WITH_FUNCTIONS}: ")
    assert expected == pytest.approx(0.3, abs=0.1)
    assert pairs == 4 * len(ARRAY) // 3
    assert all(functions_of(material, contender) == [] for contender, *_ in others)


@pytest.mark.parametrize("worth", [0.0, 0.05])
def test_a_function_within_the_noise_joins_nothing(
    state_and_sources: tuple[RunState, Sources], marked: Simulation, worth: float
) -> None:
    """Of the sums of opposites, which are all alike but for noise, the error is taken: here five times what
    the function is worth."""
    material = material_of(state_and_sources, marked)
    contenders = draw_screen(material)
    found = [functions_of(material, contender) for contender in contenders]
    good = min(function for functions in found for function in functions)
    half = len(contenders) // 2
    noise = [0.5 * (-1) ** (row % half) for row in range(len(contenders))]
    gains: Gains = [worth * (good in functions) + e for functions, e in zip(found, noise, strict=True)]
    assert [functions_of(material, contender) for contender, *_ in after(material, contenders, gains)] in (
        [[]],
        [],
    )
    few: Gains = [gain if row < 2 else None for row, gain in enumerate(gains)]
    assert all(functions_of(material, contender) == [] for contender, *_ in after(material, contenders, few))


def test_functions_of_a_screen_race_join_the_pools_and_are_decided_again(marked: Simulation) -> None:
    simulation = replace(marked, seed=5).changed(
        screen_functions=3, screen_instances=4, race_contenders=6, race_error=0.9, generations=14
    )
    state, log = simulation.run()
    told = contenders_told(log)
    screens = [change for change in told if change.startswith("screen: ")]
    assert any("another pace" in change for change in screens)
    assert any(change.startswith(f"{WITH_FUNCTIONS}: another pace") for change in told)
    assert not any(change.startswith(WITH_FUNCTIONS) for change in contenders_told(log, until=4))
    for before_round, event in before(log, RaceRoundScored):
        generation = before_round.generation
        assert generation is not None
        if generation.race is not None and generation.race.is_screen:
            rows = [c for c in generation.race.contenders if c.change.startswith("screen: ")]
            screened = fold(before_round, event).screened
            assert screened is not None
            assert [program.steps for program in screened.programs] == [row.pipeline for row in rows]
    for before_end, event in before(log, IncumbentSelected):
        generation = before_end.generation
        assert generation is not None
        if generation.race is not None and generation.race.is_screen:
            rows = [c for c in generation.race.contenders if c.change.startswith("screen: ")]
            lost = fold(before_end, event).raced - before_end.raced
            assert not lost & {program_key(row.pipeline) for row in rows}, "nobody loses in a screen"
    assert state.status == "completed"
    assert simulation.made_again(log) > 20


def contenders_told(log: MemoryLog, until: int = 99) -> list[str]:
    return [
        contender.change
        for _, event in before(log, RaceStarted)
        for contender in event.payload.contenders
        if event.payload.generation < until
    ]
