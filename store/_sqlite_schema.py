"""The schema of an SQLite file: triggers that guard its tables, its making, and what can be wrong with it."""

from __future__ import annotations

import re

import aiosqlite
from sqlalchemy import Connection, Integer, LargeBinary, String, func, inspect, select

from dga2d.store._database import DatabaseConnection, check_version
from dga2d.store._errors import ForeignDatabaseError, StoreError
from dga2d.store._schema import APPEND_ONLY, metadata, schema_version

SCHEMA_VERSION = 3
"""The only version there is: 1 and 2 were never released."""

APPLICATION_ID = 0x44474132
"""``PRAGMA application_id`` of our files, "DGA2"."""

TRIGGERS = (
    *(
        f"CREATE TRIGGER {table}_refuse_{verb.lower()} BEFORE {verb} ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{table} are append-only'); END"
        for table, verbs in APPEND_ONLY.items()
        for verb in verbs
    ),
    "CREATE TRIGGER lineages_only_of_new_runs BEFORE INSERT ON lineages "
    "WHEN EXISTS (SELECT 1 FROM events WHERE run_id = NEW.run_id) "
    "OR EXISTS (SELECT 1 FROM lineages WHERE run_id = NEW.run_id AND ancestor = NEW.ancestor) "
    "BEGIN SELECT RAISE(ABORT, 'lineages are append-only'); END",
    # REPLACE deletes without firing delete triggers on connections that did not set recursive_triggers.
    "CREATE TRIGGER events_only_at_the_end BEFORE INSERT ON events "
    "WHEN NEW.seq IS NOT 1 + coalesce((SELECT max(seq) FROM events WHERE run_id = NEW.run_id), "
    "(SELECT max(until_seq) FROM lineages WHERE run_id = NEW.run_id), 0) "
    "OR EXISTS (SELECT 1 FROM events WHERE event_id = NEW.event_id) "
    "OR EXISTS (SELECT 1 FROM events WHERE run_id = NEW.run_id AND operation = NEW.operation) "
    "OR EXISTS (SELECT 1 FROM lineages l JOIN events e "
    "ON e.run_id = l.ancestor AND e.operation = NEW.operation AND e.seq <= l.until_seq "
    "WHERE l.run_id = NEW.run_id) "
    "BEGIN SELECT RAISE(ABORT, 'events are append-only'); END",
    *(
        f"CREATE TRIGGER {table}_only_once BEFORE INSERT ON {table} "
        f"WHEN EXISTS (SELECT 1 FROM {table} "
        "WHERE run_id = NEW.run_id AND kind = NEW.kind AND number = NEW.number) "
        f"OR EXISTS (SELECT 1 FROM lineages l JOIN {table} p "
        "ON p.run_id = l.ancestor AND p.kind = NEW.kind AND p.number = NEW.number AND p.seq <= l.until_seq "
        "WHERE l.run_id = NEW.run_id) "
        f"BEGIN SELECT RAISE(ABORT, '{table} are append-only'); END"
        for table in ("reservations", "charges", "settlements")
    ),
    "CREATE TRIGGER charges_within_quota BEFORE INSERT ON charges "
    "WHEN NEW.quota < NEW.amount + (SELECT coalesce(sum(coalesce(s.amount, c.amount)), 0) "
    "FROM charges c LEFT JOIN settlements s USING (run_id, kind, number) "
    "WHERE c.run_id = NEW.run_id AND c.kind = NEW.kind) "
    "+ (SELECT coalesce(sum(coalesce(s.amount, c.amount)), 0) FROM lineages l "
    "JOIN charges c ON c.run_id = l.ancestor AND c.kind = NEW.kind AND c.seq <= l.until_seq "
    "LEFT JOIN settlements s ON s.run_id = c.run_id AND s.kind = c.kind AND s.number = c.number "
    "AND s.seq <= l.until_seq WHERE l.run_id = NEW.run_id) "
    "BEGIN SELECT RAISE(ABORT, 'the quota is reached'); END",
    "CREATE TRIGGER settlements_within_charge BEFORE INSERT ON settlements "
    "WHEN NEW.amount > (SELECT amount FROM charges "
    "WHERE run_id = NEW.run_id AND kind = NEW.kind AND number = NEW.number) "
    "BEGIN SELECT RAISE(ABORT, 'more than was charged'); END",
)
"""Triggers that keep every program on the machine, not only this one, from changing what was written."""


