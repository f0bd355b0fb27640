"""Prompts of the ninth edition: what a score calls, what a charge takes, and no change in a second turn."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.agents.outside_world import Answers

from dga2d.agents.proposing.prompts import render
from dga2d.agents.proposing.tasks import ImplementTask, InitializeTask

if TYPE_CHECKING:
    from tests.agents.simulation import Simulation

SCORE = "def score(self, instance, order):\n    return cost_of(order)\n\ndef cost_of(order):\n    return 7.0"


@pytest.mark.parametrize("edition", [8, 9])
def test_what_a_score_calls_and_what_a_charge_takes_are_told(simulation: Simulation, edition: int) -> None:
    model = Answers({})
    changed = simulation.changed(
        prompt_edition=edition,
        work=1000,
        gate_instances=3,
        turns=2,
        no_change=True,
        generations=3,
        llm_calls=200,
    )
    card = replace(simulation.card, score_source=SCORE)
    talking = replace(changed, model=model, card=card)
    log = talking.run()[1]
    assert talking.made_again(log) > 20
    texts = [(r.task, render(r.task).text) for r in model.requests if r.task.facts is not None]
    is_ninth = edition == 9
    assert {f"```python\n{SCORE}\n```" in text for _, text in texts} == {is_ninth}
    assert {f"- Decoder: {card.decoder}" in text for _, text in texts} == {not is_ninth}
    first = [text for task, text in texts if isinstance(task, InitializeTask)]
    assert {"takes is n times the measured cost" in text for text in first} == {is_ninth}
    assert {"whatever it cost" in text for text in first} == {not is_ninth}
    again = [text for task, text in texts if isinstance(task, ImplementTask) and task.draft is not None]
    assert again
    assert {"or with NO_CHANGE where you see none" in text for text in again} == {is_ninth}
