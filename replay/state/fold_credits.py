"""Fold handler for credits, which decide what both evolvers may edit, and on what basis."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from immutables import Map

from dga2d.events import ImplementationId, RecordedEvent
from dga2d.events import payloads as p
from dga2d.events.payloads import Edge
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.credit import Transition, TransitionRecord
from dga2d.replay.state.generation_state import EvolutionBasis, GenerationState
from dga2d.replay.state.graph import END, START
from dga2d.replay.state.handler import folds, open_generation, replace, require
from dga2d.replay.state.run_state import Contribution, OwedTrial, RunState


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
    offers = int(bool(edits and state.next_operator() is not None))
    landing = (_landing(state, generation.number, "implement"), _landing(state, generation.number, "connect"))
    evolves_kernels = state.settings.kernels == "evolved" and state.header.kernels
    basis = EvolutionBasis(
        event.seq,
        graph,
        state.pools,
        credits,
        left,
        edits,
        more,
        *many,
        max(asks, offers),
        state.settings.edit_lag,
        generation.number + state.settings.edit_lag <= _last_edited(state.settings),
        *landing,
        kernel_slots=int(bool(edits and evolves_kernels)),
    )
    return replace(
        state,
        credits=credits,
        ledger=state.ledger.land((*landing[0], *landing[1]), generation.number),
        owed_trials=trials_left(state.owed_trials, [generation]),
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


def trials_left(owed: Sequence[OwedTrial], generations: Sequence[GenerationState]) -> tuple[OwedTrial, ...]:
    """Return what still has to be sampled after the candidates of some generations."""
    if not owed:
        return ()
    used: Counter[ImplementationId | Edge] = Counter()
    for pipeline in (sampled for generation in generations for sampled in generation.pipelines.values()):
        used.update({step.implementation for step in pipeline.steps})
        used.update(set(pairwise((START, *(step.operator for step in pipeline.steps), END))))
    counted = (
        replace(trial, left=trial.left - used[trial.implementation or trial.edge or (START, END)])
        for trial in owed
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
    return _normalise(efforts), _normalise(gains)


def _normalise(values: list[float]) -> list[float]:
    total = math.fsum(values)
    return [value / total if total > 0.0 else 0.0 for value in values]
