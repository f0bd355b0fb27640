"""Writes ``run-v<version>.zip`` for the present version of the file format, if there is none yet.

Run it from the root after raising the version: ``PYTHONPATH=. python -m tests.agents.golden.record_run``.
A file that was part of a release is never changed or removed: today's program must read it for ever.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import anyio
from tests.agents.simulation import SMALL, Simulation

from dga2d.events import RunId
from dga2d.replay.archive import Manifest, export_run
from dga2d.store import open_store

RUN = RunId("simulated")


async def record(path: Path) -> None:
    """A small run, exported."""
    simulation = Simulation(SMALL).changed(generations=2, pipelines=2, batch_size=1)
    with tempfile.TemporaryDirectory() as folder:
        async with open_store(f"sqlite+aiosqlite:///{folder}/log.db") as store:
            async with store.write(RUN, create=True, quotas={"llm-call": 50}) as writer:
                await simulation.process(writer, store, [])
            await export_run(store, RUN, path)


if __name__ == "__main__":
    target = Path(__file__).with_name(f"run-v{Manifest.model_fields['version'].default}.zip")
    if not target.exists():
        anyio.run(record, target)
