"""A run opened with a snapshot is the run; a snapshot that is wrong in any way is not used."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest

from dga2d.events import RunId, StoredEvent
from dga2d.replay._state_codec import decode_state, encode_state
from dga2d.replay.snapshots import (
    IgnoredSnapshot,
    SnapshotCheck,
    SnapshotReport,
    SnapshotSeal,
    load_state,
    save_snapshot,
)
from dga2d.replay.state.fold import fold, fold_page
from dga2d.replay.state.run_state import RunState
from dga2d.store import CorruptEventError, EventStore, open_store

if TYPE_CHECKING:
    from tests.agents.simulation import Simulation

RUN = RunId("simulated")
SEAL = SnapshotSeal(b"k" * 32, "this program")


@pytest.fixture(scope="module")
def original(simulation: Simulation, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with a finished run."""
    small = simulation.changed(pipelines=2, edits_per_generation=2)
    path = tmp_path_factory.mktemp("original") / "log.db"

    async def write() -> None:
        async with (
            open_store(f"sqlite+aiosqlite:///{path}") as store,
            store.write(RUN, create=True, quotas={"llm-call": 50}) as writer,
        ):
            await small.process(writer, store, [])

    anyio.run(write)
    return path


@pytest.fixture
async def store(original: Path, tmp_path: Path) -> AsyncIterator[EventStore]:
    """A copy of it."""
    shutil.copy(original, tmp_path / "log.db")
    async with open_store(f"sqlite+aiosqlite:///{tmp_path / 'log.db'}") as store:
        yield store


async def keep(store: EventStore, seq: int) -> None:
    [event] = [e async for e in store.read(RUN, seq - 1, seq)]
    await save_snapshot(store, RUN, await load_state(store, RUN, seq), event.hash, SEAL)


