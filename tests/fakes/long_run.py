"""A valid run of any length in a database, made of the events with which ``benchmarks/`` measures the log."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

from dga2d.events import RunId
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.fold import fold_all
from dga2d.store import open_store

RUN = RunId("long")


def _synthetic_run() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "synthetic_run.py"
    spec = importlib.util.spec_from_file_location("synthetic_run", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def write_long_run(url: str, events: int, pipelines: int, batch: int = 25) -> int:
    """Begin the run, or go on with it, until it has at least that many `events`; returns how many it has.

    The last generation is closed.
    """
    made = _synthetic_run()
    async with open_store(url) as store:
        is_new = RUN not in [summary.run_id for summary in await store.runs()]
        async with store.write(RUN, create=is_new) as writer:
            if is_new:
                beginning = [
                    made.started(RunSettings(pipelines=pipelines, batch_size=batch, generations=10_000)),
                    made.graph(),
                ]
                state = fold_all(await writer.append(beginning, [made.SOURCE]))
            else:
                state = fold_all([event async for event in store.read(RUN)])
            while state.seq < events:
                state = fold_all(await writer.append(made.generation(state)), state)
                state = fold_all(await writer.append([made.closing(state)]), state)
    return state.seq
