"""What a run is at, and how long it will still take: pure functions of state and measurements."""

from __future__ import annotations

from dga2d.replay.state.run_state import GenerationState, RunState
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
    if len(generation.pipelines) < generation.size and not generation.outcomes:
        return f"sampling, {len(generation.pipelines)} of {generation.size} pipelines"
    due = generation.size * len(state.header.batch)
    if len(generation.outcomes) < due:
        return f"evaluating, {len(generation.outcomes)} of {due} evaluations"
    if generation.basis is not None and generation.basis.slots:
        decided = len(generation.implementation_verdicts) + len(generation.edge_verdicts)
        if decided < generation.basis.slots:
            return f"evolving code and edges, {decided} of {generation.basis.slots} edits decided"
    race = generation.race
    if race is not None and not race.selected_seq:
        left = f"{len(race.left)} of {len(race.contenders) - 1} contenders left"
        return f"racing against the incumbent, {left}, {len(race.outcomes)} evaluations"
    return "learning from the rewards"


def time_left_s(state: RunState, measured: Measurements) -> float | None:
    """Return an estimate of the seconds until the run, or its test, is over; ``None`` while nothing is known.

    Generations still to come are taken to last as long as the last ones on average. If the model calls run
    out before, at the pace so far, only the generations until then are counted.
    """
    test = state.test
    if test is not None and test.mean_gaps is None:
        due = len(test.candidates) * len(test.instances) - len(test.outcomes)
        return due / measured.evaluations_per_s if measured.evaluations_per_s else None
    if state.status != "running":
        return None
    left = generations_left(state)
    if not measured.generation_times_s:
        return _first_estimate_s(state, measured, left)
    mean_s = sum(measured.generation_times_s) / len(measured.generation_times_s)
    return max(left * mean_s - measured.generation_s, (left - 1) * mean_s, 0.0)


def _first_estimate_s(state: RunState, measured: Measurements, left: float) -> float | None:
    """Return what the training evaluations still to come take, before a generation was watched to its end.

    They are taken to last as long as those seen, or as their time limit.
    """
    done = 0 if state.generation is None else len(state.generation.outcomes)
    due = left * state.settings.pipelines * len(state.header.batch) - done
    budget, unit = state.settings.budget
    if measured.evaluations >= ENOUGH_EVALUATIONS and measured.evaluations_per_s:
        return due / measured.evaluations_per_s
    return due * budget / measured.workers if unit == "s" and measured.workers else None


def generations_left(state: RunState) -> float:
    """Return the generations until the last one, or until the model calls are spent at the present pace."""
    left = float(state.settings.generations - state.completed)
    ledger = state.ledger
    if state.settings.evolution and state.completed and ledger.used:
        left = min(left, ledger.left * state.completed / ledger.used)
    return max(left, 0.0)


def clock(seconds: float) -> str:
    """Return seconds as ``m:ss`` or ``h:mm:ss``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
