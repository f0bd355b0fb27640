"""Prompts of the seventh edition: ranges of values, ties of whole programs, why sound code did not join."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.agents.outside_world import Answers, AskedRun, asked_run

from dga2d.agents.prompt_facts import tie_in_words
from dga2d.agents.prompt_instances import size_rows
from dga2d.agents.proposing.prompts import render
from dga2d.agents.proposing.tasks import ImplementTask
from dga2d.domains.core.registry import get_domain
from dga2d.replay.state.fold import fold_all
from dga2d.runtime.runs.problem import Problem

if TYPE_CHECKING:
    from tests.agents.simulation import Simulation


@pytest.fixture(scope="module")
def asked(simulation: Simulation) -> AskedRun:
    return asked_run(
        simulation,
        prompt_edition=7,
        turns=2,
        answers_per_edit=2,
        gate_instances=3,
        race_contenders=3,
        race_instances=3,
        incumbent_edits=2,
        edits_per_generation=2,
        edge_edit="delta",
        generations=4,
        llm_calls=300,
    )


@pytest.mark.slow
def test_the_prompts_of_a_run_are_made_again(asked: AskedRun) -> None:
    assert asked.simulation.made_again(asked.log) > 60


@pytest.mark.slow
def test_sound_code_that_another_answer_outdid_is_not_told_as_a_loss(asked: AskedRun) -> None:
    rows = {row for task in asked.code if task.facts is not None for row in task.facts.tried}
    outdone = [row for row in rows if "another answer of that generation did as well or better" in row]
    assert outdone
    for row in outdone:
        gain = re.search(r" ([+-][\d.]+) ± ", row)
        assert gain is not None
        assert float(gain[1]) >= 0.0
    lost = [row for row in rows if re.search(r" -0*\.?\d*[1-9]\d* ± ", row) and "did not join" in row]
    assert all(row.endswith("did not join.") for row in lost)


@pytest.mark.slow
def test_an_edge_to_the_end_is_not_told_as_unused(asked: AskedRun) -> None:
    rows = [row for task in asked.edges if task.facts is not None for row in task.facts.edits]
    ends = re.findall(r"-> END added \((.*?)\)", "\n".join(rows))
    assert ends
    assert set(ends) <= {"an end of walks, which has no credit", "cut again"}


@pytest.mark.parametrize(
    ("edition", "gains", "is_told"),
    [
        (7, (0.0, 0.0), True),
        (6, (0.0, 0.0), False),
        (7, (0.0, 0.001), False),
        (7, (0.0, None), False),
        (7, (), False),
    ],
)
def test_a_tie_of_whole_programs_is_told_as_one(
    edition: int, gains: tuple[float | None, ...], is_told: bool
) -> None:
    assert ("came to the same objective" in tie_in_words(edition, gains)) == is_told


@pytest.mark.slow
def test_what_is_compiled_when_is_told(asked: AskedRun) -> None:
    for task in asked.code:
        assert "call each compiled function in every run" in render(task).text


def test_sizes_tell_between_which_values_the_data_lie() -> None:
    domain = get_domain("jsp")
    problem = Problem(domain, domain.generated())
    key = problem.splits.train[0].key
    times = domain.environment(problem.instance(key))["times_matrix"]
    told = problem.size_in_words(key, with_values=True)
    shape = "x".join(map(str, np.shape(times)))
    assert f"times_matrix {shape} of {np.min(times):g} to {np.max(times):g}" in told
    assert " of " not in problem.size_in_words(key)


@pytest.mark.slow
def test_of_many_sizes_some_are_told_evenly_spread(asked: AskedRun) -> None:
    known = fold_all(asked.log.events)
    splits = known.header.splits
    entry = splits.train[0]
    train = tuple(
        entry.model_copy(update={"key": f"g/{number:02}", "size": f"n = {number:02}"}) for number in range(20)
    )
    header = known.header.model_copy(update={"splits": splits.model_copy(update={"train": train})})
    rows = size_rows(replace(known, started=header))
    assert rows == tuple(f"1 x: n = {number:02}" for number in (1, 3, 6, 8, 11, 13, 16, 18))
    assert size_rows(known) == ("6 x: n = 10",)


def test_the_reason_of_a_failure_is_told(simulation: Simulation) -> None:
    model = Answers({})
    changed = simulation.changed(
        prompt_edition=7,
        gate_instances=3,
        incumbent_edits=2,
        edits_per_generation=3,
        attempts_per_edit=1,
        generations=4,
        llm_calls=200,
    )
    failing = replace(changed, model=model, fails=lambda request: "/gate/" in request.key)
    failing.run()
    tasks = [request.task for request in model.requests]
    rows = {
        row for task in tasks if isinstance(task, ImplementTask) and task.facts for row in task.facts.tried
    }
    assert rows
    assert all(re.search(r" It failed on g/\S+: runtime_error: ValueError: no$", row) for row in rows)
