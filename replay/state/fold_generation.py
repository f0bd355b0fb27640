"""Fold handlers for sampling, evaluation, credit, policy and validation within a generation."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from immutables import Map, MapMutation

from dga2d.events import (
    ImplementationId,
    InstanceKey,
    OperatorId,
    RecordedEvent,
    StoredEvent,
    encode_payload,
    instance_and_copy,
)
from dga2d.events import payloads as p
from dga2d.events.payloads import Edge
from dga2d.replay.errors import DigestMismatchError
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.credit import CreditTable, Transition, TransitionRecord
from dga2d.replay.state.digest import graph_digest, pools_digest, state_digest
from dga2d.replay.state.graph import END, START, OperatorGraph, walk_violation
from dga2d.replay.state.handler import Events, folds, open_generation, refuse, replace, require
from dga2d.replay.state.incumbent import incumbent
from dga2d.replay.state.run_state import (
    Contribution,
    EvolutionBasis,
    GenerationState,
    GenerationSummary,
    Outcome,
    OutcomeRow,
    Outcomes,
    OwedTrial,
    RaceState,
    RaceSummary,
    RunState,
    SampledPipeline,
    SavedPolicy,
    ScoredProgram,
    Scoring,
    ValidationState,
    closed_round,
)
from dga2d.replay.state.work_rates import BASELINE


@folds(p.GenerationStarted)
def _generation_started(state: RunState, event: RecordedEvent, payload: p.GenerationStarted) -> RunState:
    graph = require(state.graph, event, "there is no graph yet")
    require(state.generation is None, event, "another generation is open")
    require(
        payload.generation == state.completed + 1,
        event,
        f"generation {state.completed + 1} is next, not {payload.generation}",
    )
    require(payload.graph_digest == graph_digest(graph), event, "the graph is another one")
    require(payload.pools_digest == pools_digest(state.pools), event, "the pools are others")
    guide = tuple(step.operator for step in incumbent(state))
    size = state.settings.pipelines if state.settings.evolves_pipelines else 0  # as many as are written
    return replace(state, generation=GenerationState(payload.generation, event.seq, size, guide))


@folds(p.PipelineSampled, takes_many=True)
def _pipelines_sampled(state: RunState, events: Events) -> RunState:
    same: dict[tuple[OperatorId, ImplementationId, float | None], p.Step] = {}
    pipelines: MapMutation[int, SampledPipeline] | None = None
    for event, payload in events:
        generation = open_generation(state, event, payload.generation)
        pipelines = generation.pipelines.mutate() if pipelines is None else pipelines
        if payload.candidate in pipelines:
            refuse(event, "the candidate was sampled before")
        if not 0 <= payload.candidate < generation.size:
            refuse(event, "candidate number out of range")
        graph = require(state.graph, event, "there is no graph yet")
        longest = state.settings.max_length
        reason = walk_violation(payload.steps, payload.policy_steps, graph, state.pools, longest)
        if reason is not None:
            refuse(event, reason)
        names = [(step.operator, step.implementation, step.share) for step in payload.steps]
        for name in names:
            if name not in same:
                same[name] = p.Step(operator=name[0], implementation=name[1], share=name[2])
        pipelines[payload.candidate] = SampledPipeline(event[1], tuple([same[name] for name in names]))
    if pipelines is None or state.generation is None:
        return state
    return replace(state, generation=replace(state.generation, pipelines=pipelines.finish()))


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
        is_sane = point.size >= 1 and point.work >= 0 and point.cpu_s >= 0.0
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
            evaluated = _evaluated(state, event, split, payload.generation)
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


def _evaluated(state: RunState, event: StoredEvent, split: str, number: int) -> _Evaluated:
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
    generation = open_generation(state, event, number)
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
    generation = state.generation
    if generation is None:
        return state
    if split == "train":
        return replace(state, generation=replace(generation, outcomes=outcomes, outcomes_seq=seq))
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


@folds(p.CreditsUpdated)
def _credits_updated(state: RunState, event: RecordedEvent, payload: p.CreditsUpdated) -> RunState:
    generation = open_generation(state, event, payload.generation)
    require(generation.scoring is not None, event, "the generation is not scored")
    require(generation.basis is None, event, "the credits were updated before")
    graph = require(state.graph, event, "there is no graph yet")
    credits = state.credits.update(
        (Transition(t.source, t.target), TransitionRecord(t.credit, t.activations))
        for t in payload.transitions
    )
    edits, more = _slots(state, generation.number)
    left, many = state.ledger.left, (state.settings.answers_per_edit, state.settings.turns)
    every = state.settings.new_operators
    asks = int(bool(edits and every and generation.number % every == 0))
    landing = (_landing(state, generation.number, "implement"), _landing(state, generation.number, "connect"))
    basis = EvolutionBasis(
        event.seq,
        graph,
        state.pools,
        credits,
        left,
        edits,
        more,
        *many,
        asks,
        state.settings.edit_lag,
        generation.number + state.settings.edit_lag <= _last_edited(state.settings),
        *landing,
    )
    return replace(
        state,
        credits=credits,
        ledger=state.ledger.land((*landing[0], *landing[1]), generation.number),
        owed_trials=_trials_left(state, generation),
        contributions=_contributions(state, generation),
        generation=replace(generation, basis=basis),
    )


def _last_edited(settings: RunSettings) -> int:
    """Return the last generation in which edits are made."""
    return settings.generations if settings.last_edits else settings.generations - 1


def _landing(state: RunState, number: int, purpose: p.CallPurpose) -> tuple[int, ...]:
    """Return the calls in flight whose answers generation `number` takes, in the order of their tickets."""
    is_last, takes_early = number >= state.settings.generations, state.settings.edit_landing == "arrival"
    due = []
    for call in map(state.ledger.calls.__getitem__, state.ledger.in_flight):
        if call.purpose != purpose or call.ticket is None:
            continue
        has_come = call.status != "reserved" or call.reserved_seq < state.process_seq
        if is_last or call.ticket.lands <= number or (takes_early and has_come):
            due.append((call.place, call.number))
    return tuple(number for _, number in sorted(due))


def _slots(state: RunState, number: int) -> tuple[int, int]:
    """Return the slots that credit fills and those for the incumbent's operators.

    Where calls are to be spent, the generations left share those left evenly; what a generation does not use
    goes to the ones behind it. Under a lag no answer is asked for that no generation would take, and none
    once the run is to end for its rejections.
    """
    settings, ledger = state.settings, state.ledger
    last = _last_edited(settings) - settings.edit_lag
    if not settings.evolution or number > last:
        return 0, 0
    if settings.edit_lag and 0 < settings.rejection_limit <= ledger.rejections.in_a_row:
        return 0, 0
    edits, more = settings.edits_per_generation, settings.incumbent_edits
    if settings.call_plan == "spend":
        share = -(-ledger.left // (last - number + 1)) - edits  # of which each edge takes one
        more = max(more, share // (settings.answers_per_edit * settings.turns) - edits)
    return edits, more


def _trials_left(state: RunState, generation: GenerationState) -> tuple[OwedTrial, ...]:
    """Return what still has to be sampled after the candidates of a generation."""
    if not state.owed_trials:
        return ()
    used: Counter[ImplementationId | Edge] = Counter()
    for pipeline in generation.pipelines.values():
        used.update({step.implementation for step in pipeline.steps})
        used.update(set(pairwise((START, *(step.operator for step in pipeline.steps), END))))
    counted = (
        replace(trial, left=trial.left - used[trial.implementation or trial.edge or (START, END)])
        for trial in state.owed_trials
    )
    return tuple(trial for trial in counted if trial.left > 0)


def _contributions(state: RunState, generation: GenerationState) -> Map[ImplementationId, Contribution]:
    """Return what implementations account for, with a generation's training evaluations."""
    settings = state.settings
    if not (settings.incumbent_edits or settings.call_plan == "spend" or settings.prompt_edition >= 2):
        return state.contributions
    shares = state.contributions.mutate()
    for (j, _), outcome in sorted(generation.outcomes.items()):
        steps, trace = generation.pipelines[j].steps, outcome.trace
        efforts, gains = position_shares(trace, is_work=state.settings.work is not None)
        for step, effort, gain in zip(steps, efforts, gains, strict=False):
            old = shares.get(step.implementation, Contribution(0.0, 0.0, 0))
            shares[step.implementation] = Contribution(old.effort + effort, old.gain + gain, old.runs + 1)
    return shares.finish()


