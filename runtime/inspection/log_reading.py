"""The work of the commands about logs and databases: list events, compare states, clean up, check."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from dga2d.events import Dga2dError, RecordedEvent, RunId
from dga2d.replay.archive import Manifest, export_run, import_run
from dga2d.replay.difference import compare_states, first_divergence
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.errors import RunStateError
from dga2d.runtime.inspection.log_check import check_log
from dga2d.runtime.runs.states import load_generation, load_state
from dga2d.store import EMPTY_LOG, EventStore, check_page, open_store


@dataclass(frozen=True)
class EventFilter:
    """Selects the events to list; ``None`` and the empty tuple select all."""

    types: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    generation: int | None = None

    def accepts(self, event: RecordedEvent) -> bool:
        """Return whether `event` is listed."""
        return (
            (not self.types or event.type in self.types)
            and (not self.agents or event.agent in self.agents)
            and (self.generation is None or event.generation == self.generation)
        )


async def list_events(
    url: str, run_id: str, wanted: EventFilter, follow: bool, show: Callable[[dict[str, Any]], None]
) -> None:
    """Call `show` with the view of every event selected by `wanted`; with `follow` also of those to come.

    Raises
    ------
    UnknownRunError, CorruptEventError
        There is no such run, or its chain breaks; events before the break have been shown.
    """
    async with open_store(url, create=False, read_only=True) as store:
        source = store.subscribe(RunId(run_id)) if follow else store.read(RunId(run_id))
        head = EMPTY_LOG
        async for event in source:
            head = check_page([event], head)
            if wanted.accepts(event):
                show(event_view(event))


def event_view(event: RecordedEvent) -> dict[str, Any]:
    """Return an event as plain values."""
    return {
        "seq": event.seq,
        "recorded_at": event.recorded_at,
        "generation": event.generation,
        "agent": event.agent,
        "type": event.type,
        "version": event.version,
        "caused_by": event.caused_by,
        "run": event.run_id,
        "hash": event.hash.hex(),
        "payload": orjson.loads(event.payload_bytes),
    }


async def compare(
    url: str, one: tuple[str, int | None], other: tuple[str, int | None], by_generation: bool
) -> Any:
    """Return what changed from one point of a run to another one, or to one of another run.

    A point is a run and an event number (a closed generation if `by_generation`), ``None`` for its end.

    Raises
    ------
    RunStateError
        A run has not come that far.
    """
    async with open_store(url, create=False, read_only=True) as store:
        before, after = [await _state(store, *point, by_generation) for point in (one, other)]
    report: dict[str, Any] = {
        "from": {"run": one[0], "seq": before.seq, "generations": before.completed},
        "to": {"run": other[0], "seq": after.seq, "generations": after.completed},
    }
    if one[0] != other[0]:
        report["first_generation_that_differs"] = first_divergence(before, after)
    return {**report, "changes": compare_states(before, after)}


async def _state(store: EventStore, run_id: str, point: int | None, by_generation: bool) -> RunState:
    name = RunId(run_id)
    if point is None or not by_generation:
        state = await load_state(store, name, point)
        if point is not None and state.seq < point:
            raise RunStateError(f"run {run_id} has {state.seq} events; there is no event {point}")
        return state
    found = await load_generation(store, name, point)
    if found is None:
        closed = (await load_state(store, name)).completed
        raise RunStateError(f"run {run_id} has closed {closed} generations, not {point}")
    return found


async def collect(url: str, keep: bool) -> dict[str, Any]:
    """Delete the blobs that no event names; with `keep` only count them."""
    async with open_store(url, create=False) as store:
        count, size_bytes = await store.collect_blobs(keep=keep)
    return {"blobs": count, "bytes": size_bytes, "deleted": not keep}


async def check_store(url: str) -> AsyncIterator[dict[str, Any]]:
    """Yield what is wrong with the database as such, then with every run: a row each, ``None`` where nothing
    is."""
    async with open_store(url, create=False, read_only=True) as store:
        findings = await store.findings()
        yield {"part": "database", "events": None, "difference": "; ".join(findings) or None, **_NO_LOG}
        for run in await store.runs():
            row: dict[str, Any] = {"part": run.run_id, "events": run.head_seq, **_NO_LOG}
            try:
                log = await check_log(store, run.run_id, all_blobs=True)
            except Dga2dError as error:
                yield {**row, "difference": str(error)}
                continue
            difference = [text for text in log.differences if text not in findings]
            yield {
                **row,
                "difference": "; ".join(difference) or None,
                "blobs_checked": log.blobs.checked,
                "snapshots": log.snapshots.kept,
                "snapshots_ignored": log.snapshots.kept - log.snapshots.sealed,
            }


_NO_LOG = {"blobs_checked": None, "snapshots": None, "snapshots_ignored": None}
"""Values of a row about something that is no log, or a log that could not be read."""


async def export_to(url: str, run_id: str, path: Path) -> Manifest:
    """Write a run to a file."""
    async with open_store(url, create=False, read_only=True) as store:
        return await export_run(store, RunId(run_id), path)


async def import_from(url: str, path: Path) -> Manifest:
    """Import a run from a file; the database is created if it is not there."""
    async with open_store(url) as store:
        return await import_run(store, path)