@pytest.fixture
def read_events(store: EventStore, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Numbers of the events that are folded."""
    seen: list[int] = []

    def counted(state: RunState, page: list[StoredEvent]) -> RunState:
        seen.extend(event[1] for event in page)
        return fold_page(state, page)

    monkeypatch.setattr("dga2d.replay.snapshots.fold_page", counted)
    return seen


async def test_every_state_of_a_run_comes_back_from_its_bytes(store: EventStore) -> None:
    state = RunState()
    async for event in store.read(RUN):
        state = fold(state, event)
        again = decode_state(encode_state(state))
        assert again == state
        assert encode_state(again) == encode_state(state)
    assert len(state.history) == 3


async def test_only_the_events_behind_the_snapshot_are_folded(
    store: EventStore, read_events: list[int]
) -> None:
    whole = await load_state(store, RUN)
    await keep(store, 30)
    read_events.clear()
    assert await load_state(store, RUN, seal=SEAL) == whole
    assert read_events == list(range(31, whole.seq + 1))


async def test_the_latest_snapshot_before_a_point_is_taken(store: EventStore, read_events: list[int]) -> None:
    for seq in (10, 30):
        await keep(store, seq)
    read_events.clear()
    assert (await load_state(store, RUN, 20, seal=SEAL)).seq == 20
    assert read_events == list(range(11, 21))
    assert (await load_state(store, RUN, 5, seal=SEAL)).seq == 5
    assert (await load_state(store, RUN, 30, seal=SEAL)).seq == 30
    assert read_events == [*range(11, 21), *range(1, 6)]


async def test_two_snapshots_remain(store: EventStore) -> None:
    for seq in (10, 20, 30, 40):
        await keep(store, seq)
    assert [snapshot.seq for snapshot in await store.snapshots(RUN)] == [40, 30]


async def test_a_fork_opens_with_the_snapshot_of_its_parent(
    store: EventStore, read_events: list[int]
) -> None:
    await keep(store, 30)
    await keep(store, 50)
    async with store.write(RunId("fork"), create=True, fork_of=(RUN, 40)):
        pass
    read_events.clear()
    assert await load_state(store, RunId("fork"), seal=SEAL) == await load_state(store, RUN, 40)
    assert read_events[:10] == list(range(31, 41))


Damage = Callable[[sqlite3.Connection], object]


def flipped(connection: sqlite3.Connection) -> None:
    [(data,)] = connection.execute("SELECT data FROM snapshots")
    changed = bytearray(data)
    changed[random.Random(3).randrange(len(data))] ^= 1
    connection.execute("UPDATE snapshots SET data = ?", (bytes(changed),))


@pytest.mark.parametrize(
    "damage",
    [
        flipped,
        lambda c: c.execute("UPDATE snapshots SET data = x''"),
        lambda c: c.execute("UPDATE snapshots SET data = '{}'"),
        lambda c: c.execute("UPDATE snapshots SET data = replace(data, '0.1', '0.2')"),
        lambda c: c.execute("UPDATE snapshots SET seq = seq + 1"),
        lambda c: c.execute("UPDATE snapshots SET event_hash = zeroblob(32)"),
        lambda c: c.execute("UPDATE snapshots SET digest = 'x'"),
    ],
)
async def test_a_damaged_snapshot_is_ignored_said_and_found(
    store: EventStore, tmp_path: Path, read_events: list[int], damage: Damage
) -> None:
    whole = await load_state(store, RUN)
    await keep(store, 30)
    assert await check(store) == (1, 1, ())
    with closing(sqlite3.connect(tmp_path / "log.db", isolation_level=None)) as connection:
        damage(connection)
    read_events.clear()
    ignored: list[IgnoredSnapshot] = []
    assert await load_state(store, RUN, seal=SEAL, on_ignored=ignored.append) == whole
    assert read_events[0] == 1
    assert len(ignored) == 1
    kept, sealed, differences = await check(store)
    assert (kept, sealed) == (1, 0)
    assert len(differences) == 1


async def test_the_snapshot_of_another_version_is_passed_over_without_a_word(
    store: EventStore, read_events: list[int]
) -> None:
    await keep(store, 30)
    read_events.clear()
    ignored: list[IgnoredSnapshot] = []
    later = SnapshotSeal(SEAL.key, "another program")
    assert (await load_state(store, RUN, seal=later, on_ignored=ignored.append)).completed == 3
    assert (read_events[0], ignored) == (1, [])


async def test_a_forged_snapshot_is_neither_believed_nor_passed_over(
    store: EventStore, read_events: list[int]
) -> None:
    """Whoever writes the database knows everything but the key."""
    whole = await load_state(store, RUN)
    [event] = [e async for e in store.read(RUN, whole.seq - 1)]
    better = replace(whole, best=None)
    await save_snapshot(store, RUN, better, event.hash, SnapshotSeal(b"x" * 32, SEAL.code_version))
    read_events.clear()
    ignored: list[IgnoredSnapshot] = []
    assert await load_state(store, RUN, seal=SEAL, on_ignored=ignored.append) == whole
    assert read_events[0] == 1
    assert [str(snapshot) for snapshot in ignored] == [
        f"run {RUN}: the snapshot after event {whole.seq} does not bear the seal of this user's key; "
        "it is ignored"
    ]
    assert await check(store) == (1, 0, (f"the snapshot after event {whole.seq} is not the state there",))


async def test_a_snapshot_of_another_user_that_is_true_is_ignored_and_no_difference(
    store: EventStore, read_events: list[int]
) -> None:
    [event] = [e async for e in store.read(RUN, 29, 30)]
    state = await load_state(store, RUN, 30)
    await save_snapshot(store, RUN, state, event.hash, SnapshotSeal(b"x" * 32, "another program"))
    read_events.clear()
    ignored: list[IgnoredSnapshot] = []
    await load_state(store, RUN, seal=SEAL, on_ignored=ignored.append)
    assert (read_events[0], len(ignored)) == (1, 1)
    assert await check(store) == (1, 0, ())


async def check(store: EventStore) -> SnapshotReport:
    """What the check of all snapshots says."""
    found, state = SnapshotCheck(RUN, await store.snapshots(RUN), SEAL), RunState()
    async for event in store.read(RUN):
        state = fold(state, event)
        found.compare(event, state)
    return found.report()


async def test_a_changed_tail_is_found_behind_a_snapshot(store: EventStore, tmp_path: Path) -> None:
    await keep(store, 30)
    with closing(sqlite3.connect(tmp_path / "log.db", isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER events_refuse_update")
        connection.execute("UPDATE events SET recorded_at = 1 WHERE seq = 31")
    with pytest.raises(CorruptEventError, match="event 31"):
        await load_state(store, RUN, seal=SEAL)
