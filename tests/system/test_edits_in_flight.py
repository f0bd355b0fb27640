"""Runs of the program whose edits are made generations after they were asked for."""

from __future__ import annotations

import signal
import time

import pytest
from tests.system.conftest import SMALL, Program, digests

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

LAGGING = (*SMALL, "--generations", "5", "--set", "edit_lag=2")


def test_runs_with_edits_in_flight_have_the_same_states(program: Program) -> None:
    for run, evaluators in (("one", "1"), ("two", "2")):
        how = ("--run-id", run, "--evaluators", evaluators)
        outcome = program.run("evolve", "tsp", *LAGGING, *how, wait_s=300)
        assert (outcome.code, outcome.err) == (0, "")
    assert digests(program.rows("one")) == digests(program.rows("two"))
    asked = [row.fields for row in program.rows("one") if row.type == "LLMCallReserved"]
    assert {call["ticket"]["lands"] for call in asked if "ticket" in call} <= {3, 4, 5}
    assert any("ticket" in call for call in asked)
    assert program.run("replay", "one", "--verify").code == 0


def test_kill_9_with_edits_in_flight_loses_and_repeats_nothing(program: Program) -> None:
    with program.started("evolve", "tsp", *LAGGING, "--run-id", "killed") as process:
        while process.poll() is None and not _has_asked(program):
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=20)
    before = program.rows("killed")
    outcome = program.run("resume", "killed", "--quiet", "--no-report", wait_s=300)
    assert (outcome.code, outcome.err) == (0, "")
    after = program.rows("killed")
    assert [row.hash for row in after[: len(before)]] == [row.hash for row in before]
    operations = [row.operation for row in after if row.operation is not None]
    assert len(operations) == len(set(operations))
    assert program.run("replay", "killed", "--verify").code == 0
    assert program.run("audit", "killed").code == 0


def _has_asked(program: Program) -> bool:
    rows = program.rows("killed")
    return any(row.type == "LLMCallReserved" and "ticket" in row.fields for row in rows)
