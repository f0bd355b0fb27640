"""Ctrl-C, once and twice, at the start of a run and in its middle."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.system.conftest import SMALL, WAIT_S, Command, Program, await_end, descendants

pytestmark = [
    pytest.mark.timeout(400),
    pytest.mark.skipif(sys.platform != "linux", reason="reads the signals a process catches from /proc"),
]


def wait_until_caught(process: subprocess.Popen[str]) -> None:
    """Wait until the program takes SIGTERM itself."""
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        status = Path(f"/proc/{process.pid}/status").read_text()
        (caught,) = re.findall(r"^SigCgt:\s*([0-9a-f]+)", status, re.MULTILINE)
        if int(caught, 16) >> (signal.SIGTERM - 1) & 1:
            return
        time.sleep(0.005)
    raise TimeoutError("SIGTERM was never caught")


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_a_signal_during_the_start_says_that_nothing_began(program: Program, number: signal.Signals) -> None:
    with program.started("evolve", "tsp", *SMALL, "--run-id", "run") as process:
        wait_until_caught(process)
        process.send_signal(number)
        out, err = process.communicate(timeout=WAIT_S)
    assert process.returncode == 3
    assert err == f"error: stopped by {number.name} while starting; nothing was recorded\n"
    assert out == ""
    assert program.rows("run") == []


def test_a_signal_during_a_resume_says_how_to_go_on(doomed: Program) -> None:
    arguments = ("resume", "done", "--generations", "9", "--quiet", "--no-report")
    with doomed.started(*arguments) as process:
        wait_until_caught(process)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=WAIT_S)
    assert process.returncode == 3
    assert err == "error: stopped by SIGTERM while starting; `dga2d resume done` goes on\n"


@pytest.mark.slow
def test_two_signals_end_the_program_at_once_and_the_log_goes_on(program: Program, command: Command) -> None:
    with program.started("evolve", "tsp", *SMALL, "--run-id", "run") as process:
        program.wait_for("run", lambda rows: len(rows) >= 12)
        below = descendants(process)
        for number in (signal.SIGINT, signal.SIGTERM):
            process.send_signal(number)
        _, err = process.communicate(timeout=WAIT_S)
    assert process.returncode == 3
    await_end(below)
    assert err.endswith("stopped at once; `dga2d resume run` goes on from the last event\n")
    assert program.rows("run")[-1].type != "RunCompleted"
    assert command("replay", "run", program=program).code == 0
    assert program.run("resume", "run", "--quiet", "--no-report").code == 0
    assert program.rows("run")[-1].type == "RunCompleted"


@pytest.mark.slow
def test_the_first_signal_is_acknowledged(program: Program) -> None:
    small = [word for word in SMALL if word != "--quiet"]
    with program.started("evolve", "tsp", *small, "--run-id", "run") as process:
        program.wait_for("run", lambda rows: len(rows) >= 12)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=WAIT_S)
    assert process.returncode == 3
    assert err.splitlines()[-1].startswith("stopping: evaluations and calls under way are given up")
    assert f"resume with  dga2d resume run --store {program.url}" in out
    assert program.rows("run")[-1].type == "RunPaused"


@pytest.mark.slow
def test_a_name_of_a_run_that_never_began_is_free(program: Program, command: Command) -> None:
    import anyio

    from dga2d.events import RunId
    from dga2d.store import open_store

    async def create() -> None:
        async with open_store(program.url) as store, store.write(RunId("run"), create=True):
            pass

    anyio.run(create)
    (listed,) = command("runs", "--json", program=program).json
    assert (listed["run"], listed["events"]) == ("run", 0)
    outcome = program.run("evolve", "tsp", *SMALL, "--generations", "1", "--run-id", "run")
    assert outcome.code == 0, outcome
    again = program.run("evolve", "tsp", *SMALL, "--run-id", "run")
    assert again.code == 2
    assert "already exists" in again.error


@pytest.mark.slow
def test_an_interrupted_test_is_not_taken_for_a_finished_one(doomed: Program) -> None:
    before = len(doomed.rows("done"))
    with doomed.started("test", "done", "--quiet", "--no-report") as process:
        doomed.wait_for("done", lambda rows: len(rows) > before)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=WAIT_S)
    assert process.returncode == 3
    assert re.search(f"dga2d test done( --store {re.escape(doomed.url)}|` goes on)", out + err)
    again = doomed.run("test", "done", "--quiet", "--no-report")
    assert (again.code, again.err) == (0, "")
    assert "held-out" in again.out


@pytest.mark.slow
def test_a_run_ends_with_its_hours_and_tells_of_it(program: Program, tmp_path: Path) -> None:
    tell = tmp_path / "tell.py"
    tell.write_text(
        "import os, sys; open('told', 'a').write(os.environ['DGA2D_STATUS'] + ' ' + sys.stdin.read())"
    )
    small = [*SMALL, "--generations", "10000", "--llm-calls", "100000"]
    ended = program.run(
        *("evolve", "tsp", *small, "--run-id", "run", "--max-hours", "0.005"),
        *("--notify", f"{sys.executable} {tell}", "--notify", "http://127.0.0.1:9/"),
    )
    assert ended.code == 3
    reason = "interrupted by the limit of 0.005 hours"
    assert f"run          run  (paused: {reason})" in ended.out
    told = (program.folder / "told").read_text()
    assert told.startswith(f"paused dga2d run run paused: {reason}")
    assert ended.err.startswith("warning: --notify http://127.0.0.1:9/: ")


@pytest.mark.slow
def test_a_failure_is_told_of(program: Program, tmp_path: Path) -> None:
    tell = tmp_path / "tell.py"
    tell.write_text("import sys; open('told', 'w').write(sys.stdin.read())")
    failed = program.run("resume", "nobody", "--notify", f"{sys.executable} {tell}")
    assert failed.code == 2
    assert (program.folder / "told").read_text().startswith("dga2d run nobody failed: MissingDatabaseError: ")
