"""Progress lines of a real run: what is told, on a terminal and in a file."""

from __future__ import annotations

import io
import re

import anyio
import pytest
from tests.system.conftest import Program

from dga2d.events import RecordedEvent, RunId
from dga2d.replay.state.fold import fold
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.progress import ProgressLines, silent
from dga2d.store import open_store

pytestmark = pytest.mark.timeout(400)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def told(program: Program, stream: io.StringIO) -> str:
    """What a watcher of the finished run writes; every event takes a second."""
    ticks = iter(range(10**6))
    lines = ProgressLines(stream, clock=lambda: float(next(ticks)))

    async def read() -> list[RecordedEvent]:
        async with open_store(program.url, read_only=True) as store:
            return [event async for event in store.read(RunId("done"))]

    state = RunState()
    for event in anyio.run(read):
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
