"""Races around the incumbent: who may race, who stays, who wins, and what a winner brings with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import pytest
from immutables import Map
from tests.agents.memory_log import MemoryLog, before
from tests.agents.outside_world import HashEvaluator
from tests.agents.simulation import Simulation

from dga2d.agents.agent import open_race
from dga2d.agents.gate import evidence
from dga2d.agents.ports import EvaluationReply, EvaluationRequest
from dga2d.agents.race_material import NewContender, RaceMaterial
from dga2d.agents.race_moves import MOVES as DRAWN_MOVES
from dga2d.agents.race_moves import draw_proposals, move_weight
from dga2d.agents.racer import decide, duties, plan_rounds, race_instances
from dga2d.domains.core.contract import normalised_gap
from dga2d.domains.core.tunables import find_tunables
from dga2d.events import ImplementationId, InstanceKey
from dga2d.events.payloads import (
    EvaluationRecorded,
    ImplementationProposed,
    IncumbentSelected,
    InstanceEntry,
    PipelinesDecoded,
    RaceRoundScored,
    RaceStarted,
)
from dga2d.replay.errors import InvariantError
from dga2d.replay.settings import MOVES
from dga2d.replay.state.fold import fold
from dga2d.replay.state.generation_state import RaceState
from dga2d.replay.state.incumbent import incumbent
from dga2d.replay.state.outcomes import NO_OUTCOMES, Outcome, Outcomes
from dga2d.replay.state.run_state import Contribution, MoveRecord, RunState, TriedConstant, program_key


def gaps_of(state: RunState, race: RaceState, contender: int) -> list[float]:
    """What a contender of a minimised objective came to on the instances of the present round."""
    found = []
    for repeat, key in race.trials[race.used]:
        objective = race.outcomes[race.candidate(contender, repeat), key].objective
        assert objective is not None
        known = state.entry(key)
        found.append(normalised_gap(objective, known.reference, "min", known.scale))
    return found


def test_every_generation_has_its_race_and_somebody_wins_one(raced: tuple[RunState, MemoryLog]) -> None:
    state, log = raced
    races = [state.history[t].race for t in sorted(state.history)]
    assert [race is not None and race.contenders > 0 for race in races] == [True] * 5
    winners = [e.payload.pipeline for e in log.events if isinstance(e.payload, IncumbentSelected)]
    assert sum(race.winner is not None for race in races if race) >= 1
    assert state.champion is not None
    assert incumbent(state) == state.champion.steps == winners[-1]


def test_contenders_are_valid_programs_none_of_which_raced_in_vain_before(
    raced: tuple[RunState, MemoryLog],
) -> None:
    for state, event in before(raced[1], RaceStarted):
        own, *others = event.payload.contenders
        keys = [program_key(contender.pipeline) for contender in event.payload.contenders]
        assert own.pipeline == incumbent(state)
        assert len(set(keys)) == len(keys)
        assert state.raced.isdisjoint(keys[1:])
        assert {contender.move for contender in others} <= MOVES
        initialisers = state.graph.initialisers if state.graph else frozenset()
        for contender in others:
            first, *rest = [step.operator for step in contender.pipeline]
            assert first in initialisers
            assert initialisers.isdisjoint(rest)
            assert len(rest) < state.settings.max_length


@pytest.mark.parametrize("moves", ["walk", "constants", "implementation,share", "code"])
def test_contenders_come_from_the_moves_that_are_set(racing: Simulation, moves: str) -> None:
    _, log = racing.changed(race_moves=moves, generations=2).run()
    found = {c.move for e in log.events if isinstance(e.payload, RaceStarted) for c in e.payload.contenders}
    assert found <= {"incumbent", *moves.split(",")}
    assert len(found) > 1 or moves == "code"


def test_constants_stay_in_their_ranges_and_are_recorded_with_what_they_configure(
    raced: tuple[RunState, MemoryLog],
) -> None:
    _, log = raced
    configurations = [
        configuration
        for event in log.events
        if isinstance(event.payload, RaceStarted)
        for configuration in event.payload.configurations
    ]
    assert configurations
    state = raced[0]
    for new in configurations:
        text, parent = (log.blobs[d].decode() for d in (new.source, state.sources[new.parent]))
        values = {tunable.name: tunable.value for tunable in find_tunables(text)}
        former = {tunable.name: tunable.value for tunable in find_tunables(parent)}
        assert {name: values[name] for name in values if values[name] != former[name]} == new.constants
        assert state.unconfigured(new.implementation) in {
            c for c in state.sources if c not in state.configured
        }


def test_all_contenders_of_a_round_meet_the_same_instances_with_the_same_random_numbers(
    racing: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds: dict[tuple[str, str], set[tuple[int, ...]]] = {}

    class Recording(HashEvaluator):
        async def evaluate(self, request: Any) -> Any:
            if request.key.startswith("evaluation/race/"):
                _, _, number, _, *instance = request.key.split("/")
                seeds.setdefault((number, "/".join(instance)), set()).add(request.seed)
            return await super().evaluate(request)

    monkeypatch.setattr("tests.agents.simulation.HashEvaluator", Recording)
    _, log = racing.changed(race_instances=20).run()  # of six training instances: they come again
    started = [e.payload for e in log.events if isinstance(e.payload, RaceStarted)]
    repeats = max(p.instances.count(key) for p in started for key in p.instances)
    assert repeats > 2
    assert 1 < max(map(len, seeds.values())) <= repeats
    assert len(set().union(*seeds.values())) == sum(map(len, seeds.values()))


def with_gains(state: RunState, gains: Sequence[float | None]) -> RunState:
    """The state in which contender j + 1 of the present round is ahead by ``gains[j]`` everywhere; ``None``
    fails."""
    generation = state.generation
    assert generation is not None
    assert generation.race is not None
    race = generation.race
    rows = {}
    for repeat, key in race.trials[race.used]:
        noise = sum(map(ord, key)) % 7
        for contender in (0, *race.left):
            gain = 0.0 if contender == 0 else gains[contender - 1]
            outcome = (
                Outcome(None, "timeout")
                if gain is None
                else Outcome(150.0 + noise - 100.0 * gain * (1 + noise / 7), None)
            )
            rows[race.candidate(contender, repeat), key] = outcome
    race = replace(race, outcomes=Outcomes.of(rows), outcomes_seq=state.seq)
    return replace(state, generation=replace(generation, race=race))


def first_round(log: MemoryLog) -> RunState:
    state, event = before(log, RaceStarted)[0]
    return fold(state, event)


def verdicts(state: RunState) -> list[str]:
    (duty,) = duties(state)
    payload = decide(state, duty, None).drafts[0].payload  # type: ignore[arg-type]
    assert isinstance(payload, RaceRoundScored)
    return [standing.verdict for standing in payload.standings]


def test_a_selecting_round_keeps_those_ahead_by_most(raced: tuple[RunState, MemoryLog]) -> None:
    state = first_round(raced[1])
    gains = [0.01, None, 0.03, -0.02, 0.0, 0.02, 0.001, 0.002]
    expected = ["outranked", "failed", "stays", "behind", "behind", "stays", "outranked", "outranked"]
    assert verdicts(with_gains(state, gains)) == expected


def test_a_round_with_nobody_ahead_ends_the_race_and_the_incumbent_stays(
    raced: tuple[RunState, MemoryLog], record: Any
) -> None:
    state = with_gains(first_round(raced[1]), [-0.1] * 8)
    for _ in range(2):
        (duty,) = duties(state)
        (draft,) = decide(state, duty, None).drafts  # type: ignore[arg-type]
        state = fold(state, record(state.seq + 1, draft))
    assert isinstance(draft.payload, IncumbentSelected)
    assert draft.payload.contender == 0
    assert not duties(state)


def test_a_round_is_not_scored_before_all_its_evaluations_are_in(
    raced: tuple[RunState, MemoryLog], record: Any
) -> None:
    state, event = before(raced[1], RaceRoundScored)[0]
    generation = state.generation
    assert generation is not None
    assert generation.race is not None
    without = replace(generation, race=replace(generation.race, outcomes=NO_OUTCOMES))
    with pytest.raises(InvariantError, match="evaluations of the round are missing"):
        fold(replace(state, generation=without), event)


def test_the_finalist_is_compared_on_instances_that_did_not_select_it(
    raced: tuple[RunState, MemoryLog],
) -> None:
    for _, event in before(raced[1], RaceStarted):
        payload = event.payload
        selecting = payload.rounds[payload.selecting - 1]
        seen = [(payload.instances[:i].count(key), key) for i, key in enumerate(payload.instances)]
        assert set(seen[:selecting]).isdisjoint(seen[selecting:])
        assert len(payload.instances) - selecting == 6


def test_what_others_alone_outranked_comes_back_with_the_winner(racing: Simulation) -> None:
    rules = {"race_returns": 2, "race_growth": 1.5, "race_moves": "finalist,constants,implementation,share"}
    _, log = racing.changed(**rules).run()
    returned = 0
    for state, event in before(log, RaceStarted):
        contenders = event.payload.contenders
        back = [c.pipeline for c in contenders[1:] if c.change.startswith("close in the last race")]
        returned += len(back)
        leader = state.finalist or incumbent(state)
        for steps in state.runners_up:
            assert program_key(steps) not in state.raced
        for steps in back:  # of one length, as these moves leave it: each position is of one of the two
            assert any(
                all(s in (r, k) for s, r, k in zip(steps, runner, leader, strict=True))
                for runner in state.runners_up
            )
    assert returned


@pytest.mark.parametrize("move", ["constants", "walk"])
def test_a_winner_brings_its_constants_and_edges_and_its_parent_leaves(racing: Simulation, move: str) -> None:
    _, log = racing.changed(generations=6, race_error=0.9, race_moves=move, evolution=False).run()
    swapped = joined = 0
    for state, event in before(log, IncumbentSelected):
        payload, after = event.payload, fold(state, event)
        assert after.graph is not None
        assert state.graph is not None
        assert set(payload.added_edges) == after.graph.edges - state.graph.edges
        joined += len(payload.added_edges)
        for change in payload.pool_changes:
            assert change.added in after.pools[change.operator]
            if change.removed is not None:
                swapped += 1
                assert state.unconfigured(change.added) == state.unconfigured(change.removed)
                assert change.removed not in after.pools[change.operator]
                before_it = state.credits.implementation_credit(change.removed, 1e-8)
                assert after.credits.implementation_credit(change.added, 1e-8) == pytest.approx(before_it)
    assert (swapped if move == "constants" else joined) > 0


def test_the_champion_is_validated(raced: tuple[RunState, MemoryLog]) -> None:
    for state, event in before(raced[1], PipelinesDecoded):
        assert incumbent(state) in event.payload.pipelines


def test_races_are_the_same_in_whatever_order_evaluations_end(racing: Simulation) -> None:
    first, second = (replace(racing, order=order).run()[0] for order in (1, 2))
    assert [first.history[t].state_digest for t in first.history] == [
        second.history[t].state_digest for t in second.history
    ]
    assert first.champion == second.champion


def test_all_moves_fill_a_large_race(raced: tuple[RunState, MemoryLog], racing: Simulation) -> None:
    state, _ = before(raced[1], RaceStarted)[-1]
    state = replace(state, raced=frozenset())
    texts = {
        s.implementation: raced[1].blobs[state.sources[s.implementation]].decode() for s in incumbent(state)
    }
    material = RaceMaterial(state, texts, racing.prompt_context.contracts, np.random.default_rng(1))
    found = draw_proposals(material, 60)
    assert {proposal.move for proposal in found} >= set(DRAWN_MOVES)
    assert len(draw_proposals(material, 3)) == 3


def test_a_sweep_brings_every_operator_once_before_any_is_drawn(
    raced: tuple[RunState, MemoryLog], racing: Simulation
) -> None:
    state, _ = before(raced[1], RaceStarted)[-1]
    settings = state.settings.model_copy(update={"race_sweep": 60, "race_moves": "walk"})
    state = replace(state, raced=frozenset(), settings=settings)
    texts = {
        s.implementation: raced[1].blobs[state.sources[s.implementation]].decode() for s in incumbent(state)
    }

    def swept() -> list[NewContender]:
        material = RaceMaterial(state, texts, racing.prompt_context.contracts, np.random.default_rng(1))
        return [p for p in draw_proposals(material, 60) if p.change.startswith("untried operator")]

    first = swept()
    assert state.graph is not None
    assert 1 < len(first) <= len(state.graph.operators)
    state = replace(state, raced=frozenset(program_key(proposal.steps) for proposal in first[1:]))
    assert [proposal.change for proposal in swept()] == [first[0].change]


def test_the_training_split_is_used_evenly(raced: tuple[RunState, MemoryLog]) -> None:
    state, _ = before(raced[1], RaceStarted)[0]
    keys = [InstanceKey(f"g{i // 8}/{i % 8}") for i in range(40)]
    entries = tuple(InstanceEntry(key=key, reference=1.0) for key in keys)
    assert state.started is not None
    splits = state.started.splits.model_copy(update={"train": entries})
    wide = replace(state, started=state.started.model_copy(update={"splits": splits}))
    found = race_instances(wide, 100)
    assert set(found[:40]) == set(found[40:80]) == set(keys)
    assert len({key.partition("/")[0] for key in found[:5]}) >= 4


@pytest.mark.parametrize(
    ("contenders", "growth", "expected"),
    [(0, 4.0, ((), 0)), (1, 4.0, ((3, 6), 0)), (8, 4.0, ((2, 6, 9, 12), 2)), (3, 2.0, ((2, 4, 7, 10), 2))],
)
def test_rounds_grow_as_the_field_shrinks(
    raced: tuple[RunState, MemoryLog], contenders: int, growth: float, expected: tuple[tuple[int, ...], int]
) -> None:
    state, _ = before(raced[1], RaceStarted)[0]
    changed = state.settings.model_copy(update={"race_growth": growth})
    assert plan_rounds(changed, contenders) == expected


def test_an_evaluation_outside_the_round_is_refused(raced: tuple[RunState, MemoryLog], record: Any) -> None:
    found = [
        (state, event)
        for state, event in before(raced[1], EvaluationRecorded)
        if event.payload.split == "race" and state.generation and state.generation.race
    ]
    state, event = found[0]
    with pytest.raises(InvariantError, match="the contender is not evaluated in this round"):
        fold(state, record(event.seq, _moved(event, candidate=99)))


def _moved(event: Any, **changes: Any) -> Any:
    from dga2d.events import Draft

    payload = event.payload.model_copy(update=changes)
    return Draft(event.agent, payload, event.generation, event.caused_by)


def test_implementation_ids_of_configurations_are_theirs(raced: tuple[RunState, MemoryLog]) -> None:
    for _, event in before(raced[1], RaceStarted):
        for new in event.payload.configurations:
            assert new.implementation == ImplementationId(f"{new.parent.partition('.')[0]}.{new.source[:12]}")


def test_moves_that_survive_are_drawn_more_often(raced: tuple[RunState, MemoryLog]) -> None:
    state, log = raced
    rounds = [e for s, e in before(log, RaceRoundScored) if e.payload.round == 0]
    assert sum(record.entered for record in state.moves.values()) == sum(
        len(event.payload.standings) for event in rounds
    )
    assert sum(record.stayed for record in state.moves.values()) == sum(
        standing.verdict == "stays" for event in rounds for standing in event.payload.standings
    )
    good, bad = (replace(state, moves=Map({"walk": MoveRecord(20, stayed)})) for stayed in (15, 1))
    assert move_weight(good, "walk") > move_weight(good, "share") > move_weight(bad, "walk") > 0.0


def test_ties_can_be_no_survivors_and_constants_come_first(raced: tuple[RunState, MemoryLog]) -> None:
    finished, log = raced
    rounds = [e.payload.standings for s, e in before(log, RaceRoundScored) if e.payload.round == 0]
    ahead = sum(s.verdict == "stays" and (s.gain or 0.0) > 0.0 for standings in rounds for s in standings)
    assert sum(record.ahead for record in finished.moves.values()) == ahead > 0
    settings = finished.settings.model_copy(update={"race_credit": "ahead"})

    def weights(**records: MoveRecord) -> dict[str, float]:
        state = replace(finished, settings=settings, moves=Map(records))
        return {move: move_weight(state, move) for move in DRAWN_MOVES}

    first = weights()
    assert first["constants"] == pytest.approx(3.0 * first["share"])
    assert first["share"] == first["walk"] == first["crossover"] == first["implementation"]
    tied = MoveRecord(30, 30, 0)  # did exactly what the incumbent does, and so stayed
    after = weights(share=tied, walk=MoveRecord(30, 15, 15))
    assert after["walk"] > after["implementation"] > after["share"] > 0.0


class EqualEvaluator(HashEvaluator):
    """No program differs from another."""

    async def evaluate(self, request: EvaluationRequest) -> EvaluationReply:
        reply = await super().evaluate(request)
        return replace(reply, objective=None if reply.objective is None else 100.0)


@pytest.mark.parametrize("may_stay", [True, False])
def test_ties_go_on_to_more_instances_where_that_is_set(
    racing: Simulation, monkeypatch: pytest.MonkeyPatch, may_stay: bool
) -> None:
    monkeypatch.setattr("tests.agents.simulation.HashEvaluator", EqualEvaluator)
    _, log = racing.changed(race_ties=may_stay, generations=1, race_moves="walk,constants").run()
    rounds = [[s.verdict for s in e.payload.standings] for _, e in before(log, RaceRoundScored)]
    assert rounds[0].count("stays") == (2 if may_stay else 0)
    assert set(rounds[-1]) == {"behind"}  # what is not ahead in the end takes nobody's place


@pytest.mark.parametrize("rule", ["stay", "leave"])
def test_what_is_behind_the_incumbent_may_stay_until_the_final(racing: Simulation, rule: str) -> None:
    """The best of them do: all meet the same runs of the incumbent, which may have been lucky."""
    changed = racing.changed(race_behind=rule, race_growth=2, generations=8, race_contenders=6)
    _, log = changed.run()
    behind = 0
    for state, event in before(log, RaceRoundScored):
        race, standings = open_race(state), event.payload.standings
        losing = [s for s in standings if s.verdict == "stays" and (s.gain or 0.0) < 0.0]
        behind += len(losing)
        if race.round >= race.selecting or rule == "leave":
            assert not losing
        else:
            assert "behind" not in {s.verdict for s in standings}
            stay = [s.gain for s in standings if s.verdict == "stays"]
            left = [s.gain for s in standings if s.verdict == "outranked"]
            assert stay
            assert min(gain or 0.0 for gain in stay) >= max((gain or 0.0 for gain in left), default=-1.0)
        ahead = {s.contender for s in standings if (s.gain or 0.0) > 0.0}
        assert {*open_race(fold(state, event)).outranked} - {*race.outranked} <= ahead, "who may return"
    assert (behind > 3) == (rule == "stay")
    assert changed.made_again(log)


@pytest.mark.parametrize("counts", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_what_the_gate_measured_counts_while_contenders_are_selected(
    racing: Simulation, counts: bool
) -> None:
    """The contender is the program that was measured, and its gain a mean over both kinds of instances."""
    changed = racing.changed(
        race_evidence=counts,
        gate_instances=4,
        incumbent_edits=4,
        generations=6,
        race_contenders=6,
        race_moves="code,walk",
    )
    runs = [(run, run.run()[1]) for run in (replace(changed, seed=seed) for seed in (8, 10))]
    pooled = alone = 0
    for state, event in chain.from_iterable(before(log, RaceRoundScored) for _, log in runs):
        race = open_race(state)
        known = evidence(state)
        assert counts or not known
        for standing in event.payload.standings:
            shown = known.get(race.contenders[standing.contender].pipeline)
            compared = len(race.trials[race.used])
            assert standing.won + standing.lost <= compared + len(shown or ())
            if shown is None or standing.gain is None:
                continue
            is_selecting = race.round < race.selecting
            pooled, alone = pooled + is_selecting, alone + (not is_selecting)
            own, gaps = (gaps_of(state, race, number) for number in (0, standing.contender))
            gains = [b - a for b, a in zip(own, gaps, strict=True)] + list(shown if is_selecting else ())
            assert standing.gain == pytest.approx(sum(gains) / len(gains))
            assert (standing.verdict == "behind") == (sum(gains) <= 0.0 and any(gains))
    assert (pooled > 2, alone > 2) == (counts, counts)
    assert all(run.made_again(log) for run, log in runs)


class HalfSolvedEvaluator(HashEvaluator):
    """Every program solves the instances with even numbers."""

    async def evaluate(self, request: EvaluationRequest) -> EvaluationReply:
        reply = await super().evaluate(request)
        return replace(reply, objective=100.0 if is_easy(request.instance.key) else reply.objective)


def is_easy(key: str) -> bool:
    return key[-1] in "02468"


@pytest.mark.parametrize(("share", "easy"), [(1.0, 3), (0.25, 1), (0.0, 0)])
def test_instances_that_the_incumbent_solves_are_left_out_of_races_and_gates(
    racing: Simulation, monkeypatch: pytest.MonkeyPatch, share: float, easy: int
) -> None:
    """Of the six for training half are solved; the first race finds that out."""
    monkeypatch.setattr("tests.agents.simulation.HashEvaluator", HalfSolvedEvaluator)
    run = racing.changed(solved_share=share, generations=3, gate_instances=6, edits_per_generation=2)
    state, log = run.run()
    races = [set(e.payload.instances) for _, e in before(log, RaceStarted)]
    gates = [set(e.payload.instances) for s, e in before(log, ImplementationProposed) if s.champion]
    assert sum(map(is_easy, races[0])) == 3
    for used in (*races[1:], *gates):
        assert [sum(map(is_easy, used)), len(used)] == [easy, 3 + easy]
    assert gates
    assert all(is_easy(key) for key in state.solved)
    assert len(state.solved) == (0 if share == 1.0 else 3)
    assert share != 0.25 or run.made_again(log)


def test_a_reference_that_the_baseline_reached_is_not_a_solution(
    racing: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.agents.simulation.HashEvaluator", EqualEvaluator)
    monkeypatch.setattr(
        "tests.agents.simulation.Simulation._entries",
        lambda _, keys: tuple(InstanceEntry(key=key, reference=100.0, origin="baseline") for key in keys),
    )
    state, _ = racing.changed(solved_share=0.0, generations=1).run()
    assert not state.solved


def test_shares_move_where_two_positions_use_theirs(
    raced: tuple[RunState, MemoryLog], racing: Simulation
) -> None:
    state, _ = before(raced[1], RaceStarted)[-1]
    names = list(dict.fromkeys(step.implementation for step in incumbent(state)))
    assert len(names) > 1
    contracts = racing.prompt_context.contracts

    def moved(busy: int) -> set[str]:
        """The operators whose shares are moved when so many positions have worked."""
        efforts = {name: Contribution(4.0 if i < busy else 0.1, 0.0, 8) for i, name in enumerate(names)}
        settings = state.settings.model_copy(update={"race_moves": "share", "share_effort": 0.05})
        given = replace(state, settings=settings, contributions=Map(efforts))
        draws = np.random.default_rng(3)
        found = draw_proposals(RaceMaterial(given, {}, contracts, draws), 12)
        return {proposal.change.split(" for ")[1] for proposal in found}

    assert not moved(1)
    assert len(moved(2)) == 2


def test_values_that_did_well_draw_those_to_come(
    raced: tuple[RunState, MemoryLog], racing: Simulation
) -> None:
    """Of `NOISE`, low values are said to have survived and high ones to have lost."""
    state, _ = before(raced[1], RaceStarted)[0]
    texts = {
        s.implementation: raced[1].blobs[state.sources[s.implementation]].decode() for s in incumbent(state)
    }
    names = [step.implementation for step in incumbent(state)]
    tried = [TriedConstant(n, "NOISE", v / 20, v < 8) for n in names for v in range(20)]

    def mean_noise(given: RunState) -> float:
        settings = given.settings.model_copy(update={"race_moves": "constants"})
        contracts, draws = racing.prompt_context.contracts, np.random.default_rng(2)
        material = RaceMaterial(replace(given, settings=settings), texts, contracts, draws)
        values = [
            float(value)
            for proposal in draw_proposals(material, 80)
            for configured in proposal.configured
            for name, value in configured.constants.items()
            if name == "NOISE"
        ]
        return sum(values) / len(values)

    assert mean_noise(replace(state, tried_constants=tuple(tried))) < mean_noise(state) - 0.1
