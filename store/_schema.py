"""Tables, triggers and version of the schema, as SQLAlchemy Core and SQLite see them."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Connection,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    UniqueConstraint,
    func,
    insert,
    inspect,
    select,
)
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql import Insert

from dga2d.store._connections import driver_of, transaction
from dga2d.store._errors import ForeignDatabaseError, StoreError

APPLICATION_ID = 0x44474132
"""``PRAGMA application_id`` of our files, "DGA2"."""
SCHEMA_VERSION = 3
"""The only version there is: 1 and 2 were never released."""

metadata = MetaData()

schema_version = Table("schema_version", metadata, Column("version", Integer, nullable=False))

runs = Table(
    "runs",
    metadata,
    Column("run_id", String, primary_key=True),
    Column("created_at", BigInteger, nullable=False),
)

events = Table(
    "events",
    metadata,
    Column("run_id", String, ForeignKey("runs.run_id"), primary_key=True),
    Column("seq", BigInteger, CheckConstraint("seq >= 1"), primary_key=True),
    Column("event_id", String, nullable=False, unique=True),
    Column("type", String, nullable=False),
    Column("version", Integer, nullable=False),
    Column("agent", String, nullable=False),
    Column("generation", BigInteger),
    Column("caused_by", BigInteger),
    Column("recorded_at", BigInteger, nullable=False),
    Column("operation", String),
    Column("payload", LargeBinary, nullable=False),
    Column("prev_hash", LargeBinary, nullable=False),
    Column("hash", LargeBinary, CheckConstraint("length(hash) = 32"), nullable=False),
    UniqueConstraint("run_id", "operation"),
)

quotas = Table(
    "quotas",
    metadata,
    Column("run_id", String, ForeignKey("runs.run_id"), primary_key=True),
    Column("kind", String, primary_key=True),
    Column("amount", BigInteger, primary_key=True),
)
"""Every amount ever granted; raising a limit adds a row."""

reservations = Table(
    "reservations",
    metadata,
    Column("run_id", String, primary_key=True),
    Column("kind", String, primary_key=True),
    Column("number", BigInteger, primary_key=True),
    Column("quota", BigInteger, nullable=False),
    Column("seq", BigInteger, nullable=False),
    CheckConstraint("number BETWEEN 1 AND quota"),
    ForeignKeyConstraint(["run_id", "kind", "quota"], ["quotas.run_id", "quotas.kind", "quotas.amount"]),
    ForeignKeyConstraint(["run_id", "seq"], ["events.run_id", "events.seq"]),
)
"""Numbered claims on a quota, one row per ``LLMCallReserved``; the database refuses a number twice or beyond
the amount it was granted under."""

charges = Table(
    "charges",
    metadata,
    Column("run_id", String, primary_key=True),
    Column("kind", String, primary_key=True),
    Column("number", BigInteger, primary_key=True),
    Column("amount", BigInteger, CheckConstraint("amount >= 0"), nullable=False),
    Column("quota", BigInteger),
    Column("seq", BigInteger, nullable=False),
    ForeignKeyConstraint(["run_id", "kind", "quota"], ["quotas.run_id", "quotas.kind", "quotas.amount"]),
    ForeignKeyConstraint(["run_id", "seq"], ["events.run_id", "events.seq"]),
)
"""What each call may use at most of a kind (tokens, money); the database refuses a row with which the sum of
what was used, or may still be, exceeds the quota. A null quota is no limit."""

settlements = Table(
    "settlements",
    metadata,
    Column("run_id", String, primary_key=True),
    Column("kind", String, primary_key=True),
    Column("number", BigInteger, primary_key=True),
    Column("amount", BigInteger, CheckConstraint("amount >= 0"), nullable=False),
    Column("seq", BigInteger, nullable=False),
    ForeignKeyConstraint(["run_id", "kind", "number"], ["charges.run_id", "charges.kind", "charges.number"]),
    ForeignKeyConstraint(["run_id", "seq"], ["events.run_id", "events.seq"]),
)
"""What a settled call did use, in place of its charge and never more."""

lineages = Table(
    "lineages",
    metadata,
    Column("run_id", String, ForeignKey("runs.run_id"), primary_key=True),
    Column("ancestor", String, primary_key=True),
    Column("until_seq", BigInteger, nullable=False),
    ForeignKeyConstraint(["ancestor", "until_seq"], ["events.run_id", "events.seq"]),
)
"""Ancestors of forked runs: the events of `ancestor` up to and with `until_seq` are those of the run."""

snapshots = Table(
    "snapshots",
    metadata,
    Column("run_id", String, ForeignKey("runs.run_id"), primary_key=True),
    Column("seq", BigInteger, primary_key=True),
    Column("event_hash", LargeBinary, nullable=False),
    Column("digest", String, nullable=False),
    Column("data", LargeBinary, nullable=False),
)
"""States folded from logs, to be read instead of their events; a cache that may be emptied at any time."""

leases = Table(
    "leases",
    metadata,
    Column("run_id", String, ForeignKey("runs.run_id"), primary_key=True),
    Column("epoch", BigInteger, nullable=False),
    Column("holder", String, nullable=False),
    Column("host", String, nullable=False),
    Column("pid", BigInteger, nullable=False),
    Column("process_started", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
)
"""The last writer of each run. The row outlives a release (``expires_at = 0``), so epochs only rise."""

blobs = Table(
    "blobs",
    metadata,
    Column("digest", String, primary_key=True),
    Column("data", LargeBinary, nullable=False),
    Column("size", BigInteger, nullable=False),
)


insert_blobs: Insert = sqlite_insert(blobs).on_conflict_do_nothing()
insert_quotas: Insert = sqlite_insert(quotas).on_conflict_do_nothing()
insert_events: Insert = insert(events)

_NEVER_CHANGED = {
    "runs": ("UPDATE", "DELETE"),
    "events": ("UPDATE", "DELETE"),
    "reservations": ("UPDATE", "DELETE"),
    "quotas": ("UPDATE", "DELETE"),
    "blobs": ("UPDATE",),
    "charges": ("UPDATE", "DELETE"),
    "settlements": ("UPDATE", "DELETE"),
    "lineages": ("UPDATE", "DELETE"),
}
"""Table → statements that its triggers refuse."""

TRIGGERS = (
    *(
        f"CREATE TRIGGER {table}_refuse_{verb.lower()} BEFORE {verb} ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{table} are append-only'); END"
        for table, verbs in _NEVER_CHANGED.items()
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


async def prepare_schema(connection: AsyncConnection, url: str, *, create: bool) -> bool:
    """See whether the database is a log of this program, and (`create`) make one of an empty file.

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
    async with transaction(await driver_of(connection), url):
        if not await _is_ours(connection, url):  # another process may have been quicker
            await connection.run_sync(metadata.create_all, checkfirst=False)
            for trigger in TRIGGERS:
                await connection.exec_driver_sql(trigger)
            await connection.execute(schema_version.insert().values(version=SCHEMA_VERSION))
            await connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
    return True


