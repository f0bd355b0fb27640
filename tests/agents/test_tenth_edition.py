"""Prompts of the tenth edition: what races came to, the time of positions, functions of other members."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import pytest
from tests.agents.outside_world import AskedRun, asked_run

from dga2d.agents.proposing.prompts import render
from dga2d.agents.proposing.tasks import ImplementTask, OperatorTask
from dga2d.events.payloads import EvaluationRecorded
from dga2d.replay.state.fold import fold_all
from dga2d.replay.state.outcomes import BestMet

if TYPE_CHECKING:
    from tests.agents.simulation import Simulation

MET = "The best objective that races came to so far"


def asked(simulation: Simulation, edition: int) -> AskedRun:
    return asked_run(
        simulation,
        prompt_edition=edition,
        work=None,
        time_limit=1.0,
        gate_instances=3,
        race_contenders=3,
        race_instances=3,
        incumbent_edits=1,
        new_operators=1,
        edits_per_generation=3,
        generations=4,
        llm_calls=200,
    )


@pytest.fixture(scope="module")
def tenth(simulation: Simulation) -> AskedRun:
    return asked(simulation, 10)


@pytest.mark.slow
def test_the_prompts_of_a_run_are_made_again(tenth: AskedRun) -> None:
    assert tenth.simulation.made_again(tenth.log) > 40


def test_what_races_came_to_is_counted(tenth: AskedRun) -> None:
    """Against a plain count over all evaluations of races."""
    state = fold_all(tenth.log.events)
    found = defaultdict(list)
    for event in tenth.log.events:
        payload = event.payload
        if isinstance(payload, EvaluationRecorded) and payload.split == "race":
            found[payload.instance].append(payload.objective)
    best = min if state.header.sense == "min" else max
    plain = {}
    for key, objectives in found.items():
        known = [objective for objective in objectives if objective is not None]
        plain[key] = (best(known), known.count(best(known)), len(known))
    assert len(plain) > 3
    assert {key: tuple(met) for key, met in state.best_met.items()} == plain


def test_prompts_tell_what_races_came_to_once_there_was_one(tenth: AskedRun) -> None:
    tasks: list[ImplementTask | OperatorTask] = [*tenth.code, *tenth.operators]
    rows = [task.facts.met for task in tasks if task.facts is not None]
    assert not rows[0]
    assert any(rows)
    shares = []
    for told in rows:
        counts = [row.rpartition(", ")[2].split()[:3] for row in told if "others" not in row]
        shares.append([int(some) / int(of) for some, _, of in counts])
    assert all(found == sorted(found) for found in shares)
    for task in tasks:
        assert task.facts is not None
        text = render(task).text
        assert (MET in text) == bool(task.facts.met)
        assert all(f"- {row}\n" in text for row in task.facts.met)


def test_a_model_is_told_what_it_was_not_before(simulation: Simulation, tenth: AskedRun) -> None:
    ninth = asked(simulation, 9)
    assert not fold_all(ninth.log.events).best_met
    for run, is_tenth in ((ninth, False), (tenth, True)):
        texts = [render(task).text for task in run.code]
        assert any("% of the budget, 500 ms;" in text for text in texts) == is_tenth
        assert {"keeps to the lines above" in text for text in texts} == {is_tenth}
        assert any("Functions of the other members" in text for text in texts) == is_tenth
        assert any(MET in text for text in texts) == is_tenth


def test_what_differs_by_rounding_is_the_same() -> None:
    best = BestMet(2.0).after(2.0 + 1e-12, is_better=False).after(3.0, is_better=False)
    assert best == (2.0, 2, 3)
    assert best.after(1.5, is_better=True) == (1.5, 1, 4)
    assert best.after(2.0 - 1e-12, is_better=True) == (2.0, 3, 4)
