"""What only SQLite understands: triggers, transactions, journals, error codes."""

from __future__ import annotations

import sqlite3

import aiosqlite
from sqlalchemy import insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql import Insert

from dga2d.store import _connections
from dga2d.store._tables import blobs, events, quotas
from dga2d.store.errors import ForeignDatabaseError, StoreError, StoreFullError, StoreLockedError

APPLICATION_ID = 0x44474132
"""``PRAGMA application_id`` of our files, "DGA2"."""

TRIGGERS = (
    *(
        f"CREATE TRIGGER {table}_refuse_{verb.lower()} BEFORE {verb} ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{table} are append-only'); END"
        for table, verbs in {
            "runs": ("UPDATE", "DELETE"),
            "events": ("UPDATE", "DELETE"),
            "reservations": ("UPDATE", "DELETE"),
            "quotas": ("UPDATE", "DELETE"),
            "blobs": ("UPDATE",),
        }.items()
        for verb in verbs
    ),
    # REPLACE deletes without firing delete triggers on connections that did not set recursive_triggers.
    "CREATE TRIGGER events_only_at_the_end BEFORE INSERT ON events "
    "WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM events WHERE run_id = NEW.run_id) "
    "OR EXISTS (SELECT 1 FROM events WHERE event_id = NEW.event_id) "
    "OR EXISTS (SELECT 1 FROM events WHERE run_id = NEW.run_id AND operation = NEW.operation) "
    "BEGIN SELECT RAISE(ABORT, 'events are append-only'); END",
    "CREATE TRIGGER reservations_only_once BEFORE INSERT ON reservations "
    "WHEN EXISTS (SELECT 1 FROM reservations "
    "WHERE run_id = NEW.run_id AND kind = NEW.kind AND number = NEW.number) "
    "BEGIN SELECT RAISE(ABORT, 'reservations are append-only'); END",
)

CHARGE_TRIGGERS = (
    *(
        f"CREATE TRIGGER {table}_refuse_{verb.lower()} BEFORE {verb} ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{table} are append-only'); END"
        for table in ("charges", "settlements")
        for verb in ("UPDATE", "DELETE")
    ),
    *(
        f"CREATE TRIGGER {table}_only_once BEFORE INSERT ON {table} "
        f"WHEN EXISTS (SELECT 1 FROM {table} "
        "WHERE run_id = NEW.run_id AND kind = NEW.kind AND number = NEW.number) "
        f"BEGIN SELECT RAISE(ABORT, '{table} are append-only'); END"
        for table in ("charges", "settlements")
    ),
    "CREATE TRIGGER charges_within_quota BEFORE INSERT ON charges "
    "WHEN NEW.quota < NEW.amount + (SELECT coalesce(sum(coalesce(s.amount, c.amount)), 0) "
    "FROM charges c LEFT JOIN settlements s USING (run_id, kind, number) "
    "WHERE c.run_id = NEW.run_id AND c.kind = NEW.kind) "
    "BEGIN SELECT RAISE(ABORT, 'the quota is reached'); END",
    "CREATE TRIGGER settlements_within_charge BEFORE INSERT ON settlements "
    "WHEN NEW.amount > (SELECT amount FROM charges "
    "WHERE run_id = NEW.run_id AND kind = NEW.kind AND number = NEW.number) "
    "BEGIN SELECT RAISE(ABORT, 'more than was charged'); END",
)

TRIGGERS_BEFORE_LINEAGES = (
    "events_only_at_the_end",
    "reservations_only_once",
    "charges_only_once",
    "settlements_only_once",
    "charges_within_quota",
)
"""What `LINEAGE_TRIGGERS` takes the place of."""

LINEAGE_TRIGGERS = (
    *(
        f"CREATE TRIGGER lineages_refuse_{verb.lower()} BEFORE {verb} ON lineages "
        "BEGIN SELECT RAISE(ABORT, 'lineages are append-only'); END"
        for verb in ("UPDATE", "DELETE")
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
)

insert_blobs: Insert = sqlite_insert(blobs).on_conflict_do_nothing()
insert_quotas: Insert = sqlite_insert(quotas).on_conflict_do_nothing()
insert_events: Insert = insert(events)


async def begin(driver: aiosqlite.Connection) -> None:
    """Start a transaction that holds the write lock from its first moment."""
    await driver.execute_fetchall("BEGIN IMMEDIATE")


async def commit(driver: aiosqlite.Connection) -> None:
    """Make the transaction durable."""
    await driver.commit()


def commit_now(connection: sqlite3.Connection) -> None:
    """The same, in the connection's own thread."""
    connection.commit()


async def rollback(driver: aiosqlite.Connection) -> None:
    """End the transaction; does nothing where SQLite ended it already by itself."""
    try:
        await driver.rollback()
    except ValueError:
        # aiosqlite's error on a closed connection: a cancelled statement closes it, and with it goes the
        # transaction.
        return


async def enter_wal(connection: AsyncConnection) -> None:
    """Switch the file to write-ahead logging (kept in the file)."""
    mode = (await connection.exec_driver_sql("PRAGMA journal_mode = WAL")).scalar_one()
    if mode != "wal":
        raise StoreError(f"SQLite cannot use a write-ahead log here (it chose {mode!r})")


async def application_id(connection: AsyncConnection) -> int:
    """Which program claims the file; 0 for nobody."""
    return int((await connection.exec_driver_sql("PRAGMA application_id")).scalar_one())


async def claim(connection: AsyncConnection) -> None:
    """Mark the file as ours."""
    await connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")


def translated(error: sqlite3.Error, url: str) -> StoreError:
    """Our error for a driver error."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    text = str(error)
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return StoreFullError(f"{url}: {text}; nothing acknowledged is lost, free some space and resume")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreLockedError(
            f"{url}: another process kept the database locked for over {_connections.BUSY_TIMEOUT_S:g} s; "
            "end it (backup tool? other run?) and try again"
        )
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_CANTOPEN):
        return ForeignDatabaseError(url, text)
    if code == sqlite3.SQLITE_READONLY:
        return StoreError(f"{url}: {text}; it was opened read-only or the file may not be written")
    return StoreError(f"{url}: {text}")
