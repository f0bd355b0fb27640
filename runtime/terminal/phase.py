"""Phase of a run and the time it still takes: pure functions of state and measurements."""

from __future__ import annotations

import math

from dga2d.replay.state.generation_state import GenerationState
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.runs.estimate import pipeline_evaluations
from dga2d.runtime.terminal.run_metrics import Measurements

ENOUGH_EVALUATIONS = 5
"""From so many on, their rate says something."""


def is_testing(state: RunState) -> bool:
    """Return whether a held-out test is under way; the run itself is then completed or paused."""
    return state.test is not None and state.test.mean_gaps is None


def phase(state: RunState) -> str:
    """Return what the agents are doing."""
    if state.started is None:
        return "loading the policy, starting the evaluation workers"
    test = state.test
    if test is not None and test.mean_gaps is None:
        due = len(test.candidates) * len(test.instances)
        return f"held-out test, {len(test.outcomes)} of {due} evaluations"
    if state.status != "running":
        return f"{state.status}: {state.reason}" if state.reason else state.status
    if state.graph is None:
        return "making the initial graph"
    if state.generation is None:
        return "between generations"
    return _generation_phase(state, state.generation)


def _generation_phase(state: RunState, generation: GenerationState) -> str:
    validation = generation.validation
    if validation is not None and validation.scores is None:
        due = len(validation.pipelines or ()) * len(validation.instances)
        return f"validating, {len(validation.outcomes)} of {due or '?'} evaluations"
    asked = generation.round
    if asked is not None and len(asked.verdicts) < len(asked.asks):
        return (
            f"asking for programs ({asked.phase}), {len(asked.verdicts)} of {len(asked.asks)} answers judged"
        )
    if len(generation.pipelines) < generation.size and not generation.outcomes:
        return f"sampling, {len(generation.pipelines)} of {generation.size} pipelines"
    due = generation.size * len(state.header.batch)
    if len(generation.outcomes) < due:
        return f"evaluating, {len(generation.outcomes)} of {due} evaluations"
    if generation.basis is not None and generation.basis.slots:
        done, slots = generation.closed_slots, generation.basis.slots
        if done < slots:
            told = "decided or asked for" if generation.basis.lag else "decided"
            return f"evolving code and edges, {done} of {slots} edits {told}"
    race = generation.race
    if race is not None and not race.selected_seq:
        if race.is_screen:
            return f"asking what parts of the incumbent are worth, {len(race.outcomes)} evaluations"
        left = f"{len(race.left)} of {len(race.contenders) - 1} contenders left"
        return f"racing against the incumbent, {left}, {len(race.outcomes)} evaluations"
    return "learning from the rewards"


def waits_for(state: RunState) -> str:
    """Return what the run cannot go on without at this moment; empty where it is not running."""
    generation = state.generation
    if state.status != "running" or generation is None:
        return ""
    if state.suspension:
        return "the model's endpoint"
    if generation.basis is None:
        due = generation.size * len(state.header.batch)
        return "the policy" if len(generation.pipelines) < generation.size else f"{due} evaluations"
    late = [n for n in _calls_waited_for(state, generation) if state.ledger.calls[n].status == "reserved"]
    if late:
        asked = sorted({state.ledger.calls[n].generation or 0 for n in late})
        since = "" if asked == [generation.number] else f" asked in generation {', '.join(map(str, asked))}"
        return f"{len(late)} answer{'s' if len(late) > 1 else ''}{since}"
    return "the policy" if not generation.policy_updated_seq else "evaluations"


def _calls_waited_for(state: RunState, generation: GenerationState) -> list[int]:
    """Return the calls whose answers the open generation takes."""
    basis = generation.basis
    taken = () if basis is None else (*basis.landing, *basis.landing_edges)
    asked = (c.number for c in state.ledger.calls.values() if c.ticket is None)
    return [*taken, *(n for n in asked if state.ledger.calls[n].generation == generation.number)]


def calls_in_flight(state: RunState) -> int:
    """Return how many model calls have been made and not answered."""
    return sum(call.status == "reserved" for call in state.ledger.calls.values())


def time_left_s(state: RunState, measured: Measurements) -> float | None:
    """Return an estimate of the seconds until the run, or its test, is over; ``None`` while nothing is known.

    An evaluation still to come is taken to last as long as those of the last generations on average, all
    else that happens in a generation included. If the model calls run out before, at the pace so far, only
    the generations until then are counted.
    """
    test = state.test
    if test is not None and test.mean_gaps is None:
        due = len(test.candidates) * len(test.instances) - len(test.outcomes)
        return due / measured.evaluations_per_s if measured.evaluations_per_s else None
    if state.status != "running":
        return None
    first, last = state.completed + 1, state.completed + math.ceil(generations_left(state))
    due = expected_evaluations(state, first, last)
    times = measured.generation_times_s
    if not times:
        return _first_estimate_s(state, measured, due)
    each_s = sum(times) / expected_evaluations(state, max(first - len(times), 1), state.completed)
    later = expected_evaluations(state, first + 1, last)
    return max(due * each_s - measured.generation_s, later * each_s, 0.0)


def _first_estimate_s(state: RunState, measured: Measurements, due: int) -> float | None:
    """Return what the evaluations still to come take, before a generation was watched to its end.

    They are taken to last as long as those seen, or as their time limit.
    """
    due = max(due - _done(state.generation), 0)
    budget, unit = state.settings.budget
    if measured.evaluations >= ENOUGH_EVALUATIONS and measured.evaluations_per_s:
        return due / measured.evaluations_per_s
    return due * budget / measured.workers if unit == "s" and measured.workers else None


def _done(generation: GenerationState | None) -> int:
    """Return the evaluations of an open generation, without those of new code against its parent."""
    if generation is None:
        return 0
    race, validation = generation.race, generation.validation
    beside = (found.outcomes for found in (race, validation) if found is not None)
    return len(generation.outcomes) + sum(map(len, beside))


def expected_evaluations(state: RunState, first: int, last: int) -> int:
    """Return about how many evaluations the generations `first` to `last` have."""
    from dga2d.agents.conductor import is_last_validation, validation_instances, validation_is_due

    settings = state.settings
    if not settings.evolves_pipelines:
        seen = [summary.candidates for summary in state.history.values()]
        each = sum(seen) / max(len(seen), 1) * len(state.header.batch)
        return max(1, round(each * (last - first + 1))) if first <= last else 0
    due = [number for number in range(first, last + 1) if validation_is_due(state, number)]
    pairs = sum(len(validation_instances(state, is_last_validation(state, number))) for number in due)
    return pipeline_evaluations(settings, last - first + 1, len(state.header.batch), pairs)


def generations_left(state: RunState) -> float:
    """Return the generations until the last one, or until the model calls are spent at the present pace."""
    left = float(state.settings.generations - state.completed)
    ledger = state.ledger
    if not state.settings.evolves_pipelines:
        return ledger.left * state.completed / ledger.used if ledger.used else 1.0
    if state.settings.evolution and state.completed and ledger.used:
        left = min(left, ledger.left * state.completed / ledger.used)
    return max(left, 0.0)


def clock(seconds: float) -> str:
    """Return seconds as ``m:ss`` or ``h:mm:ss``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
