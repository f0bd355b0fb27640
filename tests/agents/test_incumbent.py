"""Which program the search works on."""

from __future__ import annotations

from dataclasses import replace

from tests.agents.simulation import Simulation

from dga2d.replay.state.incumbent import incumbent


def test_a_checkpoint_selected_by_a_margin_comes_before_the_best_on_the_batch_and_that_before_the_baseline(
    simulation: Simulation,
) -> None:
    state, _ = simulation.run()
    assert state.best is not None
    assert state.checkpoint is not None
    selected = replace(state, checkpoint=replace(state.checkpoint, steps=state.checkpoint.steps * 2))
    assert incumbent(selected) == state.checkpoint.steps * 2
    without_margin = state.settings.model_copy(update={"checkpoint_margin": 0.0})
    assert incumbent(replace(selected, settings=without_margin)) == state.best.steps
    assert incumbent(replace(state, checkpoint=None)) == state.best.steps
    assert incumbent(replace(state, checkpoint=None, best=None)) == state.header.baseline
