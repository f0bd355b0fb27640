"""Maintenance of a database: remove blobs that nobody names, check everything beside the chains."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import NamedTuple

from sqlalchemy import LargeBinary, bindparam, cast, delete, null, select

from dga2d.events import EventError, RecordedEvent, RunId, blob_digest, referenced_blobs
from dga2d.store import _read
from dga2d.store._database import DatabaseConnection
from dga2d.store._digest_set import DigestSet
from dga2d.store._errors import RunBusyError
from dga2d.store._rows import EncodedDraft, encode_recorded
from dga2d.store._runs import read_lease
from dga2d.store._schema import (
    blobs,
    charges,
    events,
    quotas,
    reservations,
    runs,
    schema_version,
    settlements,
)
from dga2d.store._statements import ENVELOPE_COLUMNS, PreparedStatement

AT_ONCE = 500
DAY_US = 86_400_000_000
"""Microseconds that a clock may have been set back between a run's creation and its first event."""

_blob_page = PreparedStatement(
    select(blobs.c.digest, blobs.c.size, cast(blobs.c.data, LargeBinary))
    .where(blobs.c.digest > bindparam("after"))
    .order_by(blobs.c.digest)
    .limit(AT_ONCE)
)
_size_page = PreparedStatement(
    select(blobs.c.digest, blobs.c.size)
    .where(blobs.c.digest > bindparam("after"))
    .order_by(blobs.c.digest)
    .limit(AT_ONCE)
)
_event_page = PreparedStatement(
    select(*ENVELOPE_COLUMNS, events.c.operation)
    .where(events.c.run_id == bindparam("run_id"), events.c.seq > bindparam("after"))
    .order_by(events.c.seq)
    .limit(AT_ONCE)
)


class Unnamed(NamedTuple):
    """Blobs that no event names."""

    n_blobs: int
    size_bytes: int


async def run_ids(connection: DatabaseConnection) -> list[RunId]:
    """Return all runs."""
    found = await connection.execute(select(runs.c.run_id).order_by(runs.c.run_id))
    return [RunId(run_id) for (run_id,) in found]


async def refuse_if_written(connection: DatabaseConnection, now: int) -> None:
    """Raise RunBusyError if a process is writing one of the runs."""
    for run_id in await run_ids(connection):
        lease = await read_lease(connection, run_id)
        if lease is not None and lease.is_live(now):
            raise RunBusyError(run_id, lease.holder or "another process")


async def collect_unnamed(connection: DatabaseConnection, *, keep: bool) -> Unnamed:
    """Count the blobs that no event names and, unless `keep`, delete them.

    Raises
    ------
    EventError
        An event cannot be decoded; nothing is deleted then.
    """
    count = size_bytes = 0
    with DigestSet() as named:
        for run_id in await run_ids(connection):
            async for page in _own_pages(connection, run_id):
                named.add(digest for event in page for digest in referenced_blobs(event))
        after = ""
        while rows := await connection.fetch(_size_page, after=after):
            after = rows[-1][0]
            lost = [(digest, size) for digest, size in rows if digest not in named]
            count += len(lost)
            size_bytes += sum(size for _, size in lost)
            if lost and not keep:
                doomed = [digest for digest, _ in lost]
                await connection.execute(delete(blobs).where(blobs.c.digest.in_(doomed)))
    return Unnamed(count, size_bytes)


async def _own_pages(connection: DatabaseConnection, run_id: RunId) -> AsyncIterator[list[RecordedEvent]]:
    after = 0
    while page := await _read.page(connection, run_id, (), after, None):
        yield list(map(RecordedEvent._make, page))
        after = page[-1][1]


async def findings(connection: DatabaseConnection, known_version: int) -> list[str]:
    """Return what is wrong with version, blobs, and the tables beside the events of every run
    (`discrepancies`), a line each.

    The chains of the runs are not looked at (``EventStore.verify``).
    """
    versions = [version for (version,) in await connection.execute(select(schema_version.c.version))]
    wrong = f"table schema_version: expected {known_version} alone, got {versions}"
    found = [] if versions == [known_version] else [wrong]
    after = ""
    while rows := await connection.fetch(_blob_page, after=after):
        after = rows[-1][0]
        for digest, size, data in rows:
            if blob_digest(data) != digest or len(data) != size:
                found.append(f"blob {digest}: its bytes have another digest or length")
    for run_id in await run_ids(connection):
        found += await discrepancies(connection, run_id)
    return found


