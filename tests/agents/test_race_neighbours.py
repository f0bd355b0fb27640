"""Neighbours of the incumbent that races draw first: other operators, exchanged functions, less of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from immutables import Map
from tests.agents.memory_log import MemoryLog, before
from tests.agents.simulation import Simulation

from dga2d.agents.race_material import NewContender, RaceMaterial
from dga2d.agents.race_moves import draw_proposals
from dga2d.events import ImplementationId, OperatorId
from dga2d.events.payloads import IncumbentSelected, RaceStarted
from dga2d.replay.state.incumbent import incumbent
from dga2d.replay.state.run_state import Contribution, RunState, program_key


@pytest.mark.parametrize("category", ["local_search", "recombination"])
def test_substitutes_are_of_the_same_kind_and_begin_where_most_time_goes(
    raced: tuple[RunState, MemoryLog], racing: Simulation, category: str
) -> None:
    """Every implementation once, and none where a position takes hardly any time. What uses all its time
    takes the place of a local search, but not the other way round."""
    state, _ = before(raced[1], RaceStarted)[-1]
    known, steps = racing.prompt_context.contracts, incumbent(state)
    contracts = {**known, OperatorId("climb"): replace(known[OperatorId("climb")], category=category)}
    texts = {s.implementation: raced[1].blobs[state.sources[s.implementation]].decode() for s in steps}
    assert [step.operator for step in steps] == ["build", "intensify", "climb"]

    def substitutes(
        count: int, efforts: tuple[float, ...], raced: frozenset[str] = frozenset()
    ) -> list[NewContender]:
        efforts_of = zip(steps, efforts, strict=True)
        contributions = Map({s.implementation: Contribution(effort, 0.0, 1) for s, effort in efforts_of})
        settings = state.settings.model_copy(update={"race_substitutes": count, "share_effort": 0.1})
        changed = replace(state, raced=raced, settings=settings, contributions=contributions)
        material = RaceMaterial(changed, texts, contracts, np.random.default_rng(1))
        return [p for p in draw_proposals(material, 60) if p.change.startswith("another of its kind")]

    def places(found: list[NewContender]) -> list[int]:
        return [next(i for i, s in enumerate(p.steps) if s != steps[i]) for p in found]

    first = substitutes(60, (0.8, 0.05, 0.05))
    assert {*places(first)} == {0}
    assert {(p.move, p.steps[0].operator) for p in first} == {("walk", "start")}
    assert sorted(p.steps[0].implementation for p in first) == sorted(state.pools[OperatorId("start")])
    tried = frozenset(program_key(proposal.steps) for proposal in first[1:])
    assert [p.steps for p in substitutes(60, (0.8, 0.05, 0.05), tried)] == [first[0].steps]
    assert len(substitutes(1, (0.8, 0.05, 0.05))) == 1
    assert substitutes(0, (0.8, 0.05, 0.05)) == []
    found = substitutes(60, (0.2, 0.05, 0.7))
    assert [*dict.fromkeys(places(found))] == [2, 0], "the most time first"
    assert {p.steps[2].operator for p in found if p.steps[2] != steps[2]} == {"intensify"}
    assert {*places(substitutes(60, (0.05, 0.8, 0.05)))} == ({1} if category == "recombination" else set())


def test_less_is_tried_alone_first_and_then_without_what_takes_more_than_it_gives(
    raced: tuple[RunState, MemoryLog], racing: Simulation
) -> None:
    state, _ = before(raced[1], RaceStarted)[-1]
    steps, contracts = incumbent(state), racing.prompt_context.contracts
    texts = {s.implementation: raced[1].blobs[state.sources[s.implementation]].decode() for s in steps}
    assert [step.operator for step in steps] == ["build", "intensify", "climb"]

    def less(
        count: int, *shares: tuple[float, float], raced: frozenset[str] = frozenset()
    ) -> list[NewContender]:
        pairs = zip(steps, shares, strict=True)
        known = Map({s.implementation: Contribution(effort, gain, 1) for s, (effort, gain) in pairs})
        settings = state.settings.model_copy(update={"race_drops": count, "share_effort": 0.1})
        changed = replace(state, raced=raced, settings=settings, contributions=known)
        material = RaceMaterial(changed, texts, contracts, np.random.default_rng(1))
        return [p for p in draw_proposals(material, 60) if p.change.startswith("less of it")]

    build, intensify, climb = steps
    even = ((0.1, 0.5), (0.4, 0.3), (0.5, 0.2))
    found = less(60, *even)
    assert [p.steps for p in found] == [(build, climb), (build, intensify)], "a walk of three has no others"
    assert {p.move for p in found} == {"walk"}
    tried = frozenset({program_key(found[0].steps)})
    assert [p.steps for p in less(60, *even, raced=tried)] == [(build, intensify)]
    assert [p.steps for p in less(1, *even)] == [(build, climb)]
    assert less(0, *even) == []
    found = less(60, (0.1, 0.5), (0.85, 0.3), (0.05, 0.2))
    assert [p.steps for p in found] == [(build, intensify), (build, climb)], (
        "alone, and what is left without it"
    )


def test_marked_functions_are_exchanged_where_most_time_goes(marked: Simulation) -> None:
    """Each fitting one once, from any operator's pool; the text keeps the rest and is a new one."""
    blocks = marked.changed(race_blocks=2, generations=3)
    _, log = blocks.run()
    state, _ = before(log, RaceStarted)[0]
    steps, everything = incumbent(state), {name for pool in state.pools.values() for name in pool}
    sources = {name: log.blobs[state.sources[name]].decode() for name in everything}
    contracts = blocks.prompt_context.contracts

    def exchanged(
        count: int,
        efforts: Sequence[float],
        raced: frozenset[str] = frozenset(),
        evolution: bool = True,
    ) -> list[NewContender]:
        shares = zip(steps, efforts, strict=True)
        known = Map({s.implementation: Contribution(effort, 0.0, 1) for s, effort in shares})
        rules = {
            "evolution": evolution,
            "race_blocks": count,
            "share_effort": 0.1,
            "race_moves": "implementation",
        }
        changed = replace(
            state, raced=raced, contributions=known, settings=state.settings.model_copy(update=rules)
        )
        material = RaceMaterial(changed, sources, contracts, np.random.default_rng(1), sources)
        return [new for new in draw_proposals(material, 60) if new.change.startswith("pace of")]

    efforts = [0.05] * len(steps)
    efforts[-1] = 0.8
    found = exchanged(60, efforts)
    last = steps[-1].implementation
    assert len(found) == len({text_of(new) for new in found}) == len(everything) - 1
    for new in found:
        donor = ImplementationId(new.change.split()[2])
        head, own = sources[last].split("# exchangeable: pace\n")
        assert (
            text_of(new)
            == head + "# exchangeable: pace\n" + sources[donor].split("# exchangeable: pace\n")[1]
        )
        assert text_of(new) != head + own
        assert (new.move, new.steps[:-1]) == ("implementation", steps[:-1])
        assert [(c.parent, c.constants) for c in new.configured] == [(last, {})]
    tried = frozenset(program_key(new.steps) for new in found[1:])
    assert exchanged(60, efforts, tried) == found[:1]
    assert len(exchanged(2, efforts)) == 2
    assert exchanged(0, efforts) == []
    assert exchanged(60, efforts, evolution=False) == []
    efforts[0] = 0.9
    assert [new.steps[-1] != steps[-1] for new in exchanged(60, efforts)] == [False] * len(found) + [
        True
    ] * len(found)


def text_of(new: NewContender) -> str:
    return new.configured[0].text.source


def test_a_text_with_an_exchanged_function_is_a_new_one_and_decided_again(marked: Simulation) -> None:
    """It configures nothing, so that it has a rate of its own, and joins a pool where there is room."""
    blocks = marked.changed(
        race_blocks=4, race_moves="implementation", race_error=0.95, race_instances=4, generations=6
    )
    state, log = blocks.run()
    brought = {
        new.implementation: new
        for _, event in before(log, RaceStarted)
        for new in event.payload.configurations
    }
    assert len(brought) > 10
    assert not any(new.constants for new in brought.values())
    assert not state.configured
    assert all(state.sources[name] == new.source for name, new in brought.items())
    joined = [c for _, event in before(log, IncumbentSelected) for c in event.payload.pool_changes]
    assert any(change.added in brought for change in joined)
    assert all(change.removed is None for change in joined)
    assert blocks.made_again(log) > 20
