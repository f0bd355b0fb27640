"""Forked runs: whose events come first, and up to where.

A fork has no copies of its parent's events. Its log is the parent's up to the fork, read through the table
of lineages, and its own from there on; the chain goes on from the parent's hash.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from dga2d.events import RunId
from dga2d.store._tables import events, lineages, quotas
from dga2d.store.errors import UnknownEventError


class Segment(NamedTuple):
    """A stretch of a log, from behind the segment before up to `until`, whose events lie with `run_id`."""

    run_id: RunId
    until: int


Lineage = tuple[Segment, ...]
"""Ancestors from the first event on; the last is the parent. Empty for a run that is no fork."""


async def read_lineage(connection: AsyncConnection, run_id: RunId) -> Lineage:
    """Where the first events of a run lie."""
    rows = await connection.execute(
        select(lineages.c.ancestor, lineages.c.until_seq)
        .where(lineages.c.run_id == run_id)
        .order_by(lineages.c.until_seq)
    )
    return tuple(Segment(RunId(ancestor), until) for ancestor, until in rows)


def prefix(of: Lineage, run_id: RunId, seq: int) -> Lineage:
    """Lineage of a fork of `run_id`, whose own lineage is `of`, after event `seq`."""
    before = tuple(segment for segment in of if segment.until < seq)
    holder = next((segment.run_id for segment in of if segment.until >= seq), run_id)
    return (*before, Segment(holder, seq))


async def write_lineage(connection: AsyncConnection, run_id: RunId, lineage: Lineage) -> None:
    """Write down the lineage of a new run.

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


async def inherit_quotas(connection: AsyncConnection, run_id: RunId, parent: RunId) -> None:
    """Grant a fork what its parent was granted."""
    granted = select(quotas.c.kind, quotas.c.amount).where(quotas.c.run_id == parent)
    for kind, amount in (await connection.execute(granted)).all():
        await connection.execute(insert(quotas).values(run_id=run_id, kind=kind, amount=amount))
