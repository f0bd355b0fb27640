"""Screens: all constants of the incumbent are changed at once, and the next race goes up the slope."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from tests.agents.memory_log import MemoryLog, before
from tests.agents.simulation import Simulation

from dga2d.agents.agent import open_race
from dga2d.agents.race_material import NewContender, RaceMaterial
from dga2d.agents.race_screens import after_screen, draw_screen
from dga2d.domains.core.tunables import Tunable, find_tunables
from dga2d.events import ImplementationId
from dga2d.events.payloads import Contender, IncumbentSelected, RaceRoundScored, RaceStarted
from dga2d.replay.state.fold import fold, fold_all
from dga2d.replay.state.generation_state import MeanGain
from dga2d.replay.state.incumbent import incumbent
from dga2d.replay.state.run_state import RunState, Screened, ScreenedProgram, program_key
from dga2d.runtime.inspection.views import history_view, incumbent_view

Constants = dict[tuple[int, str], float]


@pytest.fixture(scope="module")
def screening(racing: Simulation) -> tuple[Simulation, MemoryLog]:
    changed = racing.changed(
        screen_instances=4, generations=16, race_error=0.8, race_memory=3, race_returns=2, incumbent_edits=2
    )
    return changed, changed.run()[1]


def is_screen(race: RaceStarted) -> bool:
    return race.selecting == len(race.rounds)


def asked(contenders: tuple[Contender, ...]) -> list[Contender]:
    return [contender for contender in contenders if contender.change.startswith("screen: ")]


def material_of(state: RunState, log: MemoryLog, racing: Simulation, seed: int = 1) -> RaceMaterial:
    texts = {name: log.blobs[digest].decode() for name, digest in state.sources.items()}
    return RaceMaterial(state, texts, racing.prompt_context.contracts, np.random.default_rng(seed))


def constants_of(contender: NewContender) -> Constants:
    """Constants that differ from the incumbent's, by position and name."""
    texts = {ImplementationId(c.text.id): dict(c.constants) for c in contender.configured}
    places = [(i, texts.get(step.implementation, {})) for i, step in enumerate(contender.steps)]
    return {(i, name): float(value) for i, new in places for name, value in new.items()}


@pytest.mark.parametrize("seed", range(5))
def test_every_constant_is_up_in_half_and_any_two_together_as_often_as_apart(
    raced: tuple[RunState, MemoryLog], racing: Simulation, seed: int
) -> None:
    state, _ = before(raced[1], RaceStarted)[-1]
    contenders = draw_screen(material_of(state, raced[1], racing, seed))
    rows = [constants_of(contender) for contender in contenders]
    names = sorted(rows[0])
    assert len(names) == sum(len(tunables_at(state, raced[1], i)) for i in range(len(incumbent(state))))
    assert len(rows) == (8 if len(names) <= 4 else 16)
    middle = {name: (min(row[name] for row in rows) + max(row[name] for row in rows)) / 2 for name in names}
    signs = np.array([[1 if row[name] > middle[name] else -1 for name in names] for row in rows])
    assert np.array_equal(signs.T @ signs, len(rows) * np.eye(len(names)))
    assert not signs.sum(axis=0).any()
    half = len(rows) // 2
    assert np.array_equal(signs[:half], -signs[half:]), "each has its opposite"
    for i in range(len(incumbent(state))):
        for tunable in tunables_at(state, raced[1], i):
            low, high = sorted({row[i, tunable.name] for row in rows})
            assert tunable.low <= low <= float(tunable.value) <= high <= tunable.high
    assert all(contender.move == "constants" for contender in contenders)
    assert len({program_key(contender.steps) for contender in contenders}) == len(rows)


def tunables_at(state: RunState, log: MemoryLog, place: int) -> tuple[Tunable, ...]:
    return find_tunables(log.blobs[state.sources[incumbent(state)[place].implementation]].decode())


