"""How candidates were contained stands in the log of every run."""

from __future__ import annotations

from typing import Any

import pytest

from dga2d.runtime.evaluation.sandbox.seal import ALWAYS, LAYERS

SHORT = (
    *("--preset", "none"),
    *("--policy", "uniform", "--library", "basic", "--operator-limit", "3", "--generations", "1"),
    *("--pipelines", "1", "--batch-size", "1", "--validation-instances", "1", "--no-evolution"),
    *("--work", "50", "--evaluators", "1", "--seed", "1", "--quiet", "--no-report"),
    *("--set", 'calibration="off"'),
)


def test_a_run_records_each_layer_and_the_limits(finished: Any) -> None:
    started = finished.rows("done")[0].fields
    assert started["settings"]["sandbox"] == "best-effort"
    assert started["settings"]["memory_limit"] == 2048
    assert set(started["sandbox"]) == set(LAYERS)


@pytest.mark.slow
def test_a_run_without_sandbox_says_so(program: Any) -> None:
    flags = ("--sandbox", "off", "--memory-limit", "512", "--answer-limit", "2", "--run-id", "open")
    outcome = program.run("evolve", "tsp", *SHORT, *flags, wait_s=360)
    assert outcome.code == 0, outcome.err
    started = program.rows("open")[0].fields
    assert (started["settings"]["sandbox"], started["settings"]["memory_limit"]) == ("off", 512)
    states = started["sandbox"]
    assert {layer for layer, state in states.items() if state == "switched off"} == set(LAYERS) - set(ALWAYS)
