"""The database guards the log by itself, and the program knows which databases are its own."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from dga2d.events import BlobDigest, Draft, RunId
from dga2d.store import (
    CorruptBlobError,
    CorruptEventError,
    EventStore,
    ForeignDatabaseError,
    StoreError,
    open_store,
)

Drafter = Callable[[object], Draft]
KINDS = ("sqlite",)
Raw = Callable[[], sqlite3.Connection]


@pytest.fixture
async def filled(url: str, run_id: RunId, note: Drafter, reserve: Drafter) -> str:
    """A closed database with five events, a reservation and a blob."""
    async with (
        open_store(url) as store,
        store.write(run_id, create=True, quotas={"llm-call": 9}) as writer,
    ):
        await writer.append([note(i) for i in range(4)], [b"blob"])
        await writer.append([reserve(1)])
    return url


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET generation = 1",
        "UPDATE events SET seq = 9 WHERE seq = 5",
        "DELETE FROM events WHERE seq = 5",
        "DELETE FROM events",
        "INSERT OR REPLACE INTO events SELECT * FROM events WHERE seq = 3",
        "REPLACE INTO events SELECT run_id, 6, event_id, type, version, agent, generation, caused_by, "
        "recorded_at, NULL, payload, prev_hash, hash FROM events WHERE seq = 3",
        "REPLACE INTO events SELECT run_id, 6, 'new', type, version, agent, generation, caused_by, "
        "recorded_at, operation, payload, prev_hash, hash FROM events WHERE operation = 'llm-call/1'",
        "INSERT INTO events SELECT run_id, 7, 'new', type, version, agent, generation, caused_by, "
        "recorded_at, NULL, payload, prev_hash, hash FROM events WHERE seq = 3",
        "UPDATE reservations SET number = 2",
        "DELETE FROM reservations",
        "REPLACE INTO reservations SELECT * FROM reservations",
        "INSERT INTO reservations SELECT run_id, kind, 10, quota, seq FROM reservations",
        "INSERT INTO reservations SELECT run_id, kind, 0, quota, seq FROM reservations",
        "UPDATE quotas SET amount = 10",
        "UPDATE runs SET created_at = 0",
        "DELETE FROM runs",
        "UPDATE blobs SET data = x'00'",
    ],
)
async def test_any_program_is_refused_to_rewrite(filled: str, raw: Raw, statement: str) -> None:
    with closing(raw()) as connection:
        before = list(connection.iterdump())
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(statement)
        assert list(connection.iterdump()) == before


async def test_a_reservation_needs_its_quota(filled: str, raw: Raw) -> None:
    with closing(raw()) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
            connection.execute("INSERT INTO reservations SELECT run_id, kind, 10, 99, seq FROM reservations")


async def test_connections_write_through_to_the_disk(store: EventStore, path: Path, run_id: RunId) -> None:
    async with store.write(run_id, create=True) as writer:
        driver = writer._connection.driver  # type: ignore[attr-defined]
        for pragma, value in [
            ("journal_mode", "wal"),
            ("synchronous", 2),
            ("foreign_keys", 1),
            ("recursive_triggers", 1),
        ]:
            assert await driver.execute_fetchall(f"PRAGMA {pragma}") == [(value,)]


def tamper(raw: Raw, statement: str, *parameters: object) -> None:
    with closing(raw()) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("PRAGMA ignore_check_constraints = ON")
        assert connection.execute(statement, parameters).rowcount > 0


@pytest.mark.parametrize(
    ("statement", "seq"),
    [
        ("UPDATE events SET payload = replace(payload, '2', '7') WHERE seq = 3", 3),
        ("UPDATE events SET payload = x'ff' WHERE seq = 1", 1),
        ("UPDATE events SET agent = x'ff' WHERE seq = 2", 2),
        ("UPDATE events SET agent = 'initializer' WHERE seq = 2", 2),
        ("UPDATE events SET generation = 1.5 WHERE seq = 4", 4),
        ("UPDATE events SET recorded_at = recorded_at + 1 WHERE seq = 4", 4),
        ("UPDATE events SET recorded_at = 'x' WHERE seq = 4", 4),
        ("UPDATE events SET prev_hash = zeroblob(32) WHERE seq = 2", 2),
        ("UPDATE events SET hash = zeroblob(32) WHERE seq = 5", 5),
        ("UPDATE events SET hash = 'x' WHERE seq = 5", 5),
        ("UPDATE events SET caused_by = 1 WHERE seq = 5", 5),
        ("UPDATE events SET event_id = 'x' WHERE seq = 5", 5),
        ("UPDATE events SET version = 2 WHERE seq = 5", 5),
        ("UPDATE events SET type = 'RunFailed' WHERE seq = 1", 1),
        ("UPDATE events SET run_id = 'run-2' WHERE seq = 3", 3),
        ("DELETE FROM events WHERE seq = 1", 1),
        ("DELETE FROM events WHERE seq = 4", 4),
        ("UPDATE events SET seq = 9 WHERE seq = 5", 5),
        ("UPDATE events SET seq = 0 WHERE seq = 1", 1),
    ],
)
async def test_verify_names_the_event_that_was_tampered_with(
    filled: str, raw: Raw, run_id: RunId, statement: str, seq: int
) -> None:
    tamper(raw, statement)
    async with open_store(filled) as store:
        with pytest.raises(CorruptEventError) as caught:
            await store.verify(run_id)
    assert caught.value.seq == seq


async def test_a_blob_that_was_tampered_with_is_noticed(filled: str, raw: Raw) -> None:
    tamper(raw, "UPDATE blobs SET data = x'00'")
    async with open_store(filled) as store:
        with pytest.raises(CorruptBlobError):
            await store.get_blob(BlobDigest(hashlib.sha256(b"blob").hexdigest()))


# ---------------------------------------------------------------- opening


async def test_a_missing_file_is_named_and_not_created(url: str, path: Path) -> None:
    for create, read_only in [(False, False), (False, True), (True, True)]:
        with pytest.raises(ForeignDatabaseError, match=r"there is no file .*log with space"):
            async with open_store(url, create=create, read_only=read_only):
                pass
    assert not path.exists()


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("sqlite+aiosqlite://", "needs a file"),
        ("sqlite+aiosqlite:///:memory:", "needs a file"),
        ("sqlite:///x.db", "only sqlite\\+aiosqlite"),
        ("postgresql+psycopg://me:secret@host/db", "me:\\*\\*\\*@host.*only sqlite"),
        ("x.db", "not a database URL"),
        ("sqlite+aiosqlite:///x.db?mode=ro", "no options"),
        ("sqlite+aiosqlite:////no/such/folder/x.db", "no folder"),
        ("sqlite+aiosqlite:////", "is a folder"),
    ],
)
async def test_an_unusable_url_is_refused_with_the_reason(url: str, reason: str) -> None:
    with pytest.raises(ForeignDatabaseError, match=reason):
        async with open_store(url):
            pass


async def test_a_file_that_is_no_database_is_refused_and_left_alone(url: str, path: Path) -> None:
    path.write_bytes(b"something else entirely\n" * 100)
    for read_only in (False, True):
        with pytest.raises(ForeignDatabaseError, match="not a database"):
            async with open_store(url, read_only=read_only):
                pass
    assert path.read_bytes() == b"something else entirely\n" * 100


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE customers (name)",
        "CREATE TABLE schema_version (version)",
        "PRAGMA application_id = 7",
    ],
)
async def test_a_database_of_another_program_is_refused_and_left_alone(
    url: str, path: Path, raw: Raw, statement: str
) -> None:
    with closing(raw()) as connection:
        connection.execute(statement)
    before = path.read_bytes()
    for read_only in (False, True):
        with pytest.raises(ForeignDatabaseError, match="another program"):
            async with open_store(url, read_only=read_only):
                pass
    assert path.read_bytes() == before


async def test_a_newer_schema_is_refused(filled: str, raw: Raw) -> None:
    with closing(raw()) as connection:
        connection.execute("UPDATE schema_version SET version = 99")
    with pytest.raises(ForeignDatabaseError, match=r"99.*update dga2d"):
        async with open_store(filled):
            pass


async def test_a_truncated_database_is_an_error_of_ours(filled: str, path: Path, run_id: RunId) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(StoreError):
        async with open_store(filled) as store:
            await store.verify(run_id)


@pytest.mark.parametrize("version", [1, 2])
async def test_a_schema_that_was_never_released_is_refused(filled: str, raw: Raw, version: int) -> None:
    with closing(raw()) as connection:
        connection.execute("UPDATE schema_version SET version = ?", [version])
    for read_only in (False, True):
        with pytest.raises(ForeignDatabaseError, match=f"version {version}, not the 3 this program knows"):
            async with open_store(filled, read_only=read_only):
                pass


async def test_stores_opened_at_once_on_a_new_file_create_it_once(
    url: str, path: Path, note: Drafter
) -> None:
    async def use(name: str) -> None:
        async with open_store(url) as store, store.write(RunId(name), create=True) as writer:
            await writer.append([note(name)])

    async with anyio.create_task_group() as tasks:
        for name in "abcd":
            tasks.start_soon(use, name)
    async with open_store(url) as store:
        assert [run.head_seq for run in await store.runs()] == [1, 1, 1, 1]


# ---------------------------------------------------------------- read-only


async def test_a_read_only_store_reads_and_leaves_no_trace(filled: str, path: Path, run_id: RunId) -> None:
    before = (path.read_bytes(), os.listdir(path.parent))
    async with open_store(filled, read_only=True) as store:
        assert (await store.verify(run_id)).seq == 5
        assert [run.run_id for run in await store.runs()] == [run_id]
        with pytest.raises(StoreError, match="read-only"):
            await store.put_blobs([b"x"])
        with pytest.raises(StoreError, match="read-only"):
            async with store.write(run_id):
                pass
    assert (path.read_bytes(), os.listdir(path.parent)) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
async def test_a_read_only_store_opens_in_a_folder_that_may_not_be_written(
    filled: str, path: Path, run_id: RunId
) -> None:
    path.parent.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        async with open_store(filled, read_only=True) as store:
            assert (await store.verify(run_id)).seq == 5
    finally:
        path.parent.chmod(stat.S_IRWXU)


async def test_a_read_only_store_follows_a_live_writer(
    filled: str, path: Path, run_id: RunId, note: Drafter
) -> None:
    async with open_store(filled, read_only=True) as reader:
        assert (await reader.head(run_id)).seq == 5
        async with open_store(filled) as store, store.write(run_id) as writer:
            await writer.append([note("new")])
            assert (await reader.head(run_id)).seq == 6
        assert (await reader.verify(run_id)).seq == 6
    assert os.listdir(path.parent) == [path.name]