def after_a_screen(
    state: RunState, log: MemoryLog, racing: Simulation, worth: Constants, failed: int | None = None
) -> tuple[RaceMaterial, list[Constants]]:
    """What a race is made of after a screen in which each constant adds its worth to whoever has it high and
    takes it from whoever has it low."""
    contenders = draw_screen(material_of(state, log, racing))
    rows = [constants_of(contender) for contender in contenders]
    tops = {name: max(row[name] for row in rows) for name in rows[0]}
    gains: list[float | None] = [
        sum(w if row[name] == tops[name] else -w for name, w in worth.items()) for row in rows
    ]
    if failed is not None:
        gains[failed] = None
    programs = tuple(ScreenedProgram(c.steps, gain) for c, gain in zip(contenders, gains, strict=True))
    changed = replace(state, screened=Screened(incumbent(state), programs, 5))
    texts = {ImplementationId(c.text.id): c.text.source for new in contenders for c in new.configured}
    material = material_of(changed, log, racing)
    return replace(material, texts={**material.texts, **texts}), rows


def test_constants_go_after_screen_by_what_they_are_worth(
    raced: tuple[RunState, MemoryLog], racing: Simulation
) -> None:
    """The steepest as far as the screen went, another half as far, what is worth nothing nowhere; the gain is
    that of the slope, and counts for all pairs of opposites."""
    state, _ = before(raced[1], RaceStarted)[-1]
    last = len(incumbent(state)) - 1
    worth = {(0, "NOISE"): -0.2, (last, "NOISE"): 0.1}
    material, rows = after_a_screen(state, raced[1], racing, worth)
    ((contender, (gain, pairs)),) = after_screen(material)
    now = float(tunables_at(state, raced[1], last)[1].value)
    low, high = min(row[0, "NOISE"] for row in rows), max(row[last, "NOISE"] for row in rows)
    assert constants_of(contender) == {
        (0, "NOISE"): low,
        (last, "NOISE"): pytest.approx((now + high) / 2, abs=1e-4),
    }
    assert gain == pytest.approx(0.2 + 0.05, abs=1e-3)
    assert pairs == 5 * len(rows) / 2
    assert (contender.move, contender.change.split(":")[0]) == ("constants", "up the slope")


def test_constants_go_further_as_well_up_to_the_ends_of_their_ranges(
    raced: tuple[RunState, MemoryLog], racing: Simulation
) -> None:
    state, _ = before(raced[1], RaceStarted)[-1]
    last = len(incumbent(state)) - 1
    worth = {(0, "NOISE"): -0.2, (last, "NOISE"): 0.1}
    material, _ = after_a_screen(state, raced[1], racing, worth)

    def advised(stretch: float) -> list[tuple[str, Constants, MeanGain]]:
        settings = material.state.settings.model_copy(update={"screen_stretch": stretch})
        changed = replace(material.state, settings=settings)
        found = after_screen(replace(material, state=changed))
        return [(c.change.split(":")[0], constants_of(c), gain) for c, gain in found]

    ((_, near, gain),) = advised(1.0)
    slope, further = advised(2.0)
    assert slope == ("up the slope", near, gain)
    assert (further[0], further[2]) == ("further up the slope", gain)
    for place, low, high in ((0, 0.0, near[0, "NOISE"]), (last, near[last, "NOISE"], 1.0)):
        assert low <= further[1][place, "NOISE"] <= high
        assert further[1][place, "NOISE"] != near[place, "NOISE"]
    first, second = tunables_at(state, raced[1], 0)[1], tunables_at(state, raced[1], last)[1]
    ends = {(0, "NOISE"): first.low, (last, "NOISE"): second.high}
    assert advised(100.0)[1][1] == ends


def test_there_is_no_slope_of_another_incumbent_or_where_nothing_is_worth_anything(
    raced: tuple[RunState, MemoryLog], racing: Simulation
) -> None:
    state, _ = before(raced[1], RaceStarted)[-1]
    assert after_screen(material_of(state, raced[1], racing)) == []
    material, _ = after_a_screen(state, raced[1], racing, {})
    assert after_screen(material) == []
    material, _ = after_a_screen(state, raced[1], racing, {(0, "NOISE"): 0.1}, failed=3)
    assert after_screen(material), "what failed tells nothing, the others do"
    assert material.state.screened is not None
    other = material.state.screened._replace(base=incumbent(state)[:-1])
    moved = replace(material, state=replace(material.state, screened=other))
    assert after_screen(moved) == []


