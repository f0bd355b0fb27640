"""Whoever edits the database behind the program's back is found out, and the place is named."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import httpx
import pytest
from tests.system.conftest import Command, Program

from dga2d.runtime.page.application import make_application
from dga2d.store import open_store

pytestmark = pytest.mark.timeout(400)

Edit = Callable[[sqlite3.Connection], object]


@contextmanager
def unguarded(program: Program) -> Iterator[sqlite3.Connection]:
    """A connection of somebody who removed the triggers that forbid changes."""
    with closing(sqlite3.connect(program.database, isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (name,) in names:
            connection.execute(f"DROP TRIGGER {name}")
        yield connection


def assert_named(command: Command, program: Program, seq: int) -> None:
    """Both checks find event `seq`, and say so in one line."""
    for check in ("replay", "audit"):
        outcome = command(check, "done", program=program)
        assert outcome.code == 1, (check, seq, outcome)
        assert f"event {seq}" in outcome.error.split(":")[1], (check, seq, outcome)
        in_json = command(check, "done", "--json", program=program)
        assert in_json.code == 1
        assert f"event {seq}" in in_json.json["difference"]


def test_an_untouched_log_holds(finished: Program, command: Command) -> None:
    for check in ("replay", "audit"):
        assert command(check, "done", program=finished).code == 0


@pytest.mark.parametrize(("first", "step"), [(0, 19), pytest.param(0, 1, marks=pytest.mark.slow)])
def test_one_changed_byte_of_any_event_is_named(
    doomed: Program, command: Command, first: int, step: int
) -> None:
    rng = random.Random(0)
    rows = doomed.rows("done")[first::step]
    with unguarded(doomed) as connection:
        for row in rows:
            payload = bytearray(row.payload)
            payload[rng.randrange(len(payload))] ^= rng.randrange(1, 256)
            change = "UPDATE events SET payload = ? WHERE seq = ?"
            connection.execute(change, (bytes(payload), row.seq))
            assert_named(command, doomed, row.seq)
            connection.execute(change, (row.payload, row.seq))
    assert command("replay", "done", program=doomed).code == 0


@pytest.mark.parametrize(
    "change",
    [
        "hash = zeroblob(32)",
        "prev_hash = zeroblob(32)",
        "prev_hash = NULL",
        "type = 'RunPaused'",
        "type = 'NoSuchEvent'",
        "version = 2",
        "agent = 'validator'",
        "generation = coalesce(generation, 0) + 7",
        "caused_by = coalesce(caused_by, 0) + 1",
        "recorded_at = recorded_at + 1",
        "event_id = 'another'",
        "payload = x''",
        "payload = 'text'",
        "payload = x'7b7d'",
    ],
)
def test_any_changed_column_is_named(doomed: Program, command: Command, change: str) -> None:
    with unguarded(doomed) as connection:
        if "NULL" in change:
            connection.execute("PRAGMA ignore_check_constraints = ON")
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute(
                "UPDATE sqlite_master SET sql = replace(sql, 'prev_hash BLOB NOT NULL', 'prev_hash BLOB')"
            )
            connection.execute("PRAGMA writable_schema = RESET")
        connection.execute(f"UPDATE events SET {change} WHERE seq = 9")
    assert_named(command, doomed, 9)


def exchange(column: str) -> Edit:
    """Exchange one column of events 10 and 20."""

    def edit(connection: sqlite3.Connection) -> None:
        values = dict(connection.execute(f"SELECT seq, {column} FROM events WHERE seq IN (10, 20)"))
        connection.execute(f"UPDATE events SET {column} = ? WHERE seq = 10", (values[20],))
        connection.execute(f"UPDATE events SET {column} = ? WHERE seq = 20", (values[10],))

    return edit


def renumber(connection: sqlite3.Connection) -> None:
    """Exchange the places of events 10 and 20."""
    for old, new in ((10, 999), (20, 10), (999, 20)):
        connection.execute("UPDATE events SET seq = ? WHERE seq = ?", (new, old))


def delete_and_close_up(connection: sqlite3.Connection) -> None:
    """Remove event 10 and renumber those after it."""
    connection.execute("DELETE FROM events WHERE seq = 10")
    (last,) = connection.execute("SELECT max(seq) FROM events").fetchone()
    for seq in range(11, last + 1):
        connection.execute("UPDATE events SET seq = ? WHERE seq = ?", (seq - 1, seq))


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(lambda c: c.execute("DELETE FROM events WHERE seq = 10"), id="deleted"),
        pytest.param(delete_and_close_up, id="deleted and closed up"),
        pytest.param(renumber, id="places exchanged"),
        pytest.param(exchange("payload"), id="payloads exchanged"),
    ],
)
def test_a_missing_or_moved_event_is_named(doomed: Program, command: Command, edit: Edit) -> None:
    with unguarded(doomed) as connection:
        edit(connection)
    assert_named(command, doomed, 10)


def test_a_cut_end_shows_against_the_head_that_was_printed(
    doomed: Program, finished: Program, command: Command
) -> None:
    kept = finished.rows("done")[-1].hash.hex()
    assert command("replay", "done", "--json", program=finished).json["head_hash"] == kept
    with unguarded(doomed) as connection:
        connection.execute("DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)")
    for check in ("replay", "audit"):
        assert command(check, "done", "--json", program=doomed).json["head_hash"] != kept
    cut = command("replay", "done", "--head", kept, program=doomed)
    assert cut.code == 1
    assert f"none of its {len(doomed.rows('done'))} events has the kept hash {kept}" in cut.err


def test_a_hash_kept_half_way_still_holds(finished: Program, command: Command) -> None:
    kept = finished.rows("done")[20].hash.hex()
    assert command("replay", "done", "--head", kept.upper(), program=finished).code == 0
    refused = command("replay", "done", "--head", "12ab", program=finished)
    assert (refused.code, "64 hexadecimal digits" in refused.error) == (2, True)


def test_the_database_itself_refuses_changes(doomed: Program) -> None:
    with closing(sqlite3.connect(doomed.database)) as connection:
        for statement in (
            "UPDATE events SET payload = x'00' WHERE seq = 3",
            "DELETE FROM events WHERE seq = 3",
            "DELETE FROM runs",
            "DELETE FROM reservations",
        ):
            with pytest.raises(sqlite3.DatabaseError, match="append-only"):
                connection.execute(statement)


def test_a_damaged_run_is_listed_as_such_and_not_resumed(doomed: Program, command: Command) -> None:
    with unguarded(doomed) as connection:
        connection.execute("UPDATE events SET recorded_at = 0 WHERE seq = 12")
    (row,) = command("runs", "--json", program=doomed).json
    assert row["status"] == "damaged"
    for arguments in (["show", "done"], ["resume", "done", "--generations", "9"], ["test", "done"]):
        outcome = command(*arguments, program=doomed)
        assert outcome.code == 2
        assert "event 12" in outcome.error


async def test_the_page_of_a_damaged_run_says_which_event_does_not_hold(doomed: Program) -> None:
    """Its frame comes before the log is read; whatever is asked for then says what is wrong."""
    with unguarded(doomed) as connection:
        connection.execute("UPDATE events SET recorded_at = 0 WHERE seq = 12")
    url = f"sqlite+aiosqlite:///{doomed.database}"
    async with open_store(url, create=False, read_only=True) as store:
        transport = httpx.ASGITransport(make_application(store, url))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            assert (await client.get("/runs/done")).status_code == 200
            for part in ("facts", "overview"):
                answer = await client.get(f"/runs/done/{part}")
                assert answer.status_code == 500
                assert "event 12" in answer.text
