"""Which commands a study carries out, and what it waits for."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, repeat
from types import SimpleNamespace
from typing import Any

import pytest

from dga2d.replay.errors import InvariantError
from dga2d.runtime.errors import ExitCode
from dga2d.runtime.study import cells, running
from dga2d.runtime.study.cells import CellProgress
from dga2d.runtime.study.plan import Cell, StudyPlan, parse_plan
from dga2d.runtime.study.running import CommandEnding, Options, run_study

PLAN = parse_plan(
    'title = "T"\ndomains = ["jsp"]\nseeds = [1]\n[arms.a]\n[arms.b]\nwork = 9\n', "t", "t.toml"
)


async def test_a_run_that_outlived_its_study_is_waited_for_and_not_carried_out_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, second = PLAN.cells
    alive = CellProgress(first, "begun", is_running=True)
    looks = chain(repeat(alive, 3), repeat(CellProgress(first, "evolved")))
    commands: list[tuple[str, str]] = []

    async def read_progress(
        url: str, plan: StudyPlan, cells: Sequence[Cell] | None = None
    ) -> list[CellProgress]:
        found = {
            second: CellProgress(second, "tested" if ("test", "t.jsp.b.1") in commands else "absent"),
            first: CellProgress(first, "tested") if ("test", "t.jsp.a.1") in commands else None,
        }
        return [found[cell] or next(looks) for cell in (PLAN.cells if cells is None else cells)]

    async def carry_out(url: str, arguments: Sequence[str]) -> CommandEnding:
        run = arguments[arguments.index("--run-id") + 1] if "--run-id" in arguments else arguments[1]
        commands.append((arguments[0], run))
        return CommandEnding(0, b"")

    monkeypatch.setattr(running, "read_progress", read_progress)
    monkeypatch.setattr(running, "_dga2d", carry_out)
    monkeypatch.setattr(running, "_LEASE_LOOK_S", 0.0)
    said: list[str] = []
    outcome = await run_study(PLAN, Options("sqlite:///t.db"), said.append)
    assert commands == [("evolve", "t.jsp.b.1"), ("test", "t.jsp.b.1"), ("test", "t.jsp.a.1")]
    assert (outcome.exit_code, outcome.failures) == (ExitCode.OK, {})
    assert [line for line in said if "another process" in line] == [
        "another process writes t.jsp.a.1; 0 of 2 runs done"
    ]


async def test_a_run_whose_log_does_not_hold_has_failed_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def broken(store: object, run: str) -> object:
        raise InvariantError(7, "PopulationUpdated", "a program is there twice")

    monkeypatch.setattr(cells, "load_state", broken)
    summary: Any = SimpleNamespace(run_id="t.jsp.a.1", last_type="RunFailed", is_leased=False)
    store: Any = None
    assert await cells._progress(store, PLAN, PLAN.cells[0], summary) == CellProgress(PLAN.cells[0], "failed")
