"""Progress lines of a real run: what is told, on a terminal and in a file."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
import threading

import anyio
import pytest
from rich.console import Console
from tests.system.conftest import WAIT_S, Program

from dga2d.events import RecordedEvent, RunId
from dga2d.replay.state.fold import fold
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.terminal.live_view import live_view
from dga2d.runtime.terminal.progress import ProgressLines, silent
from dga2d.runtime.terminal.run_metrics import RunMetrics
from dga2d.store import open_store

pytestmark = pytest.mark.timeout(400)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def recorded(program: Program) -> list[RecordedEvent]:
    """The events of the finished run."""

    async def read() -> list[RecordedEvent]:
        async with open_store(program.url, read_only=True) as store:
            return [event async for event in store.read(RunId("done"))]

    return anyio.run(read)


def told(program: Program, stream: io.StringIO) -> str:
    """What a watcher of the finished run writes; every event takes a second."""
    ticks = iter(range(10**6))
    lines = ProgressLines(stream, clock=lambda: float(next(ticks)))
    state = RunState()
    for event in recorded(program):
        state = fold(state, event)
        lines(state, event)
        silent(state, event)
    return stream.getvalue()


def test_a_file_gets_one_plain_line_per_happening(finished: Program) -> None:
    text = told(finished, io.StringIO())
    assert "\r" not in text
    assert "\x1b" not in text
    lines = text.splitlines()
    assert re.fullmatch(r"graph: \d+ operators, \d+ edges", lines[0])
    generations = [line for line in lines if line.startswith("generation ")]
    assert [line.split()[1] for line in generations] == ["1/3", "2/3", "3/3"]
    assert all("calls" in line and "failed 0/3" in line for line in generations)
    assert sum("checkpoint" in line for line in lines) == 1
    kinds = [row.type for row in finished.rows("done")]
    assert sum(line.startswith("  + ") for line in lines) == sum(
        kinds.count(kind) for kind in ("ImplementationAdded", "ImplementationReplaced")
    )
    assert sum(line.startswith("  ~ ") for line in lines) == kinds.count("EdgeReplaced")


def test_a_terminal_counts_the_evaluations_on_its_last_line(finished: Program) -> None:
    text = told(finished, Terminal())
    evaluations = sum(row.type == "EvaluationRecorded" for row in finished.rows("done"))
    counts = [int(number) for number in re.findall(r"(\d+) evaluations", text)]
    assert counts == list(range(1, evaluations + 1))
    assert text.count("\r\x1b[K") == evaluations + text.count("\n")
    plain = [re.sub(r".*\x1b\[K", "", line) for line in text.split("\n")[:-1]]
    without_time = [re.sub(r"\d+:\d\d$", "", line) for line in plain]
    in_file = [re.sub(r"\d+:\d\d$", "", line) for line in told(finished, io.StringIO()).split("\n")[:-1]]
    assert without_time == in_file


def test_the_live_view_of_every_state_of_a_run_fits_the_terminal(finished: Program) -> None:
    ticks = iter(range(10**6))
    metrics, state, frames = RunMetrics(lambda: float(next(ticks))), RunState(), []
    for event in recorded(finished):
        metrics.record_event(event)
        state = fold(state, event)
        console = Console(record=True, width=80, file=io.StringIO(), color_system=None)
        console.print(live_view(state, metrics.measure(state)))
        frames.append(console.export_text())
    assert all(len(line) == 80 for frame in frames for line in frame.splitlines())
    assert all("running" in frame for frame in frames[:-1])
    assert len(set(frames)) == len(frames)
    assert "about" in frames[-2]
    assert "completed: all 3 generations done" in frames[-1]
    evaluations = sum(row.type == "EvaluationRecorded" for row in finished.rows("done"))
    assert f"evaluations  {evaluations} (" in frames[-1]
    assert state.best is not None
    assert f"incumbent {-100 * state.best.score:.2f} %" in frames[-1]


def on_a_terminal(program: Program, *arguments: str, **environment: str) -> tuple[int, str, str]:
    """Exit code, stdout, and what a terminal behind stderr received."""
    ours, theirs = pty.openpty()
    received: list[bytes] = []

    def receive() -> None:
        try:
            while chunk := os.read(ours, 65536):
                received.append(chunk)
        except OSError:  # how Linux tells that the other side has been closed
            return

    reader = threading.Thread(target=receive)
    reader.start()
    base = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    process = subprocess.run(
        [sys.executable, "-P", "-m", "dga2d", *arguments],
        env={**base, "DGA2D_STORE": program.url, "TERM": "xterm-256color", "COLUMNS": "80", **environment},
        cwd=program.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        timeout=WAIT_S,
        check=False,
    )
    os.close(theirs)
    reader.join()
    os.close(ours)
    return process.returncode, process.stdout, b"".join(received).decode()


@pytest.mark.slow
def test_a_terminal_gets_the_live_view_and_its_cursor_back(doomed: Program) -> None:
    code, out, screen = on_a_terminal(doomed, "test", "done", "--no-report")
    assert code == 0, screen
    assert "held-out" in out
    assert "\x1b" not in out
    assert "loading the policy" in screen
    last = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen[screen.rindex("╭") :])
    assert "completed" in last
    assert re.search(
        r"held out +(evolved \d+\.\d\d %   )?baseline \d+\.\d\d %", last
    )  # one where it was kept
    assert screen.rindex("\x1b[?25h") > screen.rindex("\x1b[?25l")


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        ((), {"NO_COLOR": "1"}),
        pytest.param((), {"TERM": "dumb"}, marks=pytest.mark.slow),
        pytest.param(("--quiet",), {}, marks=pytest.mark.slow),
    ],
)
def test_whoever_refuses_colours_or_words_gets_no_escape_codes(
    doomed: Program, arguments: tuple[str, ...], environment: dict[str, str]
) -> None:
    code, _, screen = on_a_terminal(doomed, "resume", "done", *arguments, **environment)
    assert code == 2
    assert "\x1b" not in screen
    assert screen.replace("starting: loading the policy, starting the evaluation workers\r\n", "").startswith(
        "error: run done is complete"
    )
