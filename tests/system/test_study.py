"""A study from its plan to its tables, stopped in between."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from tests.system.conftest import Program, Row, descendants

PLAN = """
title = "Off and on"
domains = ["jsp"]
seeds = [1]
reference = "off"

[settings]
library = "basic"
generations = 1
work = 300
pipelines = 2
batch_size = 1
validation_instances = 3
test_instances = 4
evaluators = 1
race_contenders = 0

[arms.off]
evolution = false

[arms.on]
llm_calls = 3
"""


def study(folder: Path, *arguments: str, store: str = "runs.db") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "dga2d", "study", *arguments, "--store", store],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NO_COLOR": "1"},
    )


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_study_goes_on_where_it_was_interrupted_and_repeats_nothing(tmp_path: Path) -> None:
    (tmp_path / "pair.toml").write_text(PLAN, encoding="utf-8")
    first = study(tmp_path, "pair.toml", "--json")
    assert first.stderr is not None
    for line in first.stderr:
        if line.startswith("test pair.jsp.off.1"):
            break
    time.sleep(0.2)
    first.send_signal(signal.SIGINT)
    first.communicate(timeout=120)
    assert first.returncode == 3, first.args

    second = study(tmp_path, "pair.toml", "--json")
    out, err = second.communicate(timeout=400)
    assert second.returncode == 0, err
    assert "evolve pair.jsp.off.1" not in err
    assert [cell["status"] for cell in json.loads(out)["cells"]] == ["tested", "tested"]

    third = study(tmp_path, "pair.toml")
    out, err = third.communicate(timeout=120)
    assert err.splitlines() == ["2 of 2 runs done"]

    report = study(tmp_path, "report", "pair.toml", "--json")
    out, err = report.communicate(timeout=120)
    assert report.returncode == 0, err
    assert [row["arm"] for row in json.loads(out)["rows"]] == ["start", "off", "on"]


def interesting(rows: list[Row]) -> dict[str, list[str]]:
    """What may be in a log once only, by what it is."""
    found: dict[str, list[str]] = {"begun": [], "call": [], "evaluation": [], "tested": []}
    for row in rows:
        if row.type == "LLMCallReserved":
            found["call"].append(str(row.fields["call"]))
        elif row.type == "EvaluationRecorded":
            key = ("split", "generation", "candidate", "instance")
            found["evaluation"].append(" ".join(str(row.fields[part]) for part in key))
        elif row.type in ("RunStarted", "TestScored"):
            found["begun" if row.type == "RunStarted" else "tested"].append(row.type)
    return found


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kills", [2, 20])
def test_a_study_of_two_at_a_time_that_is_killed_repeats_no_run_and_no_call(
    tmp_path: Path, kills: int
) -> None:
    """With its runs, as when the machine is switched off, and alone, so that they outlive it."""
    (tmp_path / "pair.toml").write_text(f"{PLAN}last_edits = true\n", encoding="utf-8")
    program, moments = Program(tmp_path), random.Random(kills)
    runs = ("pair.jsp.off.1", "pair.jsp.on.1")
    seen: dict[str, list[Row]] = {run: [] for run in runs}
    for number in range(kills):
        process = study(tmp_path, "pair.toml", "--jobs", "2", "--quiet", store="log.db")
        grown = sum(map(len, seen.values())) + moments.randrange(1, 25)
        while process.poll() is None and sum(len(program.rows(run)) for run in runs) < grown:
            time.sleep(0.01)
        below = descendants(process)
        process.kill()
        process.communicate(timeout=60)
        for one in below if number % 2 == 0 else ():
            with contextlib.suppress(psutil.NoSuchProcess):
                one.kill()
        for run, before in seen.items():
            after = program.rows(run)
            assert after[: len(before)] == before
            assert not before or before[-1].type != "TestScored" or after == before
            seen[run] = after
        if process.returncode == 0:
            break
    last = study(tmp_path, "pair.toml", "--jobs", "2", "--json", store="log.db")
    out, err = last.communicate(timeout=900)
    assert last.returncode == 0, err
    cells = json.loads(out)["cells"]
    assert [cell["status"] for cell in cells] == ["tested", "tested"]
    for run, cell in zip(runs, cells, strict=True):
        once = interesting(program.rows(run))
        assert all(len(found) == len(set(found)) for found in once.values()), once
        assert once["call"] == [str(n + 1) for n in range(cell["calls"])]
        assert cell["calls"] <= 3
