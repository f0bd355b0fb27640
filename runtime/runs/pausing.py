"""Pausing a run that another process carries out."""

from __future__ import annotations

from typing import Any

import anyio

from dga2d.events import RunId
from dga2d.runtime.errors import RunStateError
from dga2d.store import EventStore, RunSummary, UnknownRunError, open_store

POLL_S = 0.2
"""Seconds between two looks at whether the run is free."""


async def pause_run(url: str, run_id: str, patience_s: float) -> dict[str, Any]:
    """Ask the process that carries out a run to stop at the next event, as Ctrl-C there does, and wait until
    it has let the run go.

    Raises
    ------
    UnknownRunError
        There is no such run.
    RunStateError
        Nobody carries it out, or a process of another machine does, or it did not stop within `patience_s`.
    """
    async with open_store(url, create=False, read_only=True) as store:
        run = await _summary(store, run_id)
        if run.holder is None:
            raise RunStateError(f"run {run_id} is not under way; `dga2d resume {run_id}` goes on with it")
        told = f"process {run.holder.pid} on {run.holder.host.partition('/')[0]}"
        if not run.holder.interrupt():
            raise RunStateError(f"run {run_id} is carried out by {told}; pause it there, with Ctrl-C")
        with anyio.move_on_after(patience_s):
            while run.holder is not None:
                await anyio.sleep(POLL_S)
                run = await _summary(store, run_id)
        if run.holder is not None:
            raise RunStateError(
                f"{told} was asked to pause run {run_id} and still holds it; wait, or ask again"
            )
        return {"run": run_id, "was_held_by": told, "events": run.head_seq}


async def _summary(store: EventStore, run_id: str) -> RunSummary:
    for run in await store.runs():
        if run.run_id == run_id:
            return run
    raise UnknownRunError(RunId(run_id))
