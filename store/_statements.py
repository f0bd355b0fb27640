"""The statements of the hot paths: Core statements compiled once and handed to the driver itself.

A statement run through SQLAlchemy's adapter takes three or four trips to the connection's thread and a new
compilation context; handed to the driver it takes one. Only appending and reading events go this way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Dialect, LargeBinary, Table, and_, bindparam, cast, func, select, update
from sqlalchemy.sql import ClauseElement
from sqlalchemy.sql.compiler import SQLCompiler

from dga2d.store._schema import blobs, charges, events, leases, quotas, reservations, runs, settlements

SqlRow = tuple[Any, ...]
"""Values in the order of the table's or the query's columns."""


class CompiledStatement(NamedTuple):
    """A statement as one database wants it."""

    sql: str
    names: tuple[str, ...]
    """Parameters in the order in which the driver wants them."""
    constants: Mapping[str, Any]

    def in_order(self, parameters: Mapping[str, Any]) -> list[Any]:
        """Return the values of all parameters."""
        values = {**self.constants, **parameters}
        return [values[name] for name in self.names]


class PreparedStatement:
    """A statement that is compiled once per kind of database."""

    def __init__(self, statement: ClauseElement) -> None:
        self._statement = statement
        self._compiled: dict[str, CompiledStatement] = {}

    def compiled(self, dialect: Dialect) -> CompiledStatement:
        """Return the statement as that database wants it."""
        found = self._compiled.get(dialect.name)
        if found is None:
            compiled = self._statement.compile(dialect=dialect)
            assert isinstance(compiled, SQLCompiler)
            found = CompiledStatement(str(compiled), tuple(compiled.positiontup or ()), compiled.params)
            self._compiled[dialect.name] = found
        return found


@dataclass(frozen=True)
class RowInsertion:
    """The insertion of whole rows, many at once."""

    table: Table
    ignores_present: bool = False
    """A row whose key is there already is left as it is."""


Insertion = tuple[RowInsertion, Sequence[SqlRow]]
"""An insertion and its rows."""


insert_runs = RowInsertion(runs)
insert_events = RowInsertion(events)
insert_reservations = RowInsertion(reservations)
insert_charges = RowInsertion(charges)
insert_settlements = RowInsertion(settlements)
insert_blobs = RowInsertion(blobs, ignores_present=True)
insert_quotas = RowInsertion(quotas, ignores_present=True)

_last = (
    select(events.c.seq, events.c.hash)
    .where(events.c.run_id == leases.c.run_id)
    .order_by(events.c.seq.desc())
)
guard = PreparedStatement(
    select(
        leases.c.epoch,
        _last.with_only_columns(events.c.seq).limit(1).scalar_subquery(),
        _last.with_only_columns(events.c.hash).limit(1).scalar_subquery(),
    )
    .where(leases.c.run_id == bindparam("run_id"))
    .with_for_update(of=leases)
)
"""Epoch of the run's lease, number and hash of its last event (nulls if there is none). Holds the lease where
the database locks rows."""

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