# ---------------------------------------------------------------- tables beside the events


async def discrepancies(connection: DatabaseConnection, run_id: RunId) -> list[str]:
    """Return where the tables beside a run's own events tell otherwise than these, a line each.

    Operations, reservations, charges and settlements follow from the events and must be the same, row by row.
    The creation of the run and the epoch of its lease can only be bounded by the events. What else a lease
    says is of a process that may be gone, and no evidence of anything.
    """
    side, found = _SideRows(), list[str]()
    first_recorded, epoch, after = None, 1, 0
    while rows := await connection.fetch(_event_page, run_id=run_id, after=after):
        after = rows[-1][1]
        for *envelope, operation in rows:
            event = RecordedEvent(*envelope)
            try:
                wanted = encode_recorded(event)
            except EventError as error:
                found.append(f"run {run_id}, event {event.seq}: {error}")
                continue
            if operation != wanted.operation:
                operations = f"operation {operation!r} stands for {wanted.operation!r}"
                found.append(f"run {run_id}, event {event.seq}: {operations}")
            side.expect(wanted, event)
            epoch = getattr(event.payload, "epoch", epoch)  # the last: an imported run had other leases
            first_recorded = event.recorded_at if first_recorded is None else first_recorded
    found += await side.compare(connection, run_id)
    lease = await read_lease(connection, run_id)
    if lease is not None and not (isinstance(lease.epoch, int) and lease.epoch >= epoch):
        found.append(f"run {run_id}: its lease has epoch {lease.epoch}, an event was written under {epoch}")
    query = select(runs.c.created_at).where(runs.c.run_id == run_id)
    created_at = (await connection.execute(query)).scalar_one()
    latest = first_recorded + DAY_US if isinstance(first_recorded, int) else None
    if not isinstance(created_at, int) or created_at < 0 or (latest is not None and created_at > latest):
        found.append(f"run {run_id}: created_at {created_at!r} is not before its first event")
    return found


class _SideRows:
    """The rows beside a run's events that follow from these: reservations, charges, settlements."""

    def __init__(self) -> None:
        self._expected: dict[str, dict[tuple[str, int], tuple[int, int]]] = {
            "reservations": {},
            "charges": {},
            "settlements": {},
        }
        """Table → kind and number → amount (that number itself, for a reservation) and event."""

    def expect(self, draft: EncodedDraft, event: RecordedEvent) -> None:
        """Add what follows from one event."""
        if draft.reservation is not None:
            self._expected["reservations"][draft.reservation] = (draft.reservation[1], event.seq)
        for table, amounts in (("charges", draft.charges), ("settlements", draft.settlements)):
            for kind, number, amount in amounts:
                self._expected[table][kind, number] = (amount, event.seq)

    async def compare(self, connection: DatabaseConnection, run_id: RunId) -> list[str]:
        """Return how the tables differ from what was expected."""
        granted: dict[str, set[int]] = {}
        rows = await connection.execute(
            select(quotas.c.kind, quotas.c.amount).where(quotas.c.run_id == run_id)
        )
        for kind, amount in rows:
            granted.setdefault(kind, set()).add(amount)
        found = []
        for table, amount_column in (
            (reservations, reservations.c.number),
            (charges, charges.c.amount),
            (settlements, settlements.c.amount),
        ):
            expected = dict(self._expected[table.name])
            quota_column = table.c.quota if "quota" in table.c else null()
            query = select(table.c.kind, table.c.number, amount_column, table.c.seq, quota_column)
            for kind, number, amount, seq, quota in await connection.execute(
                query.where(table.c.run_id == run_id)
            ):
                place = f"run {run_id}: {table.name}: {kind} {number}"
                wanted = expected.pop((kind, number), None)
                if wanted is None:
                    found.append(f"{place} belongs to no event")
                elif wanted != (amount, seq):
                    told = f"amount {amount} at event {seq}, the log says {wanted[0]} at event {wanted[1]}"
                    found.append(f"{place} has {told}")
                limits: set[int | None] = {*granted.get(kind, ())} or {None}
                if "quota" in table.c and quota not in limits:
                    found.append(f"{place} was held against a limit of {quota}, which was not granted")
            for (kind, number), (_, seq) in expected.items():
                found.append(f"run {run_id}, event {seq}: {table.name}: {kind} {number} is missing")
        return found
