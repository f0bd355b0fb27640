"""Whoever changes one value anywhere in a database is found out, or the column is no evidence of anything."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest
from sqlalchemy import BigInteger, Column, Integer, LargeBinary
from tests.agents.program import Program, keep_snapshot, write_runs

from dga2d.runtime.runs.states import snapshot_seal
from dga2d.store._schema import metadata

if TYPE_CHECKING:
    from tests.agents.simulation import Simulation

NOT_EVIDENCE = {
    ("runs", "created_at"): "when the name was taken; only bounded by the first event, whose time is shown",
    ("leases", "holder"): "a name for people of a process that may be gone",
    ("leases", "host"): "where that process ran",
    ("leases", "pid"): "its number there",
    ("leases", "process_started"): "when it was started",
    ("leases", "expires_at"): "until when nobody else may write; of no run that nobody writes",
}
"""Columns that say nothing of what a run did, and why (`docs/decisions.md`)."""

OTHER_VALUES = {
    ("leases", "epoch"): 0,  # a greater one is as good: the next writer's is above it
    ("events", "generation"): 7,
    ("events", "caused_by"): 0,
}
"""What is put where a greater value would do no harm, or where the value is null."""

COLUMNS = [column for table in metadata.sorted_tables for column in table.columns]


@pytest.fixture(scope="module")
def original(simulation: Simulation, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database in which every table has rows."""
    path = tmp_path_factory.mktemp("original") / "log.db"
    url = f"sqlite+aiosqlite:///{path}"
    anyio.run(write_runs, url, simulation)
    seal = snapshot_seal()
    assert seal is not None
    keep_snapshot(url, seal)
    return path


@pytest.fixture
def program(
    original: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Program:
    shutil.copy(original, tmp_path / "log.db")
    program = Program(tmp_path, capsys, monkeypatch)
    monkeypatch.setenv("DGA2D_STORE", program.url)
    return program


def change(path: Path, column: Column[object], value: object = None) -> None:
    """Put another value into the first row that has one, past all guards, and put the guards back."""
    table = column.table.name
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        guards = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in guards:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("PRAGMA ignore_check_constraints = ON")
        found = connection.execute(f"SELECT rowid, {column.name} FROM {table} ORDER BY rowid").fetchall()
        row, old = next((pair for pair in found if pair[1] is not None), found[0])
        new = another(column, old) if value is None else value
        connection.execute(f"UPDATE {table} SET {column.name} = ? WHERE rowid = ?", (new, row))
        for _, sql in guards:
            connection.execute(sql)


def another(column: Column[object], value: object) -> object:
    """Another value of the same type."""
    if isinstance(column.type, BigInteger | Integer):
        return OTHER_VALUES.get((column.table.name, column.name), 1000 + int(str(value or 0)))
    if isinstance(column.type, LargeBinary):
        assert isinstance(value, bytes)
        middle = len(value) // 2
        return value[:middle] + bytes([value[middle] ^ 1]) + value[middle + 1 :]
    return f"{value}x"


def test_an_untouched_database_holds(program: Program) -> None:
    for command in (["verify-store"], ["audit", "whole", "--full"], ["audit", "fork", "--full"]):
        code, _, err = program(*command)
        assert (code, err) == (0, ""), command


@pytest.mark.parametrize(
    "column",
    [
        pytest.param(column, marks=[pytest.mark.slow] if number % 3 else [])
        for number, column in enumerate(COLUMNS)
    ],
    ids=str,
)
def test_a_changed_value_is_found_and_its_place_named(program: Program, column: Column[object]) -> None:
    key = (column.table.name, column.name)
    change(program.database, column)
    code, _, err = program("verify-store")
    if key in NOT_EVIDENCE:
        assert (code, err) == (0, "")
    elif column.table.name == "schema_version":
        assert (code, "schema version 1003" in err) == (2, True)
    else:
        assert code == 1, column
        place = {"blobs": "blob ", "events": "event "}.get(key[0], key[0].rstrip("s"))
        assert place in err, (column, err)


@pytest.mark.parametrize("value", [-1, 2**62, "soon", None])
def test_a_creation_long_after_the_first_event_is_found(program: Program, value: object) -> None:
    created_at = metadata.tables["runs"].c.created_at
    change(program.database, created_at, 2**61 if value is None else value)
    code, _, err = program("verify-store")
    assert (code, "created_at" in err) == (1, True)


@pytest.mark.parametrize("by", [-1, 1])
def test_a_fork_that_begins_one_event_elsewhere_is_found(program: Program, by: int) -> None:
    until_seq = metadata.tables["lineages"].c.until_seq
    with closing(sqlite3.connect(program.database)) as connection:
        [(until,)] = connection.execute("SELECT until_seq FROM lineages")
    change(program.database, until_seq, until + by)
    code, _, err = program("verify-store")
    assert (code, "error: fork: run 'fork', event" in err) == (1, True)


@pytest.mark.parametrize("table", ["charges", "settlements", "reservations", "lineages", "quotas"])
def test_a_missing_row_is_found(program: Program, table: str) -> None:
    with closing(sqlite3.connect(program.database, isolation_level=None)) as connection:
        guards = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in guards:
            connection.execute(f"DROP TRIGGER {name}")
        assert connection.execute(f"DELETE FROM {table} WHERE rowid = 1").rowcount == 1
        for _, sql in guards:
            connection.execute(sql)
    code, _, err = program("verify-store")
    assert code == 1
    assert table.rstrip("s") in err or "event 1" in err


def test_audit_says_which_blobs_it_checked_and_full_checks_all(program: Program) -> None:
    report, full = program.json("audit", "whole"), program.json("audit", "whole", "--full")
    assert report["blobs"]["named"] == full["blobs"]["named"] == full["blobs"]["checked"]
    assert 0 < report["blobs"]["checked"] < report["blobs"]["named"]
    assert (report["blobs"]["scope"], full["blobs"]["scope"]) == ("calls", "all")
    prompts = {call["prompt"] for call in report["calls"]}
    with closing(sqlite3.connect(program.database, isolation_level=None)) as connection:
        digests = [row[0] for row in connection.execute("SELECT digest FROM blobs ORDER BY digest")]
        source = next(digest for digest in digests if digest not in prompts | _answers(report))
        connection.execute("DROP TRIGGER blobs_refuse_update")
        connection.execute("UPDATE blobs SET data = x'00' WHERE digest = ?", (source,))
    code, _, _ = program("audit", "whole")
    assert code == 0
    code, _, err = program("audit", "whole", "--full")
    assert (code, f"blob {source} is corrupt" in err) == (1, True)


def _answers(report: dict[str, object]) -> set[object]:
    calls = report["calls"]
    assert isinstance(calls, list)
    return {call["response"] for call in calls}
