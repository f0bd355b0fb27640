"""Screens of three levels: every other value is compared with the present one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from tests.agents.memory_log import MemoryLog, before
from tests.agents.simulation import Simulation
from tests.agents.test_race_screens import (
    asked,
    constants_of,
    is_screen,
    material_of,
)

from dga2d.agents.race_levels import ARRAY, after_levels, draw_levels
from dga2d.agents.race_material import NewContender, RaceMaterial
from dga2d.domains.core.tunables import Tunable, find_tunables
from dga2d.events import ImplementationId
from dga2d.events.payloads import RaceStarted
from dga2d.replay.state.generation_state import MeanGain
from dga2d.replay.state.incumbent import incumbent
from dga2d.replay.state.run_state import RunState, Screened, ScreenedProgram

Gain = Callable[[dict[tuple[int, str], float]], float | None]
"""What a program gains by the constants in which it differs from the incumbent."""
INSTANCES = 5


def test_any_two_columns_of_the_array_have_each_pair_of_levels_equally_often() -> None:
    for i, j in combinations(range(len(ARRAY[0])), 2):
        pairs = Counter((row[i], row[j]) for row in ARRAY)
        assert len(pairs) == (6 if i == 0 else 9)
        assert set(pairs.values()) == {len(ARRAY) // len(pairs)}


@pytest.fixture
def drawn(raced: tuple[RunState, MemoryLog], racing: Simulation) -> tuple[RaceMaterial, list[NewContender]]:
    state, _ = before(raced[1], RaceStarted)[-1]
    material = material_of(state, raced[1], racing)
    return material, draw_levels(material)


def tunables_of(material: RaceMaterial, place: int) -> tuple[Tunable, ...]:
    return find_tunables(material.texts[material.incumbent[place].implementation])


def test_every_constant_has_its_present_value_and_two_others_equally_often(
    drawn: tuple[RaceMaterial, list[NewContender]],
) -> None:
    material, contenders = drawn
    rows = [constants_of(contender) for contender in contenders]
    assert len(rows) == len(ARRAY)
    for place in range(len(material.incumbent)):
        for tunable in tunables_of(material, place):
            found = Counter(row.get((place, tunable.name), tunable.value) for row in rows)
            if tunable.kind == "choice":
                assert set(found) <= set(tunable.choices)
            else:
                assert tunable.low <= min(map(float, found)) <= float(tunable.value)
                assert float(tunable.value) <= max(map(float, found)) <= tunable.high
            assert found[tunable.value] >= len(ARRAY) // 3
            assert all(count % (len(ARRAY) // 3) == 0 for count in found.values())


def advice(
    drawn: tuple[RaceMaterial, list[NewContender]], gain: Gain, stretch: float = 1.0
) -> list[tuple[str, dict[tuple[int, str], float], MeanGain]]:
    """What a race has after a screen whose programs gain what `gain` says."""
    material, contenders = drawn
    programs = tuple(ScreenedProgram(c.steps, gain(constants_of(c))) for c in contenders)
    screen = Screened(incumbent(material.state), programs, INSTANCES)
    settings = material.state.settings.model_copy(update={"screen_stretch": stretch})
    texts = {ImplementationId(c.text.id): c.text.source for new in contenders for c in new.configured}
    changed = replace(
        material, state=replace(material.state, settings=settings), texts={**material.texts, **texts}
    )
    return [(c.change.split(":")[0], constants_of(c), g) for c, g in after_levels(changed, screen)]


def values_of(drawn: tuple[RaceMaterial, list[NewContender]], factor: tuple[int, str]) -> list[float]:
    """The two other values of a constant, the lower first."""
    return sorted({row[factor] for row in map(constants_of, drawn[1]) if factor in row})


def test_a_constant_goes_where_it_is_better_though_another_has_a_ruinous_side(
    drawn: tuple[RaceMaterial, list[NewContender]],
) -> None:
    """The higher of two levels of the ruinous one looks best by far; beside the present one it is not."""
    last = len(drawn[0].incumbent) - 1
    ruinous, useful = (0, "NOISE"), (last, "NOISE")
    low, high = values_of(drawn, useful)
    ruin = values_of(drawn, ruinous)[0]
    noise = np.random.default_rng(3)

    def gain(row: dict[tuple[int, str], float]) -> float:
        own = 0.1 if row.get(useful) == high else -0.1 if row.get(useful) == low else 0.0
        return own - 2.0 * (row.get(ruinous) == ruin) + 0.01 * float(noise.normal())

    (_, near, (expected, pairs)), (name, further, same) = advice(drawn, gain, 3.0)
    assert near[useful] == high
    assert ruinous not in near
    assert 0.05 < expected < 0.13
    assert pairs == len(ARRAY) * INSTANCES // 3
    (own,) = (tunable for tunable in tunables_of(drawn[0], last) if tunable.name == "NOISE")
    now = float(own.value)
    assert name == "further up the slope"
    assert further[useful] == pytest.approx(min(own.high, now + 3.0 * (high - now)), abs=1e-3)
    assert same.gain == expected


def test_nothing_follows_where_nothing_is_better_or_all_failed(
    drawn: tuple[RaceMaterial, list[NewContender]],
) -> None:
    assert advice(drawn, lambda row: -0.1 * len(row)) == []
    assert advice(drawn, lambda row: 0.0) == []
    assert advice(drawn, lambda row: None) == []


def test_where_both_sides_are_better_nothing_goes_further(
    drawn: tuple[RaceMaterial, list[NewContender]],
) -> None:
    """The better one is taken, and no step beyond it: it may lie on either side of the best."""
    factor = (len(drawn[0].incumbent) - 1, "NOISE")
    low, high = values_of(drawn, factor)
    noise = np.random.default_rng(5)

    def gain(row: dict[tuple[int, str], float]) -> float:
        own = {low: 0.2, high: 0.1}.get(row.get(factor, float("nan")), 0.0)
        return own + 0.001 * float(noise.normal())

    found = advice(drawn, gain, 3.0)
    assert found[0][1][factor] == low
    assert all(row[factor] == low for _, row, _ in found)


def test_a_run_with_them_is_made_again_from_its_log(racing: Simulation) -> None:
    changed = racing.changed(
        screen_instances=4,
        screen_interval=3,
        screen_levels=3,
        screen_functions=2,
        generations=10,
        race_error=0.8,
        race_memory=3,
        incumbent_edits=2,
    )
    log = changed.run()[1]
    races = [event.payload for _, event in before(log, RaceStarted)]
    screens = [race for race in races if is_screen(race)]
    assert screens
    assert all(len(asked(race.contenders)) == len(ARRAY) for race in screens)
    advised = [c for race in races for c in race.contenders if "up the slope: " in c.change]
    assert advised
    assert changed.made_again(log)
