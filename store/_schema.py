"""Tables of the schema, as SQLAlchemy Core sees them. What else guards them is each database's own
(``_sqlite_schema``, ``_postgresql_schema``)."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    UniqueConstraint,
)

metadata = MetaData()

schema_version = Table("schema_version", metadata, Column("version", Integer, nullable=False))

runs = Table(
    "runs",
    metadata,
    Column("run_id", String, primary_key=True),
    Column("created_at", BigInteger, nullable=False),
)

run_of_events = ForeignKeyConstraint(["run_id"], ["runs.run_id"]).ddl_if(dialect="sqlite")
"""PostgreSQL would look the run up for every single event; there the trigger of `events` does so, once for
all that are appended at once."""

events = Table(
    "events",
    metadata,
    Column("run_id", String, primary_key=True),
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
    run_of_events,
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

APPEND_ONLY = {
    "runs": ("UPDATE", "DELETE"),
    "events": ("UPDATE", "DELETE"),
    "reservations": ("UPDATE", "DELETE"),
    "quotas": ("UPDATE", "DELETE"),
    "blobs": ("UPDATE",),
    "charges": ("UPDATE", "DELETE"),
    "settlements": ("UPDATE", "DELETE"),
    "lineages": ("UPDATE", "DELETE"),
}
"""Table → statements that every database refuses."""
