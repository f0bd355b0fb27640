"""A learned solver in a study: a row beside the arms, measured on the same held-out instances."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
import torch

from dga2d.domains.core.contract import Instance
from dga2d.domains.core.registry import get_domain
from dga2d.domains.tsp.generator import uniform_cities
from dga2d.events import InstanceKey
from dga2d.events.payloads import InstanceEntry
from dga2d.replay.settings import RunSettings
from dga2d.runtime.errors import UsageError
from dga2d.runtime.inspection.measures import GAP
from dga2d.runtime.learned.method import learned_method
from dga2d.runtime.learned.training import Training
from dga2d.runtime.study import solvers, tables
from dga2d.runtime.study.cells import CellProgress
from dga2d.runtime.study.plan import Cell, StudyPlan, parse_plan
from dga2d.runtime.study.results import CellResult, StudyResults, rows_of

PLAN = """
title = "Beside a network"
domains = ["tsp"]
seeds = [1, 2]
[arms.only]
[solvers.pomo]
weights = "{weights}"
time_limit = 5.0
"""


def weights_in(folder: Path) -> Path:
    method = learned_method("pomo")
    settings = method.settings(size=6, width=8, heads=2, layers=1)
    path = folder / "w.safetensors"
    Training(method, settings, torch.device("cpu"), "w").save_weights(path)
    return path


def plan_in(folder: Path) -> StudyPlan:
    return parse_plan(PLAN.format(weights=weights_in(folder)), "p", "p.toml")


def test_a_solver_gets_a_row_of_its_domain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_in(tmp_path)
    keys = [InstanceKey(f"uniform/E{n}") for n in (6, 7)]
    made = {
        key: Instance("tsp", "uniform", key, {"coords": uniform_cities(len(key) // 2 + 1, 5)}) for key in keys
    }
    problem = SimpleNamespace(domain=get_domain("tsp"), instance=made.__getitem__)
    monkeypatch.setattr(solvers, "reopen_problem", lambda state, folder: problem)
    state: Any = SimpleNamespace(
        settings=RunSettings(work=300),
        header=SimpleNamespace(sense="min"),
        entry=lambda key: InstanceEntry(key=key, reference=1e6),
    )
    cell = Cell("tsp", "only", 1)
    progress = CellProgress(cell, "tested")
    start = dict.fromkeys(keys, 60.0)
    tested = CellResult(cell, dict.fromkeys(keys, 50.0), start, None, {}, GAP, progress, ())

    async def solve() -> solvers.SolverResults:
        wanted = plan.solvers["pomo"]
        return await solvers._solve(plan, "pomo", wanted, state, tested, None, lambda line: None)

    found = anyio.run(solve)
    assert [one.cell for one in found.cells] == [Cell("tsp", "pomo", 1), Cell("tsp", "pomo", 2)]
    assert found.cells[0].gaps == found.cells[1].gaps, "POMO takes the most probable tours, whatever the seed"
    for key, gap in found.cells[0].gaps.items():
        assert gap == pytest.approx(100.0 * (found.cells[0].objectives[key] - 1e6) / 1e6)  # type: ignore[operator]
    rows = rows_of(plan, [tested, *found.cells])
    assert [row.arm for row in rows] == ["start", "only", "pomo"]
    assert rows[0].gap.mean == 60.0
    assert rows[2].seconds > 0
    results = StudyResults(plan, (), (tested,), rows, {"pomo": found.training})
    assert "no card beside the weights says how long" in tables.markdown(results)
    assert "| tsp | pomo |" in tables.markdown(results)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("solvers.pomo", "solvers.sdds", "solvers.sdds: expected one of a domain of the plan"),
        ("solvers.pomo", "solvers.lkh", "solvers.lkh: expected one of a domain of the plan"),
        ("arms.only", "arms.pomo", "pomo is both an arm and a solver"),
        ("time_limit = 5.0", "time_limit = 0.0", "solvers.pomo.time_limit: Input should be greater than 0"),
        ("time_limit = 5.0", "hours = 1", "solvers.pomo.hours: Extra inputs"),
    ],
)
def test_a_plan_with_a_solver_it_cannot_have_is_refused(old: str, new: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        parse_plan(PLAN.replace(old, new), "p", "p.toml")
