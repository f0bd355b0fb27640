"""Fold handlers for the start and end of a generation, its walks, and what the policy learned from it."""

from __future__ import annotations

import math

from immutables import Map, MapMutation

from dga2d.events import ImplementationId, OperatorId, RecordedEvent, StoredEvent
from dga2d.events import payloads as p
from dga2d.replay.errors import DigestMismatchError
from dga2d.replay.state.credit import CreditTable
from dga2d.replay.state.digest import graph_digest, pools_digest, state_digest
from dga2d.replay.state.generation_state import EvolutionBasis, GenerationState, RaceState, SampledPipeline
from dga2d.replay.state.graph import OperatorGraph, walk_violation
from dga2d.replay.state.handler import (
    Events,
    folds,
    open_generation,
    refuse,
    replace,
    require,
    with_generation,
)
from dga2d.replay.state.incumbent import incumbent, last_ahead, sampled_now
from dga2d.replay.state.run_state import GenerationSummary, RaceSummary, RunState, SavedPolicy


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
    number = payload.generation
    if number in state.ahead:
        generation = replace(state.ahead[number], seq=event.seq)
        return replace(state, generation=generation, ahead=state.ahead.delete(number))
    return replace(state, generation=GenerationState(number, event.seq, size, guide))


@folds(p.PipelineSampled, takes_many=True)
def _pipelines_sampled(state: RunState, events: Events) -> RunState:
    same: dict[tuple[OperatorId, ImplementationId, float | None], p.Step] = {}
    filled: dict[int, tuple[GenerationState, MapMutation[int, SampledPipeline]]] = {}
    for event, payload in events:
        if payload.generation not in filled:
            generation = _to_fill(state, event, payload.generation)
            filled[payload.generation] = generation, generation.pipelines.mutate()
        generation, pipelines = filled[payload.generation]
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
    for generation, pipelines in filled.values():
        state = with_generation(state, replace(generation, pipelines=pipelines.finish()))
    return state


def _to_fill(state: RunState, event: StoredEvent, number: int) -> GenerationState:
    """Return the generation that gets candidates: the open one, or one ahead of it."""
    generation = state.generation
    if generation is None or not generation.number < number <= last_ahead(state, generation):
        return open_generation(state, event, number)
    open_generation(state, event, generation.number)
    if generation.scores:
        refuse(event, f"generation {generation.number} was scored before")
    return state.ahead.get(number) or sampled_now(state, number)


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
        is_screen=race.is_screen,
    )