def test_nobody_wins_a_screen_and_what_is_to_return_waits(screening: tuple[Simulation, MemoryLog]) -> None:
    run, log = screening
    started = before(log, RaceStarted)
    screens = [event.payload.generation for _, event in started if is_screen(event.payload)]
    assert len(screens) > 2
    assert all(later - earlier > 1 for earlier, later in pairwise(screens))
    assert max(screens) < run.settings.generations
    for _, event in started:
        race = event.payload
        rows = asked(race.contenders)
        assert bool(rows) == is_screen(race)
        if rows:
            assert race.rounds == (4,)
            assert {c.move for c in race.contenders if c not in rows} <= {"incumbent", "code"}
    for state, event in before(log, RaceRoundScored):
        if open_race(state).is_screen:
            assert not [s for s in event.payload.standings if s.verdict == "stays"]
            after = fold(state, event)
            assert after.screened is not None
            assert after.screened.base == incumbent(state)
            assert (after.moves, after.tried_constants) == (state.moves, state.tried_constants)
    for state, event in before(log, IncumbentSelected):
        after = fold(state, event)
        if open_race(state).is_screen:
            assert event.payload.contender == 0
            kept = (after.finalist, after.runners_up, after.outrun)
            assert kept == (state.finalist, state.runners_up, state.outrun)
            assert after.screened == state.screened
            assert after.screened is not None
            assert not {program_key(row.steps) for row in after.screened.programs} & after.raced
        else:
            assert after.screened is None


def test_the_race_after_a_screen_meets_its_slope_with_what_was_found(
    screening: tuple[Simulation, MemoryLog],
) -> None:
    """It comes first, and the gain by which it is ranked is pooled with that of the slope."""
    run, log = screening
    uphill = 0
    for state, event in before(log, RaceStarted):
        slope = [c for c in event.payload.contenders if c.change.startswith("up the slope: ")]
        assert not slope or slope == [event.payload.contenders[1]]
        assert not slope or state.screened is not None
        uphill += len(slope)
    assert uphill > 1
    pooled = 0
    for state, event in before(log, RaceRoundScored):
        race = open_race(state)
        if race.round or race.is_screen or state.screened is None:
            continue
        standing = event.payload.standings[0]
        if race.contenders[1].change.startswith("up the slope") and standing.gain is not None:
            known = len(state.screened.programs) * state.screened.instances // 2
            assert standing.pairs == known + race.rounds[0]
            pooled += 1
    assert pooled > 1
    assert run.made_again(log)


def test_a_screen_follows_a_race_that_left_the_structure_as_it_was(
    screening: tuple[Simulation, MemoryLog],
) -> None:
    due = Counter[bool]()
    for state, event in before(screening[1], RaceStarted):
        number = event.payload.generation
        if state.champion is None or state.screened is not None:
            assert not is_screen(event.payload)
        elif number < screening[0].settings.generations:
            won = state.champion.generation == number - 1
            is_due = not won or state.champion.move in ("constants", "share")
            assert is_screen(event.payload) == is_due
            due[is_due] += 1
    assert min(due[True], due[False]) > 0


@pytest.mark.parametrize(("generations", "held"), [(11, [2, 5, 8]), (5, [])])
def test_a_screen_is_held_at_intervals_whatever_has_won(
    racing: Simulation, generations: int, held: list[int]
) -> None:
    """Not in a run of less than two intervals."""
    changed = racing.changed(
        screen_instances=4, screen_interval=3, screen_patience=20, generations=generations, race_error=0.8
    )
    started = before(changed.run()[1], RaceStarted)
    assert [event.payload.generation for _, event in started if is_screen(event.payload)] == held
    structures = {state.champion.move for state, _ in started if state.champion} - {"constants", "share"}
    assert structures, "some race was won by another structure"


def test_screens_are_counted_apart_from_races(screening: tuple[Simulation, MemoryLog]) -> None:
    state = fold_all(screening[1].events)
    view = incumbent_view(state)
    assert view is not None
    started = [event.payload for _, event in before(screening[1], RaceStarted)]
    screens = sum(map(is_screen, started))
    assert (view["races"], view["screens"]) == (len(started) - screens, screens)
    told = [row["race"]["is_screen"] for row in history_view(state)]
    assert told == [is_screen(race) for race in started]
