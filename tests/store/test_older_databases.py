"""A database of an older version is read as it is, and brought up to date by the first who writes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from dga2d.events import Draft, RunId
from dga2d.store import _connections, _migrations, open_store

Drafter = Callable[[object], Draft]


@pytest.mark.parametrize("version", range(1, len(_migrations.MIGRATIONS)))
async def test_an_older_database_is_read_and_then_written(
    url: str, path: Path, note: Drafter, raw: Callable[[], sqlite3.Connection], version: int
) -> None:
    engine = _connections.create_engine(path, read_only=False)
    async with engine.connect() as connection:
        await _migrations.migrate(connection, url, _migrations.MIGRATIONS[:version])
    await engine.dispose()
    with closing(raw()) as plain:
        plain.execute("INSERT INTO runs (run_id, created_at) VALUES ('old', 5)")
    async with open_store(url, read_only=True) as store:
        [run] = await store.runs()
        assert (run.run_id, run.head_seq, run.parent) == ("old", 0, None)
        assert await store.snapshots(RunId("old")) == []
        assert [event async for event in store.read(RunId("old"))] == []
    async with open_store(url) as store:
        async with store.write(RunId("old")) as writer:
            await writer.append([note(1), note(2)])
        async with store.write(RunId("fork"), create=True, fork_of=(RunId("old"), 1)) as writer:
            await writer.append([note(3)])
        assert (await store.verify(RunId("fork"))).seq == 2
        assert await store.findings() == []
