"""Prompts of the sixth edition: where measured programs stand, what became of code, where operators go."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.agents.outside_world import AskedRun, asked_run

from dga2d.agents.prompt_facts import edge_facts, start_facts
from dga2d.agents.proposing.prompts import render
from dga2d.replay.state.fold import fold_all

if TYPE_CHECKING:
    from tests.agents.simulation import Simulation


@pytest.fixture(scope="module")
def dialogue(simulation: Simulation) -> AskedRun:
    return asked_run(
        simulation,
        prompt_edition=6,
        turns=2,
        gate_instances=3,
        race_contenders=3,
        race_instances=3,
        new_operators=1,
        incumbent_edits=1,
        edits_per_generation=3,
        generations=4,
        llm_calls=200,
    )


def test_the_prompts_of_a_run_are_made_again(dialogue: AskedRun) -> None:
    assert dialogue.simulation.made_again(dialogue.log) > 60


def test_feedback_says_where_both_programs_stand_and_how_sure_the_mean_is(dialogue: AskedRun) -> None:
    rows = [row for task in dialogue.code if task.facts is not None for row in task.facts.feedback]
    told = [
        re.search(
            r"([+-][\d.]+) points \(the program is (-?[\d.]+) % behind the best known with yours, "
            r"(-?[\d.]+) %",
            row,
        )
        for row in rows
    ]
    found = [[float(text) for text in match.groups()] for match in told if match is not None]
    assert found
    for gain, yours, others in found:
        assert gain == pytest.approx(others - yours, abs=0.002)
    assert any(re.search(r"[+-][\d.]+ ± [\d.]+ points in the mean", row) for row in rows)


def test_what_became_of_code_that_joined_is_told(dialogue: AskedRun) -> None:
    rows = [row for task in dialogue.code if task.facts is not None for row in task.facts.tried]
    joined = [row for row in rows if "joined the pool" in row]
    assert joined
    kinds = {row.partition("joined the pool")[2] for row in joined}
    assert kinds <= {
        " and is part of the program that the search works on.",
        ", but no race has made it part of the program that the search works on.",
    }


def test_an_initialiser_may_search(dialogue: AskedRun) -> None:
    for task in dialogue.code:
        assert ("It may search as well." in render(task).text) == (task.operator.requires == "none")


def test_a_new_operator_is_told_where_it_will_stand(dialogue: AskedRun) -> None:
    assert dialogue.operators
    for task in dialogue.operators:
        assert "at the\nlast place where the edges allow it" in render(task).text


def test_a_reference_that_the_baseline_set_is_not_called_solved(dialogue: AskedRun) -> None:
    """At the first proposal, with the references that there are, and as if the baseline had set them."""
    proposed = next(event for event in dialogue.log.events if event.type == "ImplementationProposed")
    known = fold_all(dialogue.log.events[: proposed.seq])
    splits = known.header.splits
    train = tuple(
        entry.model_copy(update={"origin": "baseline", "reference": 1e6, "scale": 1.0})
        for entry in splits.train
    )
    header = known.header.model_copy(update={"splits": splits.model_copy(update={"train": train})})
    measured = replace(known, started=header)
    assert "nobody knows" not in start_facts(known).instances
    assert "how far they can fall nobody knows" in start_facts(measured).instances
    assert all("-" in row and "solved" not in row for row in edge_facts(measured).gaps)