def position_shares(trace: Sequence[p.PositionTrace], *, is_work: bool) -> tuple[list[float], list[float]]:
    """Return each position's share of the effort and of the improvement of an evaluation; sums of 1 or 0.

    Effort is work units with `is_work`, seconds otherwise; improvement is what the score went down by.
    """
    efforts = [float(t.work) if is_work else t.elapsed_s for t in trace]
    gains = [0.0 if t.score_before is None else max(t.score_before - t.score_after, 0.0) for t in trace]
    return _normalised(efforts), _normalised(gains)


def _normalised(values: list[float]) -> list[float]:
    total = math.fsum(values)
    return [value / total if total > 0.0 else 0.0 for value in values]


@folds(p.PolicyUpdated)
def _policy_updated(state: RunState, event: RecordedEvent, payload: p.PolicyUpdated) -> RunState:
    generation = open_generation(state, event, payload.generation)
    require(generation.scoring is not None, event, "the generation is not scored")
    require(not generation.policy_updated_seq, event, "the policy was updated before")
    return replace(
        state,
        policy_updates=state.policy_updates + 1,
        policy_digest=payload.parameters_digest,
        generation=replace(generation, policy_updated_seq=event.seq, policy_update=payload),
    )


@folds(p.PolicyCheckpointed)
def _policy_checkpointed(state: RunState, event: RecordedEvent, payload: p.PolicyCheckpointed) -> RunState:
    open_generation(state, event, payload.generation)
    require(payload.policy_updates == state.policy_updates, event, "the policy has been updated since")
    require(payload.parameters_digest == state.policy_digest, event, "the parameters are others")
    saved = SavedPolicy(event.seq, payload.policy_updates, payload.files_digest)
    return replace(state, saved_policies=(*state.saved_policies, saved))


