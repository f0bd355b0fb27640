"""The incumbent: the program that the search works on, and the one place that says which it is."""

from __future__ import annotations

from dga2d.events.payloads import Step
from dga2d.replay.state.run_state import RunState


def incumbent(state: RunState) -> tuple[Step, ...]:
    """Return the champion of the races, else the checkpoint if one was selected by a margin, else A*, else
    the safe baseline.

    Where races are still to come A* has to prove itself in one. A checkpoint without a margin is the highest
    of several noisy means, no better founded than A* on the training batch. The steps may name
    implementations that have left their pools since, and the walk may use edges that were cut.
    """
    if state.champion is not None:
        return state.champion.steps
    if state.checkpoint is not None and state.settings.checkpoint_margin > 0.0:
        return state.checkpoint.steps
    is_raced = state.settings.race_contenders > 0
    return state.header.baseline if state.best is None or is_raced else state.best.steps
