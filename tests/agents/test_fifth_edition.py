"""Prompts of the fifth edition over their bound: what was measured stays, and what is left out is said."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import pytest
from tests.agents.outside_world import Answers

from dga2d.agents.proposing.models import CompletionRequest
from dga2d.agents.proposing.prompts import CHARS_PER_TOKEN, render
from dga2d.agents.proposing.tasks import ConnectTask, ImplementTask

if TYPE_CHECKING:
    from tests.agents.memory_log import MemoryLog
    from tests.agents.simulation import Simulation


class Dialogue(NamedTuple):
    """A run, and tasks of it."""

    simulation: Simulation
    log: MemoryLog
    second_turns: list[ImplementTask]
    """Those before which something had been tried for the operator."""
    edges: list[ConnectTask]


@pytest.fixture(scope="module")
def dialogue(simulation: Simulation) -> Dialogue:
    """A run with two turns."""
    model = Answers({})
    changed = simulation.changed(
        prompt_edition=5,
        turns=2,
        gate_instances=3,
        incumbent_edits=1,
        edits_per_generation=3,
        generations=4,
        llm_calls=200,
    )
    talking = replace(changed, model=model)
    log = talking.run()[1]
    requests: list[CompletionRequest] = model.requests
    tasks = [r.task for r in requests if isinstance(r.task, ImplementTask) and r.task.draft is not None]
    second = [task for task in tasks if task.facts is not None and task.facts.tried]
    return Dialogue(talking, log, second, [r.task for r in requests if isinstance(r.task, ConnectTask)])


LONG_BODY = "    c(b)\n" * 100 + "    return b\n"


def rendered(task: ImplementTask, bound_tokens: int, edition: Literal[4, 5] = 5) -> str:
    assert task.facts is not None
    changed = replace(task.facts, edition=edition, max_tokens=bound_tokens)
    return render(replace(task, facts=changed)).text


def test_the_prompts_of_a_run_are_made_again(dialogue: Dialogue) -> None:
    assert dialogue.second_turns
    assert dialogue.simulation.made_again(dialogue.log) > 60


def test_where_there_is_room_the_fourth_edition_says_the_same(dialogue: Dialogue) -> None:
    for task in dialogue.second_turns:
        assert rendered(task, 1_000_000) == rendered(task, 1_000_000, edition=4)


def test_what_was_measured_stays_longest_and_nothing_is_denied(dialogue: Dialogue) -> None:
    """From the whole prompt down: code of neighbours becomes its docstring, then facts go, feedback last."""
    task = max(dialogue.second_turns, key=lambda one: len(rendered(one, 1_000_000)))
    assert task.facts is not None
    assert task.facts.feedback
    whole = rendered(task, 1_000_000)
    seen = set()
    for tokens in range(len(whole) // CHARS_PER_TOKEN, 0, -40):
        text = rendered(task, tokens)
        measured = all(row in text for row in task.facts.feedback)
        tried = [row in text for row in task.facts.tried]
        seen.add((measured, all(tried), any(tried)))
        assert measured or not any(tried)
        assert "Nothing yet." not in text
        assert text == whole or "Left out of this prompt" in text
        assert measured or "has no room here" in text or any(row in text for row in task.facts.feedback)
    assert {(True, True, True), (True, False, False)} <= seen


def test_edges_to_the_end_are_not_called_unused(dialogue: Dialogue) -> None:
    assert dialogue.edges
    for task in dialogue.edges:
        rows = [row for row in render(task).text.splitlines() if " -> END: " in row]
        assert rows
        assert all(row.endswith("has no credit, since nothing runs at END") for row in rows)


def test_neighbours_keep_their_idea_before_they_go(dialogue: Dialogue) -> None:
    task = next(task for task in dialogue.second_turns if task.facts is not None and task.facts.neighbours)
    assert task.facts is not None
    near = tuple(
        replace(entry, source=f'"""Goes the way of {entry.id}."""\n\n\ndef run(a, b, c):\n{LONG_BODY}')
        for entry in task.facts.neighbours
    )
    talked = replace(task, facts=replace(task.facts, neighbours=near, blocks=(), examples=(), kernels=()))
    whole = rendered(talked, 1_000_000)
    shorter = rendered(talked, (len(whole) - len(LONG_BODY) // 2) // CHARS_PER_TOKEN)
    assert "def run(a, b, c):" in whole
    assert shorter.count("def run(a, b, c):") == len(near) - 1
    assert all(f"Goes the way of {entry.id}." in shorter for entry in near)
    assert "too long: code of neighbours." in shorter
