"""The gate: new code against its parent in one program, on the same instances and random numbers."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.agents.test_wasted_calls import states_before

from dga2d.agents.agent import open_basis
from dga2d.agents.ports import EvaluationRequest
from dga2d.agents.race_moves import CODE_SHARE
from dga2d.events.payloads import (
    EvaluationRecorded,
    ImplementationAdded,
    ImplementationMeasured,
    ImplementationProposed,
    ImplementationRejected,
    ImplementationReplaced,
    RaceStarted,
)
from dga2d.replay.state.incumbent import incumbent
from dga2d.replay.state.run_state import RunState

if TYPE_CHECKING:
    from tests.agents.memory_log import MemoryLog
    from tests.agents.simulation import Simulation

GATED: dict[str, Any] = {
    "gate_instances": 5,
    "incumbent_edits": 4,
    "generations": 5,
    "pool_limit": 4,
    "llm_calls": 200,
}


@pytest.fixture(scope="module")
def gated(simulation: Simulation) -> tuple[Simulation, RunState, MemoryLog]:
    small = simulation.changed(**GATED)
    return small, *small.run()


def measurements(
    log: MemoryLog,
) -> list[tuple[ImplementationProposed, ImplementationMeasured, dict[int, dict[str, float | None]]]]:
    """Each proposal with its measurement and the objectives of its generation by candidate and instance."""
    objectives: dict[int, dict[int, dict[str, float | None]]] = defaultdict(lambda: defaultdict(dict))
    proposals, found = {}, []
    for event in log.events:
        payload = event.payload
        if isinstance(payload, EvaluationRecorded) and payload.split == "gate":
            objectives[payload.generation][payload.candidate][payload.instance] = payload.objective
        elif isinstance(payload, ImplementationProposed):
            proposals[payload.generation, payload.slot] = payload
        elif isinstance(payload, ImplementationMeasured):
            proposal = proposals[payload.generation, payload.slot]
            found.append((proposal, payload, objectives[payload.generation]))
    return found


def test_gains_are_those_of_the_recorded_pairs_and_only_what_does_not_lose_joins(
    gated: tuple[Simulation, RunState, MemoryLog],
) -> None:
    _, _, log = gated
    found = measurements(log)
    halves = set()
    best: dict[tuple[int, str], float] = {}
    for proposal, measured, objectives in found:
        keys = proposal.instances[: len(measured.gains)]
        pairs = [(objectives[proposal.control][key], objectives[proposal.slot][key]) for key in keys]
        gains = [(b - a) / 100.0 for b, a in pairs if a is not None and b is not None]
        assert list(measured.gains) == pytest.approx(gains, abs=1e-12)
        mean = math.fsum(gains) / len(gains)
        assert len(gains) == 5 or (len(gains) == 3 and mean < 0)
        assert mean >= 0 or not measured.is_accepted
        halves.add(len(gains))
        where = (proposal.generation, proposal.operator)
        best[where] = max(best.get(where, -1.0), mean)
    assert halves == {3, 5}
    for proposal, measured, _ in found:
        gain = best[proposal.generation, proposal.operator]
        wins = sum(g or 0.0 for g in measured.gains) / len(measured.gains) == gain >= 0
        assert measured.is_accepted == wins
    assert 0 < sum(measured.is_accepted for _, measured, _ in found) < len(found)


def test_what_is_not_clearly_behind_on_the_first_half_is_measured_on_all(simulation: Simulation) -> None:
    small = simulation.changed(**GATED, gate_patience=1.0)
    _, log = small.run()
    given_up, behind = 0, 0
    for _, measured, _ in measurements(log):
        gains = [gain for gain in measured.gains if gain is not None]
        first = gains[:3]
        if math.fsum(first) / 3 < -statistics.stdev(first) / math.sqrt(3):
            given_up += 1
            assert len(gains) == 3
            continue
        assert len(gains) == 5
        behind += math.fsum(first) < 0
        assert math.fsum(gains) >= 0 or not measured.is_accepted
    assert given_up > 0
    assert behind > 0
    assert small.made_again(log) > 20


@pytest.mark.slow
@pytest.mark.parametrize("answers", [1, 2])
def test_answers_to_several_edits_of_an_operator_may_all_join(simulation: Simulation, answers: int) -> None:
    """Of those to one edit the best does. None takes the place of another of its generation, and the race
    meets as many as it may."""
    rules = {**GATED, "gate_rivals": "edit", "answers_per_edit": answers, "race_contenders": 12}
    small = replace(simulation.changed(**rules), seed=7)
    _, log = small.run()
    edits: dict[tuple[int, str, int], list[tuple[float, bool, str]]] = defaultdict(list)
    for proposal, measured, _ in measurements(log):
        mean = math.fsum(gain or 0.0 for gain in measured.gains) / len(measured.gains)
        edit = (proposal.generation, proposal.operator, proposal.slot // answers)
        edits[edit].append((mean, measured.is_accepted, proposal.implementation))
    joined: dict[tuple[int, str], set[str]] = defaultdict(set)
    for (number, operator, _), told in edits.items():
        most = max(mean for mean, _, _ in told)
        assert all(is_accepted == (mean == most >= 0.0) for mean, is_accepted, _ in told)
        joined[number, operator].update(name for _, is_accepted, name in told if is_accepted)
    assert max(map(len, joined.values())) > 1
    assert (max(map(len, edits.values())) > 1) == (answers > 1)
    for event in log.events:
        payload = event.payload
        if isinstance(payload, ImplementationReplaced):
            assert payload.removed not in joined[payload.generation, payload.operator]
        elif isinstance(payload, RaceStarted) and payload.generation == 1:
            raced = {step.implementation for contender in payload.contenders for step in contender.pipeline}
            new = {name for (number, _), names in joined.items() if number == 1 for name in names}
            assert len(raced & new) >= min(len(new), 12 // CODE_SHARE)
    assert small.made_again(log) > 20


def test_a_verdict_follows_each_measurement_and_says_what_was_gained(
    gated: tuple[Simulation, RunState, MemoryLog],
) -> None:
    _, state, log = gated
    proposals = {(p.generation, p.slot): (p, m) for p, m, _ in measurements(log)}
    verdicts = [event.payload for event in log.events if event.agent == "implementation_evolver"]
    for payload in verdicts:
        if isinstance(payload, ImplementationAdded | ImplementationReplaced):
            proposal, measured = proposals.pop((payload.generation, payload.slot))
            assert measured.is_accepted
            assert payload.implementation == proposal.implementation
        elif isinstance(payload, ImplementationRejected) and payload.stage == "gate":
            proposal, measured = proposals.pop((payload.generation, payload.slot))
            assert payload.is_final
            assert not measured.is_accepted
            assert f"{100 * (measured.gains[0] or 0.0):+.3f}" in payload.diagnostic
    assert not proposals
    kept = [t for tried in state.tried.values() for t in tried]
    assert [t.gains for t in sorted(kept, key=lambda t: (t.generation, t.slot))] == [
        m.gains for p, m, _ in sorted(measurements(log), key=lambda row: (row[0].generation, row[0].slot))
    ]


def test_no_call_brings_what_was_measured_in_an_earlier_generation(
    gated: tuple[Simulation, RunState, MemoryLog],
) -> None:
    _, _, log = gated
    refused = [e.payload for e in log.events if isinstance(e.payload, ImplementationRejected)]
    assert refused
    assert [r.diagnostic for r in refused if r.diagnostic.endswith("was measured before")] == []


def test_both_arms_are_the_incumbent_with_one_implementation_exchanged(
    gated: tuple[Simulation, RunState, MemoryLog],
) -> None:
    _, _, log = gated
    in_incumbent = 0
    for state, proposal in states_before(log, "ImplementationProposed"):
        own = {step.operator for step in incumbent(state)}
        if proposal.operator in own:
            in_incumbent += 1
            assert [s.operator for s in proposal.program] == [s.operator for s in incumbent(state)]
        assert {s.implementation for s in proposal.program if s.operator == proposal.operator} == {
            proposal.parent
        }
        assert proposal.control >= open_basis(state)[1].implementation_slots > proposal.slot
    assert in_incumbent > 5


def test_arms_share_their_random_numbers_and_one_arm_of_the_parent_serves_all_its_children(
    simulation: Simulation,
) -> None:
    requests: list[EvaluationRequest] = []

    def fails(request: EvaluationRequest) -> bool:
        if "/gate/" in request.key:
            requests.append(request)
        return False

    replace(simulation.changed(**GATED), fails=fails).run()
    seeds: dict[tuple[str, str], set[tuple[int, ...]]] = defaultdict(set)
    for request in requests:
        generation = request.key.split("/")[2]
        seeds[generation, request.instance.key].add(request.seed)
    assert all(len(found) == 1 for found in seeds.values())
    assert len({next(iter(found)) for found in seeds.values()}) == len(seeds)
    programs = [
        (request.key.split("/")[2], request.instance.key, tuple(step.digest for step in request.steps))
        for request in requests
        if int(request.key.split("/")[3]) >= 5  # parents
    ]
    assert len(programs) == len(set(programs))


def test_code_that_fails_in_the_gate_is_rejected(simulation: Simulation) -> None:
    def fails(request: EvaluationRequest) -> bool:
        return "/gate/" in request.key and int(request.key.split("/")[3]) < 5

    _, log = replace(simulation.changed(**GATED), fails=fails).run()
    rejected = [p for _, p in states_before(log, "ImplementationRejected") if p.stage == "gate"]
    assert rejected
    assert all("failed" in p.diagnostic for p in rejected)
    assert not states_before(log, "ImplementationAdded", "ImplementationReplaced")


def test_what_joins_begins_with_the_credits_of_its_parent_and_its_own_gain(
    gated: tuple[Simulation, RunState, MemoryLog],
) -> None:
    _, _, log = gated
    after = states_before(log, "GenerationCompleted")
    checked = 0
    for state, measured in states_before(log, "ImplementationMeasured"):
        proposal = open_basis(state)[0].proposals[measured.slot]
        later = next(s for s, _ in after if s.seq > state.seq)
        for given in measured.credits:
            assert later.credits.credit(given.source, given.target) == given.credit
            here = [s.implementation for s in proposal.program]
            place = here.index(proposal.parent)
            if given.target == proposal.implementation and place:
                before = open_basis(state)[1].credits.credit(here[place - 1], proposal.parent)
                reward = (given.credit - 0.9 * before) / 0.1
                assert -1e-9 <= reward <= 3.0 + 1e-9
                checked += 1
    assert checked > 1


def test_the_same_code_is_not_measured_twice(gated: tuple[Simulation, RunState, MemoryLog]) -> None:
    _, state, _ = gated
    for tried in state.tried.values():
        first: dict[Any, int] = {}
        for one in tried:
            assert first.setdefault(one.implementation, one.generation) == one.generation


@pytest.mark.parametrize("last", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_calls_are_spent_evenly_within_the_generations(simulation: Simulation, last: bool) -> None:
    small = simulation.changed(
        call_plan="spend", last_edits=last, generations=6, llm_calls=60, gate_instances=2, pool_limit=9
    )
    state, _ = small.run()
    assert state.completed == 6
    assert state.ledger.used >= 57
    by_generation = [sum(c.generation == t for c in state.ledger.calls.values()) for t in range(1, 7)]
    assert by_generation[5] > 5 if last else by_generation[5] == 0
    used = by_generation[: 6 if last else 5]
    assert max(used) <= 2 * min(used)


def test_all_decisions_of_a_gate_are_made_again(gated: tuple[Simulation, RunState, MemoryLog]) -> None:
    small, _, log = gated
    assert small.made_again(log) > 100
