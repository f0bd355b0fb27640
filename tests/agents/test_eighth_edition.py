"""Prompts of the eighth edition: what code may have prepared once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.agents.outside_world import Answers

from dga2d.agents.proposing.prompts import render
from dga2d.agents.proposing.tasks import ImplementTask, OperatorTask

if TYPE_CHECKING:
    from tests.agents.simulation import Simulation


@pytest.mark.parametrize("edition", [pytest.param(7, marks=pytest.mark.slow), 8])
def test_code_and_operators_are_told_what_is_made_once(simulation: Simulation, edition: int) -> None:
    """Behind what every operator is given, on a line of its own, from the eighth edition on."""
    model = Answers({})
    changed = simulation.changed(
        prompt_edition=edition,
        gate_instances=3,
        new_operators=1,
        edits_per_generation=3,
        generations=4,
        llm_calls=200,
    )
    talking = replace(changed, model=model)
    log = talking.run()[1]
    assert talking.made_again(log) > 30
    tasks = [r.task for r in model.requests if isinstance(r.task, ImplementTask | OperatorTask)]
    assert {type(task) for task in tasks} == {ImplementTask, OperatorTask}
    for task in tasks:
        lines = render(task).text.split("\n")
        budget = next(i for i, line in enumerate(lines) if line.startswith('- `env_data["budget"]`'))
        told = [i for i, line in enumerate(lines) if line.startswith('- `env_data["prepared"]`')]
        assert told == ([budget + 1] if edition == 8 else [])
        assert lines[budget + 1 + len(told)] == ""
