"""The page over a long log: what a request reads and what stays in memory do not grow with the log.

Nothing here is timed: rows and folds are counted.
"""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from anyio import to_thread
from tests.agents.simulation import SMALL, Simulation
from tests.browser.conftest import record
from tests.fakes.long_run import RUN, write_long_run

from dga2d.events import RecordedEvent, RunId
from dga2d.events.payloads import EvaluationRecorded
from dga2d.replay.state.fold import fold
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.page import timeline as timelines
from dga2d.runtime.page.application import make_application
from dga2d.runtime.page.panels import PARTS
from dga2d.runtime.page.timeline import BLOCK, BLOCKS_KEPT, Timeline
from dga2d.runtime.report import data as report_data
from dga2d.runtime.report.lineage import BlobReader, ReportedEdit, describe_edit
from dga2d.runtime.report.notes import Change
from dga2d.store import EventStore, open_store, verify_events

EVENTS = 20_000
PIPELINES = 10
EDITS = {
    *("ImplementationAdded", "ImplementationReplaced", "ImplementationDeleted"),
    *("EdgeReplaced", "OperatorAdded", "OperatorRetired", "KernelReplaced"),
}


class CountingStore:
    """A store that counts the events it hands out."""

    def __init__(self, store: EventStore) -> None:
        self._store = store
        self.n_read = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def read(
        self, run_id: RunId, after: int = 0, until: int | None = None
    ) -> AsyncIterator[RecordedEvent]:
        async for event in self._store.read(run_id, after, until):
            self.n_read += 1
            yield event


@pytest.fixture
def n_folds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of events that timelines folded, counted in place."""
    count = [0]

    def counted(state: RunState, event: RecordedEvent) -> RunState:
        count[0] += 1
        return fold(state, event)

    monkeypatch.setattr(timelines, "fold", counted)
    return count


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_a_request_costs_no_more_in_a_long_log(
    tmp_path_factory: pytest.TempPathFactory, n_folds: list[int]
) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path_factory.mktemp('long') / 'log.db'}"
    length = await write_long_run(url, EVENTS, PIPELINES)
    of_others = alive(EvaluationRecorded), alive(RunState)  # what fixtures of other tests hold
    async with open_store(url, create=False, read_only=True) as opened:
        store = CountingStore(opened)
        application = make_application(store, url)
        transport = httpx.ASGITransport(application)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            assert (await client.get(f"/runs/{RUN}")).status_code == 200
            assert (store.n_read, n_folds[0]) == (1, 0), "the frame waits for the log"
            store.n_read = 0
            assert (await client.get(f"/runs/{RUN}/facts")).status_code == 200
            assert (store.n_read, n_folds[0]) == (length, length)
            for panel in PARTS:
                for seq in (length, 1, BLOCK, length // 2, length // 2 + 1, length - 1):
                    store.n_read = n_folds[0] = 0
                    answer = await client.get(f"/runs/{RUN}/{panel}", params={"seq": seq})
                    assert answer.status_code == 200, (panel, seq, answer.text[:300])
                    most = (PIPELINES + 2) * BLOCK if panel == "walks" else 4 * BLOCK
                    assert store.n_read == n_folds[0] <= most, (panel, seq)
            store.n_read = n_folds[0] = 0
            for address in (f"/runs/{RUN}/facts", f"/compare?run={RUN}"):
                assert (await client.get(address)).status_code == 200
            assert store.n_read == n_folds[0] == 0, "a log that has not grown is read again"
            for step in range(300):
                seq = 1 + step * (length - 1) // 299
                answer = await client.get(f"/runs/{RUN}/events", params={"seq": seq})
                assert answer.status_code == 200
            payloads, states = alive(EvaluationRecorded) - of_others[0], alive(RunState) - of_others[1]
            assert payloads <= (BLOCKS_KEPT + 1) * BLOCK, "payloads of events stay in memory"
            assert states <= length // BLOCK + (BLOCKS_KEPT + 2) * BLOCK


def alive(kind: type) -> int:
    """Return how many instances there are; what was read is kept from the search for garbage, and counts."""
    gc.unfreeze()
    gc.collect()
    return sum(issubclass(type(thing), kind) for thing in gc.get_objects())  # asks no object itself


async def test_every_place_of_a_log_is_what_folding_it_from_the_start_gives(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Also while the log grows, and when blocks were thrown away in between."""
    url = f"sqlite+aiosqlite:///{tmp_path_factory.mktemp('grows') / 'log.db'}"
    await write_long_run(url, 150, 3)
    async with open_store(url) as store:
        timeline = Timeline(store, RUN)
        await timeline.catch_up()
        assert (await timeline.event_at(timeline.length)).seq == timeline.length
        await write_long_run(url, 400, 3)
        await timeline.catch_up()
        state, best, events = RunState(), [(0, None)], []
        async for event in verify_events(store.read(RUN)):
            state = fold(state, event)
            events.append(event)
            assert await timeline.state_at(event.seq) == state
            assert (await timeline.event_at(event.seq)).hash == event.hash
            if state.best != best[-1][1]:
                best.append((event.seq, state.best))  # type: ignore[arg-type]
        assert timeline.length == len(events) > 5 * BLOCK
        assert timeline.best_seq == best[-1][0]
        assert timeline.marks == [e.seq for e in events if e.type == "GenerationCompleted"]
        for seq in (1, 5, 200, len(events)):
            started = [e.seq for e in events[:seq] if e.type == "GenerationStarted"]
            sampled = [e for e in events[:seq] if started and e.seq > started[-1]]
            expected = [e.payload for e in sampled if e.type == "PipelineSampled"]
            assert await timeline.walks_until(seq) == expected
            last = await timeline.events_until(seq, 60)
            assert [e.seq for e in last] == [e.seq for e in events[max(0, seq - 60) : seq]]
        timeline._blocks.clear()
        assert await timeline.state_at(BLOCK + 1) == await timeline.state_at(BLOCK + 1)


async def test_after_the_first_panel_no_step_describes_an_edit_again(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path_factory.mktemp('edits') / 'log.db'}"
    made = await to_thread.run_sync(record, Simulation(SMALL).changed(generations=6, llm_calls=30))
    await made.append(url, RUN, 1, len(made.events))
    described: list[int] = []

    async def counted(store: BlobReader, state: RunState, change: Change) -> ReportedEdit:
        described.append(change.seq)
        return await describe_edit(store, state, change)

    monkeypatch.setattr(report_data, "describe_edit", counted)
    async with open_store(url, create=False, read_only=True) as store:
        transport = httpx.ASGITransport(make_application(store, url))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            assert (await client.get(f"/runs/{RUN}/checking")).status_code == 200
            edits = [e.seq for e in made.events if e.type in EDITS]
            assert described == edits != []
            for seq in (len(made.events) // 2, len(made.events)):
                for panel in ("lineage", "algorithm"):
                    answer = await client.get(f"/runs/{RUN}/{panel}", params={"seq": seq})
                    assert answer.status_code == 200
    assert described == edits