async def _is_ours(connection: AsyncConnection, url: str) -> bool:
    """Return false for an empty database. Raises ForeignDatabaseError for any that is not ours."""
    names = await connection.run_sync(_table_names)
    owner = (await connection.exec_driver_sql("PRAGMA application_id")).scalar_one()
    if not names and owner == 0:
        return False
    if owner != APPLICATION_ID or schema_version.name not in names:
        raise ForeignDatabaseError(url, "is a database of another program, not an event log of this one")
    version = (await connection.execute(select(func.max(schema_version.c.version)))).scalar_one()
    if version != SCHEMA_VERSION:
        is_newer = isinstance(version, int) and version > SCHEMA_VERSION
        compared, advice = ("newer than", "; update dga2d") if is_newer else ("not", "")
        known = f"{compared} the {SCHEMA_VERSION} this program knows{advice}"
        raise ForeignDatabaseError(url, f"has schema version {version}, {known}")
    return True


def _table_names(connection: Connection) -> list[str]:
    return inspect(connection).get_table_names()


async def _enter_wal(connection: AsyncConnection) -> None:
    """Switch the file to write-ahead logging (kept in the file)."""
    mode = (await connection.exec_driver_sql("PRAGMA journal_mode = WAL")).scalar_one()
    if mode != "wal":
        raise StoreError(f"SQLite cannot use a write-ahead log here (it chose {mode!r})")
