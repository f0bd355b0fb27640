"""New code that is ahead of the incumbent: it is met again with all its pairs, and ranked by them."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import pytest
from tests.agents.memory_log import before
from tests.agents.simulation import SMALL, Simulation
from tests.agents.test_races import gaps_of

from dga2d.agents.agent import open_race
from dga2d.events import canonical_bytes
from dga2d.events.payloads import IncumbentSelected, RaceRoundScored, RaceStarted, Standing
from dga2d.replay.state.fold import fold
from dga2d.replay.state.generation_state import RaceState
from dga2d.replay.state.run_state import program_key

if TYPE_CHECKING:
    from tests.agents.memory_log import MemoryLog

RACING = Simulation(SMALL).changed(race_contenders=8, race_instances=6, race_error=0.8)


@pytest.fixture(scope="module")
def remembering() -> list[tuple[Simulation, MemoryLog]]:
    """Runs in which new code is met again."""
    changed = RACING.changed(
        race_memory=3,
        race_shrinkage=4.0,
        race_evidence=True,
        gate_instances=4,
        incumbent_edits=4,
        generations=7,
        race_moves="code,walk,constants",
    )
    runs = [replace(changed, seed=seed) for seed in (8, 9)]
    return [(run, run.run()[1]) for run in runs]


def test_new_code_that_is_ahead_is_met_again_with_all_its_pairs(
    remembering: list[tuple[Simulation, MemoryLog]],
) -> None:
    """What comes back is the best of what is ahead, and its gain is the mean over old and new pairs."""
    returned = pooled = 0
    for state, event in chain.from_iterable(before(log, RaceStarted) for _, log in remembering):
        pipelines = [contender.pipeline for contender in event.payload.contenders[1:]]
        waiting = [old for old in state.promising if program_key(old.steps) not in state.raced]
        best = sorted(waiting, key=lambda old: -old.gain.shrunken(4.0))[:3]
        assert [steps for steps in pipelines if steps in {old.steps for old in state.promising}] == [
            old.steps for old in best
        ]
        returned += len(best)
    for state, event in chain.from_iterable(before(log, RaceRoundScored) for _, log in remembering):
        race = open_race(state)
        known = {old.steps: old.gain for old in state.promising}
        for standing in event.payload.standings:
            program = race.contenders[standing.contender].pipeline
            if program not in known or standing.gain is None or race.round >= race.selecting:
                continue
            own, gaps = (gaps_of(state, race, number) for number in (0, standing.contender))
            gains = [b - a for b, a in zip(own, gaps, strict=True)]
            gain, pairs = known[program]
            assert standing.pairs == len(gains) + pairs
            assert standing.gain == pytest.approx((sum(gains) + gain * pairs) / standing.pairs)
            pooled += 1
    assert returned > 3
    assert pooled > 3
    run, log = remembering[0]
    assert run.made_again(log)


def test_what_is_ahead_goes_into_an_incumbent_that_changes_another_position(
    remembering: list[tuple[Simulation, MemoryLog]],
) -> None:
    """Where both change the same position no pairs count any more; what falls behind is given up."""
    moved = anew = kept = 0
    for state, event in chain.from_iterable(before(log, IncumbentSelected) for _, log in remembering):
        own, after = open_race(state).contenders[0].pipeline, fold(state, event)
        ahead = after.promising
        assert all(old.gain.gain > 0.0 or old.gain.pairs == 0 for old in ahead)
        if not event.payload.contender:
            kept += len(ahead)
            continue
        now = event.payload.pipeline
        for old in ahead:
            assert old.steps != now
            assert len(old.steps) == len(own) == len(now)
            positions = list(zip(old.steps, own, now, strict=True))
            if old.gain.pairs:
                assert all(winner in (new, was) for new, was, winner in positions)
                moved += 1
            else:
                anew += 1
    assert kept > 3
    assert moved > 0
    assert anew > 0


def test_luck_on_few_pairs_does_not_outrank_a_smaller_gain_on_many(
    remembering: list[tuple[Simulation, MemoryLog]],
) -> None:
    otherwise = 0
    for state, event in chain.from_iterable(before(log, RaceRoundScored) for _, log in remembering):
        race = open_race(state)
        if race.round >= race.selecting:
            continue
        ranked = {
            s.contender: s.gain * s.pairs / (s.pairs + 4.0)
            for s in event.payload.standings
            if s.verdict in ("stays", "outranked")
        }
        stay = [s for s in event.payload.standings if s.verdict == "stays"]
        out = [s for s in event.payload.standings if s.verdict == "outranked"]
        for one, other in ((one, other) for one in stay for other in out):
            assert ranked[one.contender] >= ranked[other.contender]
            otherwise += one.gain < other.gain
    assert otherwise > 0


def test_pairs_are_no_part_of_logs_without_these_rules() -> None:
    _, log = RACING.changed(generations=1).run()
    scored = before(log, RaceRoundScored)
    assert scored
    for state, event in scored:
        assert not state.promising
        assert b"pairs" not in canonical_bytes(event.payload)


def standing(contender: int, gain: float | None, pairs: int) -> Standing:
    verdict = "failed" if gain is None else "stays"
    return Standing(contender=contender, gain=gain, won=0, lost=0, p=None, verdict=verdict, pairs=pairs)


def test_gains_of_all_rounds_are_pooled_and_those_of_what_failed_forgotten() -> None:
    """Two rounds that select, the second over the pairs of the first, too, and one of the finalist's."""
    race = RaceState(1, (), (), (3, 12, 20), 2, (1, 2, 3))
    first = [standing(1, 0.4, 3), standing(2, 0.2, 3), standing(3, 0.1, 3)]
    race = replace(race, found=race.found_with(first), standings=tuple(first), round=1)
    assert race.gain_of(3) == (0.1, 3)
    second = [standing(1, 0.3, 12), standing(2, None, 12)]
    race = replace(race, found=race.found_with(second), standings=tuple(second), round=2)
    assert race.gain_of(1) == (0.3, 12)
    assert race.gain_of(2) is None
    assert race.gain_of(3) == (0.1, 3)
    final = [standing(1, -0.15, 8)]
    ended = replace(race, found=race.found_with(final), standings=tuple(final), round=3)
    assert ended.gain_of(1) == pytest.approx((0.12, 20))
    failed = [standing(1, None, 8)]
    ended = replace(race, found=race.found_with(failed), standings=tuple(failed), round=3)
    assert ended.gain_of(1) is None