@folds(p.ValidationStarted)
def _validation_started(state: RunState, event: RecordedEvent, payload: p.ValidationStarted) -> RunState:
    generation = open_generation(state, event, payload.generation)
    require(generation.validation is None, event, "the generation was validated before")
    known = {entry.key for entry in state.header.splits.validation}
    require(
        payload.instances
        and all(known.intersection((k, instance_and_copy(k)[0])) for k in payload.instances),
        event,
        "an instance is not of the validation split",
    )
    return replace(
        state,
        generation=replace(generation, validation=ValidationState(event.seq, payload.instances)),
    )


@folds(p.PipelinesDecoded)
def _pipelines_decoded(state: RunState, event: RecordedEvent, payload: p.PipelinesDecoded) -> RunState:
    generation = open_generation(state, event, payload.generation)
    validation = require(generation.validation, event, "no validation waits for pipelines")
    require(validation.pipelines is None, event, "no validation waits for pipelines")
    known = all(
        state.operator_of.get(step.implementation) == step.operator
        for steps in payload.pipelines
        for step in steps
    )
    require(payload.pipelines and known, event, "a decoded pipeline uses an unknown implementation")
    validation = replace(validation, pipelines=payload.pipelines, decoded_seq=event.seq)
    return replace(state, generation=replace(generation, validation=validation))


@folds(p.ChallengersCompared)
def _challengers_compared(state: RunState, event: RecordedEvent, payload: p.ChallengersCompared) -> RunState:
    generation = open_generation(state, event, payload.generation)
    validation = require(generation.validation, event, "no validation is open")
    require(state.settings.pools_validations, event, "validations are not pooled")
    require(validation.comparison is None, event, "the pipelines were compared before")
    numbers = {*payload.better, payload.checkpoint, *(row.candidate for row in payload.comparisons)}
    known = range(len(validation.pipelines or ()))
    require(all(number in known for number in numbers), event, "no such validated pipeline")
    require(0.0 <= payload.error < 1.0, event, "its error rate is no probability")
    validation = replace(validation, comparison=payload)
    return replace(state, generation=replace(generation, validation=validation))


@folds(p.ValidationScored)
def _validation_scored(state: RunState, event: RecordedEvent, payload: p.ValidationScored) -> RunState:
    generation = open_generation(state, event, payload.generation)
    validation = require(generation.validation, event, "no validation is open")
    pipelines = require(validation.pipelines, event, "evaluations of the validation are missing")
    needed = len(pipelines) * len(validation.instances)
    require(len(validation.outcomes) == needed, event, "evaluations of the validation are missing")
    require(validation.scores is None, event, "the validation was scored before")
    require(len(payload.scores) == len(pipelines), event, "one score per pipeline")
    validated = state.validated
    if state.settings.pools_validations:
        validated = (*validated, closed_round(generation.number, validation))
    validation = replace(validation, scores=payload.scores, scored_seq=event.seq)
    return replace(state, validated=validated, generation=replace(generation, validation=validation))


