"""What PostgreSQL adds to the contract: guards in the server, opening, schemas, announcements, findings."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import pytest
from sqlalchemy import make_url
from tests.fakes.postgres_server import PostgresServer

from dga2d.events import Draft, RunId
from dga2d.store import (
    CorruptEventError,
    ForeignDatabaseError,
    MissingDatabaseError,
    StoreError,
    StoreUnavailableError,
    open_store,
)
from dga2d.store._postgresql import PostgresDatabase

Drafter = Callable[[object], Draft]
KINDS = ("postgresql",)


@pytest.fixture
async def filled(url: str, run_id: RunId, note: Drafter, reserve: Drafter) -> str:
    """A closed log with five events, a reservation and a blob."""
    async with (
        open_store(url) as store,
        store.write(run_id, create=True, quotas={"llm-call": 9, "llm-token": 100}) as writer,
    ):
        await writer.append([note(i) for i in range(4)], [b"blob"])
        await writer.append([reserve(1)])
    return url


EVENT = "'new', type, version, agent, generation, caused_by, recorded_at"
REFUSED = [
    "UPDATE events SET generation = 1",
    "DELETE FROM events WHERE seq = 5",
    "TRUNCATE events CASCADE",
    f"INSERT INTO events SELECT run_id, 7, {EVENT}, NULL, payload, prev_hash, hash FROM events WHERE seq = 3",
    f"INSERT INTO events SELECT run_id, 0, {EVENT}, NULL, payload, prev_hash, hash FROM events WHERE seq = 3",
    f"INSERT INTO events SELECT run_id, 6, {EVENT}, operation, payload, prev_hash, hash FROM events "
    "WHERE operation = 'llm-call/1'",
    f"INSERT INTO events SELECT 'nobody', 1, {EVENT}, NULL, payload, prev_hash, hash FROM events "
    "WHERE seq = 1",
    "INSERT INTO runs VALUES ('other', 0); "
    f"INSERT INTO events SELECT run_id, 6, {EVENT}, NULL, payload, prev_hash, hash FROM events WHERE seq = 3 "
    f"UNION ALL SELECT 'other', 7, 'newer', {EVENT.partition(', ')[2]}, NULL, payload, prev_hash, hash "
    "FROM events WHERE seq = 3",
    "INSERT INTO events SELECT * FROM events ON CONFLICT (run_id, seq) DO UPDATE SET generation = 1",
    "UPDATE reservations SET number = 2",
    "INSERT INTO reservations SELECT run_id, kind, 10, quota, seq FROM reservations",
    "INSERT INTO reservations SELECT run_id, kind, 0, quota, seq FROM reservations",
    "INSERT INTO reservations SELECT run_id, kind, 10, 99, seq FROM reservations",
    "INSERT INTO charges SELECT run_id, kind, 9, 101, quota, seq FROM charges WHERE kind = 'llm-token'",
    "INSERT INTO charges SELECT run_id, kind, 9, 1, 1000, seq FROM charges WHERE kind = 'llm-token'",
    "BEGIN ISOLATION LEVEL REPEATABLE READ; "
    "INSERT INTO charges SELECT run_id, kind, 9, 1, quota, seq FROM charges WHERE kind = 'llm-token'",
    "INSERT INTO settlements SELECT run_id, kind, number, 99, seq FROM charges WHERE kind = 'llm-token'",
    "UPDATE quotas SET amount = 10",
    "INSERT INTO lineages SELECT run_id, run_id, 3 FROM runs",
    "DELETE FROM runs",
    "UPDATE blobs SET data = ''",
]


def test_any_program_is_refused_to_rewrite(filled: str, postgres_server: PostgresServer) -> None:
    dump = "SELECT to_jsonb(e) FROM events e; SELECT to_jsonb(c) FROM charges c; SELECT * FROM quotas"
    before = postgres_server.sql(dump, filled)
    for statement in REFUSED:
        with pytest.raises(RuntimeError, match=r"append-only|constraint|quota|charged|READ COMMITTED"):
            postgres_server.sql(statement, filled)
    assert postgres_server.sql(dump, filled) == before


async def test_two_programs_at_once_cannot_exceed_a_quota_together(
    filled: str, postgres_server: PostgresServer
) -> None:
    charge = (
        "INSERT INTO charges SELECT run_id, kind, {}, 60, quota, seq FROM charges WHERE kind = 'llm-token'"
    )
    slowly = f"BEGIN; {charge.format(8)} AND number = 1; SELECT pg_sleep(0.5); COMMIT"
    outcomes: list[str] = []

    def insert(statement: str) -> None:
        try:
            postgres_server.sql(statement, filled)
        except RuntimeError as error:
            outcomes.append(str(error))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(anyio.to_thread.run_sync, insert, slowly)
        await anyio.sleep(0.2)
        tasks.start_soon(anyio.to_thread.run_sync, insert, f"{charge.format(9)} AND number = 1")
    assert len(outcomes) == 1
    assert "quota" in outcomes[0]


# ---------------------------------------------------------------- opening


@pytest.mark.parametrize(
    ("changes", "error", "reason"),
    [
        ({"database": "nowhere"}, ForeignDatabaseError, 'database "nowhere" does not exist.*createdb'),
        ({"query": {"host": "/no/such/folder"}}, StoreUnavailableError, "no server answers"),
        ({"database": None}, ForeignDatabaseError, "names no database"),
        ({"query": {"timeout": "9"}}, ForeignDatabaseError, "option 'timeout', only host, port, schema, ssl"),
        ({"username": "nobody-knows"}, ForeignDatabaseError, "refuses the login"),
        ({"host": "no-such-host.invalid", "query": {}}, ForeignDatabaseError, "name of its server"),
    ],
)
async def test_what_cannot_be_opened_is_refused_with_the_reason(
    url: str, changes: dict[str, object], error: type[StoreError], reason: str
) -> None:
    changed = make_url(url)._replace(**changes).set(password="secret")  # type: ignore[arg-type]
    with pytest.raises(error, match=reason) as caught:
        async with open_store(changed.render_as_string(hide_password=False)):
            pass
    assert "secret" not in str(caught.value)


async def test_the_extra_that_is_missing_is_named(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "dga2d.store._postgresql")
    monkeypatch.setitem(sys.modules, "asyncpg", None)
    with pytest.raises(ForeignDatabaseError, match=r"pip install 'dga2d\[postgres\]'"):
        async with open_store(url):
            pass


async def test_an_empty_database_is_said_to_hold_nothing_and_stays_empty(
    url: str, postgres_server: PostgresServer
) -> None:
    for read_only in (True, False):
        with pytest.raises(MissingDatabaseError, match="holds nothing yet"):
            async with open_store(url, create=False, read_only=read_only):
                pass
    schema = make_url(url).query["schema"]
    query = f"SELECT count(*) FROM pg_namespace WHERE nspname = '{schema}'"
    assert postgres_server.sql(query) == "0"


async def test_databases_of_other_programs_and_versions_are_refused(
    filled: str, url: str, postgres_server: PostgresServer
) -> None:
    postgres_server.sql("UPDATE schema_version SET version = 99", filled)
    with pytest.raises(ForeignDatabaseError, match=r"99.*update dga2d"):
        async with open_store(filled):
            pass
    postgres_server.sql("COMMENT ON TABLE schema_version IS NULL", filled)
    with pytest.raises(ForeignDatabaseError, match="another program"):
        async with open_store(filled):
            pass


@pytest.fixture
def outdated(postgres_server: PostgresServer) -> Iterator[str]:
    """A database that an earlier program wrote, with four events, a reservation and a blob."""
    postgres_server.sql("CREATE DATABASE outdated")
    url = postgres_server.url("outdated")
    postgres_server.sql((Path(__file__).parent / "postgresql_schema_3.sql").read_text("utf-8"), url)
    yield url
    postgres_server.sql("DROP DATABASE outdated WITH (FORCE)")


@pytest.mark.parametrize(
    "also", ["", "ALTER TABLE events DROP CONSTRAINT events_run_id_fkey"], ids=["3", "the later 3"]
)
async def test_a_database_of_an_earlier_program_is_brought_up_to_date(
    outdated: str, run_id: RunId, note: Drafter, postgres_server: PostgresServer, also: str
) -> None:
    postgres_server.sql(also, outdated)
    async with open_store(outdated) as store:
        assert await store.findings() == []
        async with store.write(run_id) as writer:
            assert (await writer.append([note("later")]))[0].seq == 5
    async with open_store(outdated, read_only=True) as store:
        assert await store.findings() == []
        assert (await store.verify(run_id)).seq == 5
    assert postgres_server.sql("SELECT version FROM schema_version", outdated) == "4"
    unknown = f"INSERT INTO events SELECT 'nobody', 1, {EVENT}, NULL, payload, prev_hash, hash FROM events "
    with pytest.raises(RuntimeError, match="append-only"):
        postgres_server.sql(unknown + "WHERE seq = 1", outdated)


async def test_a_database_of_an_earlier_program_is_left_to_its_owner(
    outdated: str, postgres_server: PostgresServer
) -> None:
    postgres_server.sql(
        "CREATE ROLE guest LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO guest", outdated
    )
    guest = make_url(outdated).set(username="guest").render_as_string()
    try:
        for url, read_only in ((outdated, True), (guest, False)):
            with pytest.raises(ForeignDatabaseError, match=r"version 3 of an earlier dga2d; the owner .* gc"):
                async with open_store(url, create=False, read_only=read_only):
                    pass
    finally:
        postgres_server.sql("DROP OWNED BY guest; DROP ROLE guest", outdated)
    assert postgres_server.sql("SELECT version FROM schema_version", outdated) == "3"


async def test_stores_opened_at_once_on_an_empty_database_create_it_once(url: str, note: Drafter) -> None:
    async def use(name: str) -> None:
        async with open_store(url) as store, store.write(RunId(name), create=True) as writer:
            await writer.append([note(name)])

    async with anyio.create_task_group() as tasks:
        for name in "abcd":
            tasks.start_soon(use, name)
    async with open_store(url) as store:
        assert [run.head_seq for run in await store.runs()] == [1, 1, 1, 1]


async def test_a_read_only_store_reads_and_writes_nothing(filled: str, run_id: RunId) -> None:
    async with open_store(filled, read_only=True) as store:
        assert (await store.verify(run_id)).seq == 5
        with pytest.raises(StoreError, match="read-only"):
            await store.put_blobs([b"x"])
        with pytest.raises(StoreError, match="read-only"):
            async with store.write(run_id):
                pass


# ---------------------------------------------------------------- announcements


async def test_a_subscriber_of_another_process_is_woken(
    url: str, run_id: RunId, note: Drafter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PostgresDatabase, "poll_s", 3600.0)
    async with (
        open_store(url) as store,
        open_store(url, read_only=True) as other,
        store.write(run_id, create=True) as writer,
    ):
        subscription = aiter(other.subscribe(run_id))
        with anyio.fail_after(20):
            for i in range(3):
                await writer.append([note(i)])
                assert (await anext(subscription)).seq == i + 1
        await subscription.aclose()  # type: ignore[attr-defined]


async def test_a_subscriber_whose_connection_was_cut_catches_up(
    url: str, run_id: RunId, note: Drafter, postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PostgresDatabase, "poll_s", 3600.0)
    async with (
        open_store(url) as store,
        open_store(url, read_only=True) as other,
        store.write(run_id, create=True) as writer,
    ):
        await writer.append([note(1)])
        subscription = aiter(other.subscribe(run_id))
        with anyio.fail_after(20):
            assert (await anext(subscription)).seq == 1
            postgres_server.sql(CUT)
            for i in range(2, 4):
                await writer.append([note(i)])
                assert (await anext(subscription)).seq == i
        await subscription.aclose()  # type: ignore[attr-defined]


CUT = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'dga2d'"


# ---------------------------------------------------------------- findings


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("DROP TRIGGER events_refuse_delete ON events", "trigger events_refuse_delete: is missing"),
        ("ALTER TABLE charges DISABLE TRIGGER USER", "trigger charges_only_once: is switched off"),
        (
            "CREATE OR REPLACE FUNCTION dga2d_refuse_change() RETURNS trigger LANGUAGE plpgsql "
            "AS 'BEGIN RETURN NULL; END'",
            "function dga2d_refuse_change: is another one",
        ),
        (
            "ALTER TABLE events DROP CONSTRAINT events_run_id_operation_key",
            "table events: 1 of 2 constraints",
        ),
        (
            "ALTER TABLE events DISABLE TRIGGER ALL; ALTER TABLE reservations DISABLE TRIGGER ALL; "
            "DELETE FROM events WHERE seq = 5",
            "table reservations, row run-1, llm-call, 1: what it refers to is not in events",
        ),
        (
            "ALTER TABLE blobs DISABLE TRIGGER USER; UPDATE blobs SET data = 'x'",
            "its bytes have another digest or length",
        ),
    ],
)
async def test_what_is_wrong_with_a_database_is_told(
    filled: str, postgres_server: PostgresServer, statement: str, told: str
) -> None:
    async with open_store(filled) as store:
        assert await store.findings() == []
        postgres_server.sql(statement, filled)
        assert told in "\n".join(await store.findings())


async def test_verify_names_the_event_that_was_tampered_with(
    filled: str, run_id: RunId, postgres_server: PostgresServer
) -> None:
    postgres_server.sql(
        "ALTER TABLE events DISABLE TRIGGER USER; UPDATE events SET agent = 'initializer' WHERE seq = 2",
        filled,
    )
    async with open_store(filled) as store:
        with pytest.raises(CorruptEventError) as caught:
            await store.verify(run_id)
    assert caught.value.seq == 2


async def test_named_blobs_are_kept_and_others_collected(filled: str, run_id: RunId) -> None:
    async with open_store(filled) as store:
        assert tuple(await store.collect_blobs(keep=True)) == (1, 4)
        assert tuple(await store.collect_blobs()) == (1, 4)
        assert tuple(await store.collect_blobs()) == (0, 0)
