"""The plan of a study: what its file may say, and what it comes to."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from tests.docs.following import TUTORIALS, blocks

from dga2d.runtime.errors import UsageError
from dga2d.runtime.runs.config import make_settings
from dga2d.runtime.study.cells import CellProgress, WorkBudget, estimate, measure_work_budgets
from dga2d.runtime.study.plan import Cell, parse_plan, read_plan, shipped_plans
from dga2d.runtime.study.running import Options, commands_for

PLAN = """
title = "Two arms"
domains = ["jsp", "tsp"]
seeds = [1, 2]

[settings]
work = 500

[arms.off]
evolution = false

[arms.on]
llm_calls = 3
"""


def test_seeds_come_one_after_another_so_that_early_results_are_of_all_arms() -> None:
    plan = parse_plan(PLAN, "two", "two.toml")
    assert plan.cells[:4] == (
        Cell("jsp", "off", 1),
        Cell("jsp", "on", 1),
        Cell("tsp", "off", 1),
        Cell("tsp", "on", 1),
    )
    assert len(plan.cells) == 8
    assert plan.run_id(plan.cells[0]) == "two.jsp.off.1"
    assert plan.reference_arm == "off"
    assert plan.effective(plan.cells[1]).llm_calls == 3
    assert plan.effective(plan.cells[1]).work == 500


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("title =", "title", "two.toml: "),
        ('title = "Two arms"', "", "title"),
        ("seeds = [1, 2]", "seeds = []", "seeds"),
        ("seeds = [1, 2]", 'seeds = ["a"]', "seeds.0"),
        ("seeds = [1, 2]", "seeds = [1, 2]\ncolour = 3", "colour"),
        ("seeds = [1, 2]", 'seeds = [1, 2]\nreference = "none"', "there is no arm 'none'"),
        ("work = 500", "wrok = 500", "settings: unknown setting 'wrok'; did you mean 'work'"),
        ("llm_calls = 3", "llm_cals = 3", "arms.on: unknown setting 'llm_cals'"),
        ("llm_calls = 3", "llm_calls = -3", "llm_calls"),
        ('"jsp"', '"jps"', "no domain is called 'jps'"),
        ("[arms.on]", '[arms."a b"]', "arms.a b"),
    ],
)
def test_a_wrong_plan_is_refused_with_its_reason(old: str, new: str, reason: str) -> None:
    with pytest.raises((UsageError, LookupError, ValueError), match=reason):
        parse_plan(PLAN.replace(old, new, 1), "two", "two.toml")


def test_a_plan_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no plan is called 'nothing'; shipped: "):
        read_plan("nothing")
    with pytest.raises(UsageError, match="cannot be read"):
        read_plan(str(tmp_path / "none.toml"))


def test_every_shipped_plan_can_be_used() -> None:
    for name in shipped_plans():
        assert read_plan(name).name == name


def test_every_value_of_the_default_preset_has_an_arm_that_takes_it_back() -> None:
    """But for the number of validation instances, which all arms share, and the policy, a download."""
    plan = read_plan("ablations-small")
    paper, default = (make_settings({}, {"preset": name}).model_dump() for name in ("paper", "default"))
    shared = {"preset", "policy", "validation_instances"}
    differing = {name for name, value in paper.items() if value != default[name]} - shared
    given = {arm: values for arm, values in plan.arms.items() if arm in paper}
    needed = {"bank_operators": {"bank": "shipped"}}
    assert given == {name: needed.get(name, {}) | {name: paper[name]} for name in differing}
    changed = [*(values for arm, values in plan.arms.items() if arm not in paper and arm != "default")]
    assert all(default[name] != value for values in changed for name, value in values.items())


def test_the_plan_of_the_tutorial_can_be_used() -> None:
    page = (TUTORIALS / "study.md").read_text(encoding="utf-8")
    (plan,) = (block.text for block in blocks(page) if block.language == "toml")
    assert len(parse_plan(plan, "adds", "adds.toml").cells) == 18


def test_what_a_cell_still_needs() -> None:
    plan = parse_plan(PLAN, "two", "two.toml")
    cell, options = plan.cells[0], Options("postgresql+asyncpg://me:secret@host/runs", Path("data"))
    begin, test = commands_for(plan, CellProgress(cell, "absent"), options)
    assert begin[:8] == [
        *("evolve", "jsp", "--seed", "1", "--run-id", "two.jsp.off.1"),
        *("--set=work=500", "--set=evolution=false"),
    ]
    assert test[:2] == ["test", "two.jsp.off.1"]
    assert test[2:] == begin[8:] == ["--quiet", "--no-report", "--json", "--data", "data"]
    assert commands_for(plan, CellProgress(cell, "begun"), options)[0][:3] == [
        "resume",
        "two.jsp.off.1",
        "--quiet",
    ]
    paid = parse_plan(PLAN.replace("llm_calls = 3", 'llm_calls = 3\nllm = "openai:m"'), "two", "two.toml")
    cell = next(one for one in paid.cells if "llm" in paid.given(one))
    resume, _ = commands_for(paid, CellProgress(cell, "begun"), options)
    assert resume[2:4] == ['--set=llm="openai:m"', "--quiet"]  # wherever it is carried out
    cell = plan.cells[0]
    assert commands_for(plan, CellProgress(cell, "evolved"), options) == [test]
    assert commands_for(plan, CellProgress(cell, "tested"), options) == []


def test_the_estimate_counts_what_is_left_and_learns_from_what_was_done() -> None:
    plan = parse_plan(PLAN.replace("llm_calls = 3", 'llm_calls = 3\nllm = "openai:m"'), "two", "two.toml")
    fresh = [CellProgress(cell, "absent") for cell in plan.cells]
    before = estimate(plan, fresh, 1, {})
    assert (before["runs"], before["calls"]) == (8, 4 * 500 + 4 * 3)
    assert before["money_usd"] is before["tokens"] is before["hours"] is None
    done = [CellProgress(plan.cells[0], "tested", calls=7, seconds=1800.0), *fresh[1:]]
    after = estimate(plan, done, 2, {})
    assert (after["runs"], after["calls"]) == (7, 3 * 500 + 4 * 3)
    assert after["hours"] == pytest.approx(7 * 0.5 / 2)


def test_hours_of_work_budgets_are_estimated_from_a_measured_evaluation() -> None:
    plan = parse_plan(PLAN, "two", "two.toml")
    fresh = [CellProgress(cell, "absent") for cell in plan.cells]
    seconds = {WorkBudget("jsp", 500): 2.0, WorkBudget("tsp", 500): 4.0}
    found = estimate(plan, fresh, 1, seconds)
    workers = plan.effective(plan.cells[0]).evaluators
    workers = workers if isinstance(workers, int) else os.cpu_count() or 1
    assert found["hours"] == pytest.approx(found["evaluations"] * 3.0 / workers / 3600)


def test_work_budgets_are_measured_for_domains_no_run_of_which_was_tested() -> None:
    plan = parse_plan(PLAN, "two", "two.toml")
    fresh = [CellProgress(cell, "absent") for cell in plan.cells]
    done = [replace(one, status="tested", seconds=3.0) if one.cell.domain == "jsp" else one for one in fresh]
    said = list[str]()
    measured = anyio.run(measure_work_budgets, plan, done, None, said.append)
    assert list(measured) == [WorkBudget("tsp", 500)]
    assert 0.0 < measured[WorkBudget("tsp", 500)] < 60.0
    assert said == ["measuring 500 work units of tsp"]
