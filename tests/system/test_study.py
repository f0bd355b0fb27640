"""A study from its plan to its tables, stopped in between."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

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


def study(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "dga2d", "study", *arguments, "--store", "runs.db"],
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
