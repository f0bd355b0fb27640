"""The cache of folded states."""

from __future__ import annotations

from sqlalchemy import LargeBinary, cast, delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from dga2d.events import RunId
from dga2d.store._lineage import Lineage, Segment
from dga2d.store._tables import snapshots
from dga2d.store.contract import Snapshot

KEPT = 2
"""Snapshots that remain of each run: should the last be wrong, there is one more."""


async def put_snapshot(connection: AsyncConnection, run_id: RunId, snapshot: Snapshot) -> None:
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
    connection: AsyncConnection, run_id: RunId, lineage: Lineage, until: int | None
) -> list[Snapshot]:
    """Snapshots of a run and of what it shares with its ancestors, latest first."""
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
