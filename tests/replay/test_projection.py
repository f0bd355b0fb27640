"""A run is folded once per process; whoever follows it gets every state, in order, and keeps up."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio
import pytest

from dga2d.events import Draft, RecordedEvent, RunId, encode_payload
from dga2d.events.payloads import RunPaused, RunResumed, RunStarted
from dga2d.replay import projection as projection_module
from dga2d.replay.errors import InvariantError
from dga2d.replay.projection import MOST_WAITING, Projection, StateChange, project
from dga2d.replay.state.fold import fold
from dga2d.replay.state.run_state import RunState

RUN = RunId("r")


class Feed:
    """A log that grows when told to and ends when told to."""

    def __init__(self, events: int = 0) -> None:
        self.events = [resumed(seq) for seq in range(2, 2 + events)]
        self.is_over = False
        self._grown = anyio.Event()

    def grow(self, *events: RecordedEvent, end: bool = False) -> None:
        self.events += events
        self.is_over = end
        self._grown.set()
        self._grown = anyio.Event()

    async def subscribe(self, run_id: RunId, after: int = 0) -> AsyncIterator[RecordedEvent]:
        while True:
            grown = self._grown
            for event in self.events[after - 1 :]:
                after = event.seq
                yield event
            if self.is_over:
                return
            await grown.wait()


def resumed(seq: int, agent: str = "conductor") -> RecordedEvent:
    """A pause and a resume in turns, the pauses at even numbers, so that every event changes the state."""
    draft = Draft("conductor", RunPaused(reason=str(seq)))
    if seq % 2:
        draft = Draft("conductor", RunResumed(code_version=str(seq), epoch=seq, changed={}))
    data, name = encode_payload(draft.payload), type(draft.payload).__name__
    return RecordedEvent(RUN, seq, str(seq), name, 1, agent, None, None, 0, data, b"", b"")


@pytest.fixture
def folds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Numbers of the events folded so far."""
    seen: list[int] = []

    def counted(state: RunState, event: RecordedEvent) -> RunState:
        seen.append(event.seq)
        return fold(state, event)

    monkeypatch.setattr(projection_module, "fold", counted)
    return seen


async def collect(run: Projection, until: int) -> list[StateChange]:
    found = []
    with run.subscribe() as changes:
        async for change in changes:
            found.append(change)
            if change.event.seq == until:
                break
    return found


@pytest.fixture
def started() -> RunState:
    """A state that any number of pauses and resumes may follow."""
    header = RunStarted.model_construct()  # type: ignore[call-arg]
    return RunState(seq=1, status="paused", started=header)


async def test_nine_subscribers_get_the_same_states_of_one_fold(folds: list[int], started: RunState) -> None:
    feed, found = Feed(), list[list[StateChange]]()

    async def follow() -> None:
        found.append(await collect(run, 40))

    with anyio.fail_after(5):
        async with project(feed, RUN, started) as run, anyio.create_task_group() as tasks:
            for _ in range(9):
                tasks.start_soon(follow)
            await anyio.wait_all_tasks_blocked()
            feed.grow(*[resumed(seq) for seq in range(2, 41)])
    assert folds == list(range(2, 41))
    assert len(found) == 9
    assert [change.event.seq for change in found[0]] == [change.state.seq for change in found[0]] == folds
    assert all(one is other for changes in found for one, other in zip(changes, found[0], strict=True))


async def test_a_late_subscriber_begins_at_the_latest_state(started: RunState) -> None:
    feed = Feed(events=3)
    with anyio.fail_after(5):
        async with project(feed, RUN, started) as run:
            assert [change.event.seq for change in await collect(run, 4)] == [2, 3, 4]
            with run.subscribe() as late:
                assert late.state is run.state
                assert late.state.seq == 4
                feed.grow(resumed(5))
                assert (await anext(aiter(late))).state.seq == 5


async def test_a_subscription_before_the_first_wait_misses_nothing(started: RunState) -> None:
    async with project(Feed(events=5), RUN, started) as run:
        assert [change.event.seq for change in await collect(run, 6)] == [2, 3, 4, 5, 6]


async def test_a_subscriber_far_behind_makes_the_others_wait_and_loses_nothing(started: RunState) -> None:
    count = 3 * MOST_WAITING
    async with project(Feed(events=count), RUN, started) as run:
        with run.subscribe() as slow:
            quick = await collect(run, MOST_WAITING + 1)
            assert len(quick) == MOST_WAITING
            await anyio.wait_all_tasks_blocked()
            assert run.state.seq == MOST_WAITING + 2  # one more is folded, and waits for the slow one
            seen = [(await anext(aiter(slow))).event.seq for _ in range(count)]
            assert seen == list(range(2, count + 2))


async def test_a_subscriber_that_leaves_keeps_nobody_waiting(started: RunState) -> None:
    count = 3 * MOST_WAITING
    with anyio.fail_after(5):
        async with project(Feed(events=count), RUN, started) as run:
            left = run.subscribe()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(collect, run, count + 1)
                await anyio.wait_all_tasks_blocked()
                with left:
                    pass
    assert run.state.seq == count + 1


async def test_the_end_of_the_feed_ends_all_subscriptions(started: RunState) -> None:
    feed = Feed(events=2)
    async with project(feed, RUN, started) as run:
        with run.subscribe() as changes:
            feed.grow(end=True)
            assert [change.event.seq async for change in changes] == [2, 3]
        with run.subscribe() as after_the_end:
            assert after_the_end.state.seq == 3
            assert [change async for change in after_the_end] == []


async def test_an_event_that_cannot_follow_cancels_the_block_and_is_raised(started: RunState) -> None:
    feed = Feed(events=1)
    feed.grow(resumed(3, agent="validator"))
    with pytest.RaisesGroup(pytest.RaisesExc(InvariantError, match="event 3")):
        async with project(feed, RUN, started):
            await anyio.sleep_forever()
