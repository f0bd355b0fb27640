"""Pausing a run from outside: only the process that carries it out is asked, and only on this machine."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dga2d.events import RunId
from dga2d.runtime.errors import RunStateError
from dga2d.runtime.runs import interruption
from dga2d.store import UnknownRunError, open_store
from dga2d.store._contract import this_process

HOLDER = """
import anyio, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs in the background may inherit another
from dga2d.events import RunId
from dga2d.store import open_store
async def hold():
    async with open_store(sys.argv[1]) as store, store.write(RunId("held"), create=True):
        print("held", flush=True)
        await anyio.sleep_forever()
anyio.run(hold)
"""


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite+aiosqlite:///{tmp_path}/log.db"


@pytest.fixture
def holder(url: str) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the run and lets it go when it is interrupted."""
    command = [sys.executable, "-P", "-c", HOLDER, url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


async def test_the_process_that_holds_a_run_is_asked_to_let_it_go(
    url: str, holder: subprocess.Popen[str]
) -> None:
    told = await interruption.pause_run(url, "held", 30.0)
    assert f"process {holder.pid} on" in told["was_held_by"]
    assert holder.wait(30) != 0
    with pytest.raises(RunStateError, match="not under way; `dga2d resume held` goes on"):
        await interruption.pause_run(url, "held", 0.0)
    with pytest.raises(UnknownRunError):
        await interruption.pause_run(url, "nosuch", 0.0)


async def test_a_process_of_another_machine_is_named_and_left_alone(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = replace(this_process(), host="far-away/1", pid=1)
    monkeypatch.setattr("dga2d.store._store.this_process", lambda: elsewhere)
    async with open_store(url) as store, store.write(RunId("r"), create=True):
        with pytest.raises(RunStateError, match="carried out by process 1 on far-away; pause it there"):
            await interruption.pause_run(url, "r", 0.0)
