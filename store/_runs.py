"""Data of a run beside its events: the runs it was forked from, quotas, snapshots, and who may write it (one
row per run, an epoch that only rises, and an end that must be renewed).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from sqlalchemy import LargeBinary, cast, delete, func, insert, select, update

from dga2d.events import RunId
from dga2d.store import _statements
from dga2d.store._contract import ProcessIdentity, Snapshot
from dga2d.store._database import DatabaseConnection
from dga2d.store._errors import RunBusyError, UnknownEventError
from dga2d.store._schema import events, leases, lineages, quotas, snapshots
from dga2d.store._schema import quotas as quota_table


class Segment(NamedTuple):
    """A part of a log, from the end of the segment before up to `until`; its events belong to `run_id`."""

    run_id: RunId
    until: int


Lineage = tuple[Segment, ...]
"""Ancestors from the first event on; the last is the parent. Empty for a run that is no fork."""


async def read_lineage(connection: DatabaseConnection, run_id: RunId) -> Lineage:
    """Return where the first events of a run lie."""
    rows = await connection.execute(
        select(lineages.c.ancestor, lineages.c.until_seq)
        .where(lineages.c.run_id == run_id)
        .order_by(lineages.c.until_seq)
    )
    return tuple(Segment(RunId(ancestor), until) for ancestor, until in rows)


def prefix(of: Lineage, run_id: RunId, seq: int) -> Lineage:
    """Return the lineage of a fork of `run_id`, whose own lineage is `of`, after event `seq`."""
    before = tuple(segment for segment in of if segment.until < seq)
    holder = next((segment.run_id for segment in of if segment.until >= seq), run_id)
    return (*before, Segment(holder, seq))


async def write_lineage(connection: DatabaseConnection, run_id: RunId, lineage: Lineage) -> None:
    """Store the lineage of a new run.

    Raises
    ------
    UnknownEventError
        There is no such event to fork after.
    """
    for ancestor, until in lineage:
        there = select(events.c.seq).where(events.c.run_id == ancestor, events.c.seq == until)
        if (await connection.execute(there)).first() is None:
            raise UnknownEventError(ancestor, until)
        await connection.execute(insert(lineages).values(run_id=run_id, ancestor=ancestor, until_seq=until))


async def inherit_quotas(connection: DatabaseConnection, run_id: RunId, parent: RunId) -> None:
    """Grant a fork what its parent was granted."""
    granted = select(quotas.c.kind, quotas.c.amount).where(quotas.c.run_id == parent)
    for kind, amount in (await connection.execute(granted)).all():
        await connection.execute(insert(quotas).values(run_id=run_id, kind=kind, amount=amount))


async def grant(connection: DatabaseConnection, run_id: RunId, quotas: Mapping[str, int]) -> dict[str, int]:
    """Store new amounts and return the one that holds now for every kind."""
    if rows := [(run_id, kind, amount) for kind, amount in quotas.items()]:
        await connection.insert(_statements.insert_quotas, rows)
    granted = await connection.execute(
        select(quota_table.c.kind, func.max(quota_table.c.amount))
        .where(quota_table.c.run_id == run_id)
        .group_by(quota_table.c.kind)
    )
    return {**{kind: int(amount) for kind, amount in granted}, **quotas}


KEPT = 2
"""Snapshots that remain of each run: should the last be wrong, there is one more."""


async def put_snapshot(connection: DatabaseConnection, run_id: RunId, snapshot: Snapshot) -> None:
    """Store a snapshot in place of the oldest."""
    mine = snapshots.c.run_id == run_id
    found = await connection.execute(select(snapshots.c.seq).where(mine).order_by(snapshots.c.seq.desc()))
    there = [seq for (seq,) in found if seq != snapshot.seq]
    keep = sorted([snapshot.seq, *there], reverse=True)[:KEPT]
    await connection.execute(
        delete(snapshots).where(mine, snapshots.c.seq.not_in([s for s in keep if s != snapshot.seq]))
    )
    if snapshot.seq in keep:
        await connection.execute(insert(snapshots).values(run_id=run_id, **snapshot._asdict()))


async def read_snapshots(
    connection: DatabaseConnection, run_id: RunId, lineage: Lineage, until: int | None
) -> list[Snapshot]:
    """Return the snapshots of a run and of what it shares with its ancestors, latest first."""
    last = 2**63 - 1 if until is None else until
    found = []
    for holder, end in (*lineage, Segment(run_id, last)):
        statement = select(
            snapshots.c.seq,
            cast(snapshots.c.event_hash, LargeBinary),
            snapshots.c.digest,
            cast(snapshots.c.data, LargeBinary),
        ).where(snapshots.c.run_id == holder, snapshots.c.seq <= min(end, last))
        found += [Snapshot(*row) for row in await connection.execute(statement)]
    return sorted(found, key=lambda snapshot: snapshot.seq, reverse=True)


LEASE_US = 30_000_000
"""Microseconds a lease lasts without being renewed."""
RENEWAL_S = 10.0
"""Seconds between renewals."""


class LeaseState(NamedTuple):
    """A row of the table of leases."""

    epoch: int
    holder: str
    process: ProcessIdentity
    expires_at: int

    def is_live(self, now: int) -> bool:
        """Return whether the holder may still write: not released, not expired, its process not known to be
        gone."""
        return self.expires_at > now and not self.process.is_gone()


async def read_lease(
    connection: DatabaseConnection, run_id: RunId, *, locked: bool = False
) -> LeaseState | None:
    """Return the run's last lease, live or not; ``None`` if it never had one. `locked`: nobody changes it
    until the transaction ends."""
    query = select(leases).where(leases.c.run_id == run_id)
    row = (await connection.execute(query.with_for_update() if locked else query)).one_or_none()
    if row is None:
        return None
    process = ProcessIdentity(row.host, row.pid, row.process_started)
    return LeaseState(row.epoch, row.holder, process, row.expires_at)


async def take_lease(
    connection: DatabaseConnection, run_id: RunId, holder: str, process: ProcessIdentity, now: int
) -> int:
    """Take the lease inside a write transaction; returns the new epoch, one above the last.

    Raises
    ------
    RunBusyError
        A live process holds it.
    """
    last = await read_lease(connection, run_id, locked=True)
    if last is not None and last.is_live(now):
        host = last.process.host.partition("/")[0]
        raise RunBusyError(run_id, f"{last.holder or 'another writer'} (pid {last.process.pid} on {host})")
    epoch = 1 if last is None else last.epoch + 1
    values = {
        "epoch": epoch,
        "holder": holder,
        "host": process.host,
        "pid": process.pid,
        "process_started": process.started,
        "expires_at": now + LEASE_US,
    }
    if last is None:
        await connection.execute(insert(leases).values(run_id=run_id, **values))
    else:
        await connection.execute(update(leases).where(leases.c.run_id == run_id).values(**values))
    return epoch


async def extend_lease(connection: DatabaseConnection, run_id: RunId, epoch: int, expires_at: int) -> bool:
    """Set the end of the lease; false when `epoch` is over. ``expires_at = 0`` releases it."""
    changed = await connection.change(
        _statements.extend_lease, run=run_id, writer_epoch=epoch, end=expires_at
    )
    return changed == 1
