"""Fold handlers for evaluations of every split, and the scores made of them."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import NamedTuple

from immutables import MapMutation

from dga2d.events import ImplementationId, InstanceKey, RecordedEvent, StoredEvent, encode_payload
from dga2d.events import payloads as p
from dga2d.replay.state.generation_state import Scoring
from dga2d.replay.state.handler import (
    Events,
    folds,
    open_generation,
    refuse,
    replace,
    require,
    with_generation,
)
from dga2d.replay.state.outcomes import Outcome, OutcomeRow, Outcomes
from dga2d.replay.state.run_state import RunState, ScoredProgram
from dga2d.replay.state.work_rates import BASELINE


class _Evaluated(NamedTuple):
    """What is evaluated in a split, and how an evaluation of anything else is refused."""

    number: int
    """Of the generation, or of the test."""
    outcomes: Outcomes
    candidates: Container[int]
    instances: Iterable[InstanceKey]
    no_candidate: str
    no_instance: str


@folds(p.WorkRateMeasured, follows_end=True)
def _work_rate_measured(state: RunState, event: RecordedEvent, payload: p.WorkRateMeasured) -> RunState:
    rates, name = state.work_rates, ImplementationId(payload.subject)
    is_tested = state.test is not None and state.test.mean_gaps is None
    require(is_tested or state.status == "running", event, f"the run is {state.status}")
    require(payload.process == state.process_seq, event, "it is of another process")
    for point in payload.points:
        is_sane = point.size >= 1 and min(point.work, point.cpu_s, point.call_s) >= 0
        require(is_sane, event, f"the measurement on {point.instance} has a number below its range")
    if payload.subject == BASELINE:
        require(rates.reference_seq < state.process_seq, event, "the baseline was measured before")
        return replace(state, work_rates=rates.with_reference(payload.points, event.seq))
    require(rates.reference_seq > state.process_seq, event, "the baseline was not measured before it")
    require(state.source_of(name), event, f"there is no implementation {name}")
    require(name not in rates.scales, event, f"{name} was measured before")
    return replace(state, work_rates=rates.with_implementation(name, payload.points))


@folds(p.EvaluationRecorded, takes_many=True, follows_end=True)
def _evaluations_recorded(state: RunState, events: Events) -> RunState:
    split, evaluated = "", None
    keys: dict[InstanceKey, InstanceKey] = {}  # one text for all rows, not one for each
    rows: dict[int, OutcomeRow] = {}
    seq, version = state.seq, p.EvaluationRecorded.version
    for event, payload in events:
        candidate, instance, objective = payload.candidate, payload.instance, payload.objective
        if (objective is None) == (payload.failure is None):
            refuse(event, "objective xor failure")
        if payload.split != split:
            state = state if evaluated is None else _with_outcomes(state, split, evaluated, rows, seq)
            split, evaluated, rows = payload.split, None, {}
        if evaluated is None or payload.generation != evaluated.number:
            if evaluated is not None:
                state, rows = _with_outcomes(state, split, evaluated, rows, seq), {}
            evaluated = _evaluable(state, event, split, payload.generation)
            keys = {key: key for key in evaluated.instances}
        row = rows.get(candidate)
        if row is None:
            if candidate not in evaluated.candidates:
                refuse(event, evaluated.no_candidate)
            row = rows[candidate] = dict(evaluated.outcomes.row(candidate))
        key = keys.get(instance)
        if key is None:
            refuse(event, evaluated.no_instance.format(instance=instance))
        if key in row:
            refuse(event, "the evaluation was recorded before")
        recorded = event[9] if event[4] == version else encode_payload(payload)
        row[key] = Outcome(objective, payload.failure, recorded)
        seq = event[1]
    return state if evaluated is None else _with_outcomes(state, split, evaluated, rows, seq)


def _evaluable(state: RunState, event: StoredEvent, split: str, number: int) -> _Evaluated:
    """Return what may be evaluated now in a split of generation (or test) `number`."""
    if split == "test":
        test = state.test
        if test is None or test.attempt != number:
            refuse(event, "no such test is open")
        return _Evaluated(
            number,
            test.outcomes,
            range(len(test.candidates)),
            test.instances,
            "no such candidate in the test",
            "{instance} is not part of the test",
        )
    ahead = state.ahead.get(number) if split == "train" else None  # whatever else ends meanwhile
    generation = open_generation(state, event, number) if ahead is None else ahead
    if split == "train":
        return _Evaluated(
            number,
            generation.outcomes,
            generation.pipelines,
            state.header.batch,
            "the candidate was never sampled",
            "{instance} is not in the shared batch",
        )
    if split == "gate":
        proposals = list(generation.proposals.values())
        if generation.operator_proposal is not None:
            proposals.append(generation.operator_proposal)
        return _Evaluated(
            number,
            generation.gate_outcomes,
            {arm for proposal in proposals for arm in (proposal.slot, proposal.control)},
            {key for proposal in proposals for key in proposal.instances},
            "no such arm is measured",
            "{instance} is not measured on",
        )
    if split == "race":
        race = require(generation.race, event, "no race is open")
        awaited = list(race.awaited())
        return _Evaluated(
            number,
            race.outcomes,
            {candidate for candidate, _ in awaited},
            {key for _, key in awaited},
            "the contender is not evaluated in this round",
            "{instance} is not part of the round",
        )
    validation = require(generation.validation, event, "no validation is open")
    pipelines = require(validation.pipelines, event, "no validation is open")
    return _Evaluated(
        number,
        validation.outcomes,
        range(len(pipelines)),
        validation.instances,
        "no such validated pipeline",
        "{instance} is not validated on",
    )


def _with_outcomes(
    state: RunState, split: str, evaluated: _Evaluated, rows: dict[int, OutcomeRow], seq: int
) -> RunState:
    """Return `state` with more outcomes in a split, the last of them from event `seq`."""
    outcomes = evaluated.outcomes.with_rows(rows)
    if split == "test" and state.test is not None:
        return replace(state, test=replace(state.test, outcomes=outcomes, outcomes_seq=seq))
    generation = state.sampled(evaluated.number)
    if generation is None:
        return state
    if split == "train":
        return with_generation(state, replace(generation, outcomes=outcomes, outcomes_seq=seq))
    if split == "gate":
        return replace(state, generation=replace(generation, gate_outcomes=outcomes))
    if split == "race" and generation.race is not None:
        race = replace(generation.race, outcomes=outcomes, outcomes_seq=seq)
        return replace(state, generation=replace(generation, race=race))
    if generation.validation is None:
        return state
    validation = replace(generation.validation, outcomes=outcomes, outcomes_seq=seq)
    return replace(state, generation=replace(generation, validation=validation))


@folds(p.CandidateScored, takes_many=True)
def _candidates_scored(state: RunState, events: Events) -> RunState:
    lowest, best = state.settings.failure_reward, state.best
    scores: MapMutation[int, float] | None = None
    for event, payload in events:
        generation = open_generation(state, event, payload.generation)
        if scores is None:
            scores, batch = generation.scores.mutate(), set(state.header.batch)
        candidate, score = payload.candidate, payload.score
        if candidate not in generation.pipelines:
            refuse(event, "the candidate was never sampled")
        if candidate in scores:
            refuse(event, "the candidate was scored before")
        if missing := batch - generation.outcomes.row(candidate).keys():
            refuse(event, f"the candidate was not evaluated on {', '.join(sorted(missing))}")
        if not score >= lowest:
            refuse(event, "the score is below R_fail")
        if best is None or score > best.score:
            steps = generation.pipelines[candidate].steps
            best = ScoredProgram(generation.number, candidate, score, steps)
        scores[candidate] = score
    if scores is None or state.generation is None:
        return state
    return replace(state, best=best, generation=replace(state.generation, scores=scores.finish()))


@folds(p.GenerationScored)
def _generation_scored(state: RunState, event: RecordedEvent, payload: p.GenerationScored) -> RunState:
    generation = open_generation(state, event, payload.generation)
    require(generation.scoring is None, event, "the generation was scored before")
    require(len(generation.scores) == generation.size, event, "not all candidates are scored")
    require(len(payload.rewards) == generation.size, event, "one reward per candidate")
    scoring = Scoring(event.seq, payload.mean, payload.deviation, payload.rewards)
    return replace(state, generation=replace(generation, scoring=scoring))
