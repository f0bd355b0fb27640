"""What a run was granted, by kind."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from dga2d.events import RunId
from dga2d.store import _sqlite
from dga2d.store._tables import quotas as quota_table


async def grant(connection: AsyncConnection, run_id: RunId, quotas: Mapping[str, int]) -> dict[str, int]:
    """Write down new amounts; returns the amount that holds now for every kind."""
    if rows := [{"run_id": run_id, "kind": kind, "amount": amount} for kind, amount in quotas.items()]:
        await connection.execute(_sqlite.insert_quotas, rows)
    granted = await connection.execute(
        select(quota_table.c.kind, func.max(quota_table.c.amount))
        .where(quota_table.c.run_id == run_id)
        .group_by(quota_table.c.kind)
    )
    return {**{kind: int(amount) for kind, amount in granted}, **quotas}
