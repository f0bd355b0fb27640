"""Who may write a run: one row per run, an epoch that only rises, and an end that must be renewed."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import insert, select, update

from dga2d.events import RunId
from dga2d.store import _statements
from dga2d.store._contract import ProcessIdentity
from dga2d.store._database import DatabaseConnection
from dga2d.store._errors import RunBusyError
from dga2d.store._schema import leases

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