@folds(p.CheckpointSelected)
def _checkpoint_selected(state: RunState, event: RecordedEvent, payload: p.CheckpointSelected) -> RunState:
    open_generation(state, event, payload.generation)
    former = state.checkpoint
    if state.settings.compares_checkpoints_by_pairs:
        is_second = former is not None and former.generation == payload.generation
        require(not is_second, event, "the validation selected a checkpoint before")
    else:
        is_better = former is None or payload.score > former.score
        require(is_better, event, "the checkpoint is no better than the one before")
    checkpoint = ScoredProgram(payload.generation, -1, payload.score, payload.pipeline)
    return replace(
        state,
        checkpoint=checkpoint,
        checkpoint_seq=event.seq,
        checkpoint_updates=payload.policy_updates,
    )


@folds(p.GenerationCompleted)
def _generation_completed(state: RunState, event: RecordedEvent, payload: p.GenerationCompleted) -> RunState:
    generation = open_generation(state, event, payload.generation)
    require(
        generation.validation is None or generation.validation.scores is not None,
        event,
        "the validation is not over",
    )
    if state.settings.evolves_pipelines:
        mean, graph, credits = _closed_generation(event, generation)
    else:
        mean, graph, credits = _closed_round(state, event, generation)
    race = generation.race
    digest = state_digest(state)
    if digest != payload.state_digest:
        raise DigestMismatchError(event.seq, event.type, payload.generation, payload.state_digest, digest)
    best = require(state.best, event, "no candidate is scored")
    validation = generation.validation
    summary = GenerationSummary(
        number=generation.number,
        candidates=len(generation.scores),
        failures=generation.outcomes.failed_candidates,
        mean=mean,
        best=max(generation.scores.values(), default=state.settings.failure_reward),
        best_so_far=best.score,
        validation=max(validation.scores) if validation and validation.scores else None,
        calls=state.ledger.used,
        state_digest=digest,
        graph=graph,
        walks=tuple(
            tuple(step.implementation for step in pipeline.steps)
            for _, pipeline in sorted(generation.pipelines.items())
        ),
        credits=credits,
        policy=generation.policy_update,
        race=None if race is None else _race_summary(race),
    )
    return replace(
        state,
        generation=None,
        bases=_bases_in_use(state, generation),
        completed=generation.number,
        completed_seq=event.seq,
        history=state.history.set(generation.number, summary),
    )


def _closed_generation(
    event: RecordedEvent, generation: GenerationState
) -> tuple[float, OperatorGraph, CreditTable]:
    """Return the mean score, the graph and the credits of a generation in which everyone has spoken."""
    require(generation.policy_update, event, "the policy has not been updated")
    basis = require(generation.basis, event, "the credits have not been updated")
    scoring = require(generation.scoring, event, "the generation is not scored")
    race = generation.race
    require(race is None or race.selected_seq, event, "the race is not over")
    require(generation.closed_slots == basis.slots, event, "verdicts on edits are missing")
    return scoring.mean, basis.graph, basis.credits


def _closed_round(
    state: RunState, event: RecordedEvent, generation: GenerationState
) -> tuple[float, OperatorGraph, CreditTable]:
    """Return the same of a round of a method that evolves whole programs; R_fail where it had none."""
    planned = require(generation.round, event, "the round was not planned")
    require(planned.updated_seq, event, "the round is not over")
    graph = require(state.graph, event, "there is no graph yet")
    scores = [score for _, score in sorted(generation.scores.items())]
    mean = math.fsum(scores) / len(scores) if scores else state.settings.failure_reward
    return mean, graph, state.credits


def _bases_in_use(state: RunState, generation: GenerationState) -> Map[int, EvolutionBasis]:
    """Return what answers in flight were asked on, at the end of a generation."""
    asked = {state.ledger.calls[call].generation for call in state.ledger.in_flight}
    bases = dict(state.bases.items())
    if generation.basis is not None:
        bases[generation.number] = generation.basis
    return Map({number: basis for number, basis in bases.items() if number in asked})


def _race_summary(race: RaceState) -> RaceSummary:
    winner = race.contenders[race.winner] if race.winner else None
    gains = [standing.gain for standing in race.standings if standing.gain is not None]
    return RaceSummary(
        contenders=len(race.contenders) - 1,
        evaluations=len(race.outcomes),
        winner=None if winner is None else winner.move,
        change="" if winner is None else winner.change,
        gain=max(gains, default=None),
    )
