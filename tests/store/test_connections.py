"""Reading connections are kept while nobody writes, and only then."""

from __future__ import annotations

import gc
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from dga2d.events import Draft, RunId
from dga2d.store import ForeignDatabaseError, _sqlite_file, open_store, shown_url

Drafter = Callable[[object], Draft]
KINDS = ("sqlite",)


@pytest.fixture
async def filled(url: str, run_id: RunId, note: Drafter) -> str:
    async with open_store(url) as store, store.write(run_id, create=True) as writer:
        await writer.append([note(n) for n in range(5)])
    return url


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Addresses under which connections were opened."""
    found: list[str] = []

    def connect(database: str, **options: object) -> sqlite3.Connection:
        found.append(database)
        return original(database, **options)

    original: Callable[..., sqlite3.Connection] = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", connect)
    return found


async def test_one_connection_serves_all_queries_on_a_log_that_nobody_writes(
    filled: str, run_id: RunId, opened: list[str]
) -> None:
    async with open_store(filled, read_only=True) as store:
        for _ in range(5):
            assert (await store.verify(run_id)).seq == 5
    assert len(opened) == 1


async def test_a_log_written_and_closed_again_is_read_anew(filled: str, run_id: RunId, note: Drafter) -> None:
    async with open_store(filled, read_only=True) as reader:
        assert (await reader.verify(run_id)).seq == 5
        async with open_store(filled) as store, store.write(run_id) as writer:
            await writer.append([note(n) for n in range(2000)])
        assert (await reader.verify(run_id)).seq == 2005


async def test_next_to_a_writer_no_reading_connection_stays_open(
    filled: str, run_id: RunId, path: Path, opened: list[str]
) -> None:
    async with open_store(filled) as store, store.write(run_id), open_store(filled, read_only=True) as reader:
        opened.clear()
        for _ in range(3):
            assert (await reader.head(run_id)).seq == 5
        assert len(opened) == 3
        assert not any("immutable" in address for address in opened)
    assert os.listdir(path.parent) == [path.name]


async def test_a_reader_opens_a_log_that_a_writer_begins_meanwhile(
    filled: str, run_id: RunId, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often the file changes between its opening and its first use; the pool gives up after two."""
    states = [_sqlite_file.FileState(1, size, 0) for size in range(8)]
    unwritten = _sqlite_file.unwritten
    monkeypatch.setattr(_sqlite_file, "unwritten", lambda path: states.pop() if states else unwritten(path))
    async with open_store(filled, read_only=True) as store:
        assert (await store.head(run_id)).seq == 5
    assert len(opened) == 5


async def test_a_file_that_vanished_is_named(filled: str, run_id: RunId, path: Path) -> None:
    async with open_store(filled, read_only=True) as store:
        path.unlink()
        with pytest.raises(ForeignDatabaseError, match="unable to open"):
            await store.head(run_id)


async def test_every_connection_has_its_pragmas(url: str, filled: str, path: Path) -> None:
    for read_only in (False, True):
        engine = _sqlite_file.create_engine(path, read_only=read_only)
        async with engine.connect() as connection:
            found = [
                (await connection.exec_driver_sql(f"PRAGMA {name}")).scalar_one()
                for name in ("foreign_keys", "recursive_triggers", "synchronous", "query_only")
            ]
        await engine.dispose()
        assert found == [1, 1, 2, int(read_only)]


def test_a_connection_that_cannot_be_set_up_is_closed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        _sqlite_file.LogConnection,
        "pragmas",
        (
            "synchronous = FULL",
            "no such = (",
        ),
    )
    descriptors = len(os.listdir("/proc/self/fd"))
    with pytest.raises(sqlite3.OperationalError):
        sqlite3.connect(path, factory=_sqlite_file.LogConnection)
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == descriptors


def test_a_connection_may_be_closed_twice(path: Path) -> None:
    connection = sqlite3.connect(path, isolation_level=None, factory=_sqlite_file.LogConnection)
    connection.execute("BEGIN")
    connection.close()
    connection.close()


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql+asyncpg://me:se/c:r@et@host/runs", "postgresql+asyncpg://me:***@host/runs"),
        ("postgresql+asyncpg://host/runs?password=secret&ssl=off", "…?password=***&ssl=off"),
        ("postgresql+asyncpg://me@host:5432/runs", "postgresql+asyncpg://me@host:5432/runs"),
        ("sqlite+aiosqlite:////home/me:you@work/log.db", "sqlite+aiosqlite:////home/me:you@work/log.db"),
    ],
)
def test_a_url_is_shown_without_its_password(url: str, shown: str) -> None:
    assert shown_url(url).endswith(shown.removeprefix("…"))
    assert "secret" not in shown_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "postgres-sql://me:secret@host/runs",
        "postgresql+asyncpg://me:secret@host:port/runs",
        "postgresql+asyncpg://me@host/runs?password=secret",
    ],
)
async def test_a_url_that_is_refused_keeps_its_password_to_itself(url: str) -> None:
    with pytest.raises(ForeignDatabaseError) as refused:
        async with open_store(url):
            pass
    assert "secret" not in str(refused.value)
