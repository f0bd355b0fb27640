"""``dga2d`` as a user calls it, on a database with a run of made-up agents and a fork of it."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.agents.simulation import Simulation

from dga2d.events import RunId
from dga2d.replay.snapshots import SnapshotSeal, load_state, save_snapshot
from dga2d.runtime.cli import main
from dga2d.store import open_store


class Program:
    """``dga2d`` in this process, on the database of a folder."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> None:
        self.database = folder / "log.db"
        self.url = f"sqlite+aiosqlite:///{self.database}"
        self._capsys = capsys
        self._patch = patch

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        self._patch.setattr(sys, "argv", ["dga2d", *arguments])
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        out, err = self._capsys.readouterr()
        assert isinstance(end.value.code, int)
        return end.value.code, out, err

    def json(self, *arguments: str) -> Any:
        code, out, err = self(*arguments, "--json")
        assert (code, err) == (0, "")
        return json.loads(out)


async def write_runs(url: str, simulation: Simulation) -> None:
    """Write a finished run and a fork of it that is finished, too."""
    small = simulation.changed(generations=2, pipelines=2, batch_size=1, validation_interval=1)
    async with open_store(url) as store:
        how: dict[str, Any] = {"create": True, "quotas": {"llm-call": 50}}
        for name in ("whole", "fork"):
            run_id = RunId(name)
            async with store.write(run_id, **how) as writer:
                events = [event async for event in store.read(run_id)]
                await replace(small, run_id=run_id).process(writer, store, events)
            closed = [e.seq async for e in store.read(run_id) if e.type == "GenerationCompleted"]
            how = {"create": True, "fork_of": (RunId("whole"), closed[0])}


def keep_snapshot(url: str, seal: SnapshotSeal, **change: Any) -> int:
    """Write a snapshot of the last state of ``whole``, changed; returns the number of its event."""

    async def keep() -> int:
        async with open_store(url) as store:
            state, head = await load_state(store, RunId("whole")), await store.head(RunId("whole"))
            await save_snapshot(store, RunId("whole"), replace(state, **change), head.hash, seal)
        return state.seq

    return anyio.run(keep)