async def prepare_schema(connection: DatabaseConnection, url: str, *, create: bool) -> bool:
    """See whether the file is a log of this program, and (`create`) make one of an empty file.

    Returns false for an empty file that stays empty.

    Raises
    ------
    ForeignDatabaseError
        It is not ours, or of another version.
    """
    if await _is_ours(connection, url):
        return True
    if not create:
        return False
    await _enter_wal(connection)
    async with connection.transaction():
        if not await _is_ours(connection, url):  # another process may have been quicker
            await connection.core.run_sync(metadata.create_all, checkfirst=False)
            for trigger in TRIGGERS:
                await connection.core.exec_driver_sql(trigger)
            await connection.execute(schema_version.insert().values(version=SCHEMA_VERSION))
            await connection.core.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
    return True


async def _is_ours(connection: DatabaseConnection, url: str) -> bool:
    """Return false for an empty file. Raises ForeignDatabaseError for any that is not ours."""
    names = await connection.core.run_sync(_table_names)
    owner = (await connection.core.exec_driver_sql("PRAGMA application_id")).scalar_one()
    if not names and owner == 0:
        return False
    if owner != APPLICATION_ID or schema_version.name not in names:
        raise ForeignDatabaseError(url, "is a database of another program, not an event log of this one")
    found = await connection.execute(select(func.max(schema_version.c.version)))
    check_version(url, found.scalar_one(), SCHEMA_VERSION)
    return True


def _table_names(connection: Connection) -> list[str]:
    return inspect(connection).get_table_names()


async def _enter_wal(connection: DatabaseConnection) -> None:
    """Switch the file to write-ahead logging (kept in the file)."""
    mode = (await connection.core.exec_driver_sql("PRAGMA journal_mode = WAL")).scalar_one()
    if mode != "wal":
        raise StoreError(f"SQLite cannot use a write-ahead log here (it chose {mode!r})")


# ---------------------------------------------------------------- what can be wrong


async def schema_findings(driver: aiosqlite.Connection) -> list[str]:
    """Return what is wrong with the file, references, types and guards, a line each."""
    found = [f"file: {row[0]}" for row in await driver.execute_fetchall("PRAGMA integrity_check")]
    found = [] if found == ["file: ok"] else found
    for table, row, parent, _ in await driver.execute_fetchall("PRAGMA foreign_key_check"):
        found.append(f"table {table}, row {row}: what it refers to is not in {parent}")
    return [*found, *await _wrong_types(driver), *await _missing_guards(driver)]


async def _wrong_types(driver: aiosqlite.Connection) -> list[str]:
    """Return the columns that hold a value of another type than theirs, which SQLite accepts silently."""
    kinds = {String: "text", LargeBinary: "blob", Integer: "integer"}
    found = []
    for table in metadata.sorted_tables:
        for column in table.columns:
            kind = next(kind for base, kind in kinds.items() if isinstance(column.type, base))
            allowed = f"('{kind}', 'null')" if column.nullable else f"('{kind}')"
            query = (
                f"SELECT rowid, typeof({column.name}) FROM {table.name} "
                f"WHERE typeof({column.name}) NOT IN {allowed}"
            )
            for row, holds in await driver.execute_fetchall(query):
                found.append(f"table {table.name}, row {row}: {column.name} holds a value of type {holds}")
    return found


async def _missing_guards(driver: aiosqlite.Connection) -> list[str]:
    query = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
    there: dict[str, str] = {row[0]: row[1] for row in await driver.execute_fetchall(query)}
    wanted = {}
    for sql in TRIGGERS:
        name = re.match(r"CREATE TRIGGER (\w+)", sql)
        assert name is not None
        wanted[name[1]] = sql
    return [
        f"trigger {name}: {'is another one' if name in there else 'is missing'}"
        for name, sql in sorted(wanted.items())
        if there.get(name) != sql
    ]
