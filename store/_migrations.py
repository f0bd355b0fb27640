"""Creates the schema and carries an older one forward, one numbered step at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from sqlalchemy import Connection, func, inspect, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from dga2d.store import _sqlite
from dga2d.store._prepared import driver_of
from dga2d.store._tables import charges, lineages, metadata, schema_version, settlements, snapshots
from dga2d.store._transaction import transaction
from dga2d.store.errors import ForeignDatabaseError

Migration = Callable[[AsyncConnection], Awaitable[None]]


async def _create_schema(connection: AsyncConnection) -> None:
    """Version 1: tables, triggers, the mark of this program."""
    later = (charges, settlements, lineages, snapshots)
    tables = [table for table in metadata.sorted_tables if table not in later]
    await connection.run_sync(metadata.create_all, tables=tables, checkfirst=False)
    for trigger in _sqlite.TRIGGERS:
        await connection.exec_driver_sql(trigger)
    await connection.execute(schema_version.insert().values(version=0))
    await _sqlite.claim(connection)


async def _add_charges(connection: AsyncConnection) -> None:
    """Version 2: limits on what calls use, beside the one on their number."""
    await connection.run_sync(metadata.create_all, tables=[charges, settlements], checkfirst=False)
    for trigger in _sqlite.CHARGE_TRIGGERS:
        await connection.exec_driver_sql(trigger)


async def _add_lineages(connection: AsyncConnection) -> None:
    """Version 3: forked runs, whose ancestors' events count as theirs, and snapshots."""
    await connection.run_sync(metadata.create_all, tables=[lineages, snapshots], checkfirst=False)
    for name in _sqlite.TRIGGERS_BEFORE_LINEAGES:
        await connection.exec_driver_sql(f"DROP TRIGGER {name}")
    for trigger in _sqlite.LINEAGE_TRIGGERS:
        await connection.exec_driver_sql(trigger)


LINEAGES = 3
"""Version that brought forked runs and snapshots."""

MIGRATIONS: tuple[Migration, ...] = (_create_schema, _add_charges, _add_lineages)
"""``MIGRATIONS[n]`` leads from version n to n + 1."""


async def migrate(
    connection: AsyncConnection, url: str, migrations: Sequence[Migration] = MIGRATIONS
) -> None:
    """Bring the database to the newest version, all steps or none.

    Raises
    ------
    ForeignDatabaseError
        It is not ours, or newer than this program.
    """
    if await current_version(connection, url, len(migrations)) == len(migrations):
        return
    await _sqlite.enter_wal(connection)
    async with transaction(await driver_of(connection), url):
        version = await current_version(connection, url, len(migrations))
        for migration in migrations[version:]:
            await migration(connection)
        await connection.execute(update(schema_version).values(version=len(migrations)))


async def current_version(connection: AsyncConnection, url: str, newest: int = len(MIGRATIONS)) -> int:
    """Version of the schema; 0 for an empty database.

    Raises
    ------
    ForeignDatabaseError
        It is not ours, or newer than `newest`.
    """
    names = await connection.run_sync(_table_names)
    owner = await _sqlite.application_id(connection)
    if not names and owner == 0:
        return 0
    if owner != _sqlite.APPLICATION_ID or schema_version.name not in names:
        raise ForeignDatabaseError(url, "is a database of another program, not an event log of this one")
    version = (await connection.execute(select(func.max(schema_version.c.version)))).scalar_one()
    if version > newest:
        raise ForeignDatabaseError(
            url, f"has schema version {version}, newer than the {newest} this program knows; update dga2d"
        )
    return int(version)


def _table_names(connection: Connection) -> list[str]:
    return inspect(connection).get_table_names()
