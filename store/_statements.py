"""The statements of the hot paths: Core statements compiled once and handed to the driver itself.

A statement run through SQLAlchemy's adapter takes three or four trips to the connection's thread and a new
compilation context; handed to the driver it takes one. Only appending and reading events go this way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import aiosqlite
from sqlalchemy import LargeBinary, and_, bindparam, cast, func, insert, select, update
from sqlalchemy.dialects.sqlite.aiosqlite import dialect
from sqlalchemy.sql import ClauseElement
from sqlalchemy.sql.compiler import SQLCompiler

from dga2d.store import _schema
from dga2d.store._schema import charges, events, leases, reservations, settlements


class PreparedStatement:
    """A compiled statement; `names` are its parameters in the order in which the driver wants them."""

    def __init__(self, statement: ClauseElement) -> None:
        compiled = statement.compile(dialect=dialect())
        assert isinstance(compiled, SQLCompiler)
        self.sql = str(compiled)
        self.names: tuple[str, ...] = tuple(compiled.positiontup or ())
        self._constants: Mapping[str, Any] = compiled.params

    def bound(self, **parameters: Any) -> tuple[str, list[Any]]:
        """Return text and parameters, for the driver's own connection."""
        return self.sql, self._in_order(parameters)

    async def fetch(self, driver: aiosqlite.Connection, **parameters: Any) -> list[Sequence[Any]]:
        """Run it once and return all rows as tuples."""
        return list(await driver.execute_fetchall(self.sql, self._in_order(parameters)))

    async def change(self, driver: aiosqlite.Connection, **parameters: Any) -> int:
        """Run it once and return how many rows it changed."""
        return (await driver.execute(self.sql, self._in_order(parameters))).rowcount

    def of(self, rows: Sequence[Sequence[Any]]) -> tuple[str, Sequence[Sequence[Any]]]:
        """Return text and rows, to be run for every row."""
        return self.sql, rows

    async def insert(self, driver: aiosqlite.Connection, rows: Iterable[Sequence[Any]]) -> None:
        """Run it for every row; values stand in the order of `names`."""
        await driver.executemany(self.sql, rows)

    def _in_order(self, parameters: Mapping[str, Any]) -> list[Any]:
        values = {**self._constants, **parameters}
        return [values[name] for name in self.names]


insert_events = PreparedStatement(insert(events))
insert_reservations = PreparedStatement(insert(reservations))
insert_charges = PreparedStatement(insert(charges))
insert_settlements = PreparedStatement(insert(settlements))
insert_blobs = PreparedStatement(_schema.insert_blobs)

guard = PreparedStatement(
    select(leases.c.epoch, events.c.seq, events.c.hash)
    .select_from(leases.outerjoin(events, events.c.run_id == leases.c.run_id))
    .where(leases.c.run_id == bindparam("run_id"))
    .order_by(events.c.seq.desc())
    .limit(1)
)
"""Epoch of the run's lease, number and hash of its last event (nulls if there is none)."""

find_operation = PreparedStatement(
    select(events.c.seq).where(
        events.c.run_id == bindparam("run_id"),
        events.c.operation == bindparam("operation"),
        events.c.seq <= bindparam("until"),
    )
)
"""Number of the event that completed an operation."""

charged = PreparedStatement(
    select(func.coalesce(func.sum(func.coalesce(settlements.c.amount, charges.c.amount)), 0))
    .select_from(
        charges.outerjoin(
            settlements,
            and_(
                settlements.c.run_id == charges.c.run_id,
                settlements.c.kind == charges.c.kind,
                settlements.c.number == charges.c.number,
                settlements.c.seq <= bindparam("until_settled"),
            ),
        )
    )
    .where(
        charges.c.run_id == bindparam("run_id"),
        charges.c.kind == bindparam("charge_kind"),
        charges.c.seq <= bindparam("until"),
    )
)
"""What the calls of a run have used of a kind, or may still use, after event `until`."""

extend_lease = PreparedStatement(
    update(leases)
    .where(leases.c.run_id == bindparam("run"), leases.c.epoch == bindparam("writer_epoch"))
    .values(expires_at=bindparam("end"))
)
"""Move the end of a lease; changes a row only if the epoch still holds."""

# The casts give bytes also where somebody's edit turned them into text, so that they can be compared.
ENVELOPE_COLUMNS = (
    events.c.run_id,
    events.c.seq,
    events.c.event_id,
    events.c.type,
    events.c.version,
    events.c.agent,
    events.c.generation,
    events.c.caused_by,
    events.c.recorded_at,
    cast(events.c.payload, LargeBinary),
    cast(events.c.prev_hash, LargeBinary),
    cast(events.c.hash, LargeBinary),
)
"""The columns of an event in the order of the fields of ``RecordedEvent``."""

page = PreparedStatement(
    select(*ENVELOPE_COLUMNS)
    .where(
        events.c.run_id == bindparam("run_id"),
        events.c.seq > bindparam("after"),
        events.c.seq <= bindparam("until"),
    )
    .order_by(events.c.seq)
    .limit(bindparam("size"))
)
"""The next events of a run."""
