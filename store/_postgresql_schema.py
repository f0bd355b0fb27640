"""The schema in PostgreSQL: the triggers that guard its tables, its making, and what can be wrong with it.

Triggers look at whole statements, since one append is one: what each does costs once, not once per row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import (
    CheckConstraint,
    Constraint,
    ForeignKeyConstraint,
    PrimaryKeyConstraint,
    UniqueConstraint,
    and_,
    func,
    select,
    text,
)
from sqlalchemy.schema import CreateSchema

from dga2d.store._database import DatabaseConnection, check_version
from dga2d.store._errors import ForeignDatabaseError
from dga2d.store._schema import APPEND_ONLY, metadata, run_of_events, schema_version

SCHEMA_VERSION = 4
"""The only one that is written. 3 had the run of an event looked up by a reference, or by a trigger that took
longer; both called themselves 3 and are brought up to date."""
OUTDATED = (3,)
"""Versions whose tables are today's, and whose guards can be made so."""

MARK = "event logs of dga2d"
"""Comment on the table ``schema_version`` by which a database is known as ours."""


class Trigger(NamedTuple):
    """A trigger and the body of its function."""

    name: str
    table: str
    when: str
    function: str

    def definition(self) -> str:
        """Return its statement as the server itself writes it."""
        return (
            f"CREATE TRIGGER {self.name} {self.when.format(self.table)} FOR EACH STATEMENT "
            f"EXECUTE FUNCTION {self.function}()"
        )


_BEFORE = "BEFORE {verb} ON {{}}"
_AFTER = "AFTER INSERT ON {} REFERENCING NEW TABLE AS added"
_ROWS_OF_CALLS = ("reservations", "charges", "settlements")

_ONLY_ONCE = """
BEGIN
  IF EXISTS (SELECT 1 FROM added a JOIN lineages l ON l.run_id = a.run_id
             JOIN {table} p ON p.run_id = l.ancestor AND p.kind = a.kind AND p.number = a.number
             AND p.seq <= l.until_seq) THEN
    RAISE EXCEPTION '{table} are append-only' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END"""

FUNCTIONS = {
    "dga2d_refuse_change": """
BEGIN
  RAISE EXCEPTION '% are append-only', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END""",
    # One query: each costs an append more than several of the rows that it looks at. One run per statement:
    # grouping them would take as long again, and nobody appends to two.
    "dga2d_events_only_at_the_end": """
BEGIN
  IF EXISTS (
    SELECT 1 FROM (SELECT min(run_id) AS run_id, max(run_id) AS other, min(seq) AS first, max(seq) AS last,
                   count(*) AS n FROM added) a
    WHERE a.n > 0 AND (
      a.run_id <> a.other OR a.last - a.first + 1 <> a.n
      OR NOT EXISTS (SELECT 1 FROM runs r WHERE r.run_id = a.run_id)
      OR a.first <> 1 + coalesce(
        (SELECT e.seq FROM events e WHERE e.run_id = a.run_id AND e.seq < a.first
         ORDER BY e.seq DESC LIMIT 1),
        (SELECT max(l.until_seq) FROM lineages l WHERE l.run_id = a.run_id), 0)
      OR EXISTS (SELECT 1 FROM lineages l WHERE l.run_id = a.run_id AND EXISTS (
        SELECT 1 FROM added JOIN events e ON e.run_id = l.ancestor AND e.operation = added.operation
        WHERE e.seq <= l.until_seq)))
  ) THEN
    RAISE EXCEPTION 'events are append-only, behind the last of their run'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END""",
    "dga2d_lineages_only_of_new_runs": """
BEGIN
  IF EXISTS (SELECT 1 FROM added a JOIN events e ON e.run_id = a.run_id) THEN
    RAISE EXCEPTION 'lineages are append-only' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END""",
    **{f"dga2d_{table}_only_once": _ONLY_ONCE.format(table=table) for table in _ROWS_OF_CALLS},
    # The row of the run makes transactions that charge it take turns, each seeing what was charged before.
    "dga2d_charges_within_quota": """
DECLARE
  charged record;
  total numeric;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'charges are inserted under READ COMMITTED'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  FOR charged IN SELECT run_id, kind, min(quota) AS quota FROM added WHERE quota IS NOT NULL
                 GROUP BY run_id, kind ORDER BY run_id, kind LOOP
    PERFORM 1 FROM runs WHERE run_id = charged.run_id FOR NO KEY UPDATE;
    SELECT coalesce(sum(coalesce(s.amount, c.amount)), 0) INTO total
      FROM charges c LEFT JOIN settlements s USING (run_id, kind, number)
      WHERE c.run_id = charged.run_id AND c.kind = charged.kind;
    SELECT total + coalesce(sum(coalesce(s.amount, c.amount)), 0) INTO total
      FROM lineages l
      JOIN charges c ON c.run_id = l.ancestor AND c.kind = charged.kind AND c.seq <= l.until_seq
      LEFT JOIN settlements s ON s.run_id = c.run_id AND s.kind = c.kind AND s.number = c.number
        AND s.seq <= l.until_seq
      WHERE l.run_id = charged.run_id;
    IF total > charged.quota THEN
      RAISE EXCEPTION 'the quota is reached' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
  END LOOP;
  RETURN NULL;
END""",
    "dga2d_settlements_within_charge": """
BEGIN
  IF EXISTS (SELECT 1 FROM added a JOIN charges c USING (run_id, kind, number) WHERE a.amount > c.amount) THEN
    RAISE EXCEPTION 'more than was charged' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END""",
}
"""Name → body of the triggers' functions."""

GUARDS = (
    *(
        Trigger(f"{table}_refuse_{verb.lower()}", table, _BEFORE.format(verb=verb), "dga2d_refuse_change")
        for table, verbs in APPEND_ONLY.items()
        for verb in (*verbs, "TRUNCATE")
    ),
    Trigger("events_only_at_the_end", "events", _AFTER, "dga2d_events_only_at_the_end"),
    Trigger("lineages_only_of_new_runs", "lineages", _AFTER, "dga2d_lineages_only_of_new_runs"),
    *(Trigger(f"{table}_only_once", table, _AFTER, f"dga2d_{table}_only_once") for table in _ROWS_OF_CALLS),
    Trigger("charges_within_quota", "charges", _AFTER, "dga2d_charges_within_quota"),
    Trigger("settlements_within_charge", "settlements", _AFTER, "dga2d_settlements_within_charge"),
)
"""Triggers that keep every program, not only this one, from changing what was written."""


async def prepare_schema(
    connection: DatabaseConnection, url: str, *, create: bool, is_read_only: bool
) -> bool:
    """See whether the database is a log of this program, and (`create`) make one of an empty one; bring an
    outdated one up to date.

    What counts is the first schema of the search path. Returns false for an empty one that stays empty.

    Raises
    ------
    ForeignDatabaseError
        It is not ours, of another version, or outdated and not ours to change.
    """
    version = await _version(connection, url)
    if version is None and not create:
        return False
    if version == SCHEMA_VERSION:
        return True
    if version is not None and (is_read_only or not await _is_owner(connection)):
        raise ForeignDatabaseError(url, _OUTDATED.format(version, SCHEMA_VERSION))
    async with connection.transaction():
        await _take_turn(connection)
        version = await _version(connection, url)  # another process may have been quicker
        if version is None:
            await _make(connection)
        elif version != SCHEMA_VERSION:
            await _bring_up_to_date(connection)
    return True


_OUTDATED = (
    "has schema version {} of an earlier dga2d; the owner of its tables brings it to version {} by any "
    "command that writes, `dga2d gc` for one"
)


async def _is_owner(connection: DatabaseConnection) -> bool:
    owned = text("SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = to_regclass('events')")
    return bool((await connection.execute(owned)).scalar_one())


async def _make(connection: DatabaseConnection) -> None:
    await connection.core.run_sync(metadata.create_all, checkfirst=False)
    for statement in (*_functions("CREATE"), *(guard.definition() for guard in GUARDS)):
        await connection.core.exec_driver_sql(statement)
    await connection.execute(schema_version.insert().values(version=SCHEMA_VERSION))
    await connection.core.exec_driver_sql(f"COMMENT ON TABLE schema_version IS '{MARK}'")


async def _bring_up_to_date(connection: DatabaseConnection) -> None:
    """Replace what version 3 had otherwise; writers of an earlier dga2d go on until they end."""
    reference = "ALTER TABLE events DROP CONSTRAINT IF EXISTS events_run_id_fkey"
    for statement in (*_functions("CREATE OR REPLACE"), reference):
        await connection.core.exec_driver_sql(statement)
    await connection.execute(schema_version.update().values(version=SCHEMA_VERSION))


async def prepare_namespace(connection: DatabaseConnection, name: str) -> None:
    """Create the server's schema of that name where it is missing."""
    async with connection.transaction():
        await _take_turn(connection)  # two that look at once would both create it, and one would fail
        await connection.execute(CreateSchema(name, if_not_exists=True))


async def _take_turn(connection: DatabaseConnection) -> None:
    """Wait until no other transaction prepares a database of this server."""
    await connection.execute(select(func.pg_advisory_xact_lock(func.hashtext(MARK))))


def _functions(create: str) -> Iterator[str]:
    for name, body in FUNCTIONS.items():
        yield (
            f"{create} FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql "
            f"SET search_path FROM CURRENT AS $body${body}$body$"
        )


_FOUND = text(
    "WITH mine AS (SELECT oid, relname FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm', 'f') "
    "AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())) "
    "SELECT (SELECT description FROM pg_description d JOIN mine ON d.objoid = mine.oid AND d.objsubid = 0 "
    "AND d.classoid = 'pg_class'::regclass WHERE relname = 'schema_version'), "
    "(SELECT count(*) FROM mine WHERE NOT EXISTS "
    "(SELECT 1 FROM pg_depend p WHERE p.objid = mine.oid AND p.deptype = 'e'))"  # of an extension
)
"""Mark and number of tables, in one statement: another process may be making them."""


async def _version(connection: DatabaseConnection, url: str) -> int | None:
    """Return the version, an outdated one perhaps; ``None`` for an empty schema. Raises ForeignDatabaseError
    for any other."""
    mark, n_tables = (await connection.execute(_FOUND)).one()
    if mark != MARK:
        if n_tables == 0:
            return None
        advice = "take another database, or a schema of it: ?schema=NAME"
        raise ForeignDatabaseError(url, f"holds tables of another program; {advice}")
    found = await connection.execute(select(func.max(schema_version.c.version)))
    version: int | None = found.scalar_one()
    if version not in OUTDATED:
        check_version(url, version, SCHEMA_VERSION)
    return version


# ---------------------------------------------------------------- what can be wrong


async def schema_findings(connection: DatabaseConnection) -> list[str]:
    """Return what is wrong with references and guards, a line each."""
    return [
        *await _dangling(connection),
        *await _missing_constraints(connection),
        *await _missing_guards(connection),
    ]


async def _dangling(connection: DatabaseConnection) -> list[str]:
    """Return rows that refer to what is not there: constraints can be dropped, data restored without."""
    found = []
    for table in metadata.sorted_tables:
        for constraint in table.foreign_key_constraints:
            parent = constraint.referred_table.alias("parent")
            pairs = [(e.parent, parent.c[e.column.name]) for e in constraint.elements]
            query = (
                select(*table.primary_key.columns)
                .outerjoin_from(table, parent, and_(*(child == known for child, known in pairs)))
                .where(pairs[0][1].is_(None), *(child.is_not(None) for child, _ in pairs))
                .limit(10)
            )
            for row in await connection.execute(query):
                place, lost = ", ".join(map(str, row)), constraint.referred_table.name
                found.append(f"table {table.name}, row {place}: what it refers to is not in {lost}")
    return found


async def _missing_constraints(connection: DatabaseConnection) -> list[str]:
    query = text(
        "SELECT conrelid::regclass::text, contype::text, count(*) FROM pg_constraint "
        "WHERE connamespace = to_regnamespace(current_schema()) AND convalidated GROUP BY 1, 2"
    )
    there = {(table, kind): n for table, kind, n in await connection.execute(query)}
    found = []
    for table in metadata.sorted_tables:
        wanted = Counter(_KINDS[type(known)] for known in table.constraints if known is not run_of_events)
        if not table.primary_key.columns:
            del wanted["p"]
        for kind, n in wanted.items():
            has = there.get((table.name, kind), 0)
            if has < n:
                found.append(f"table {table.name}: {has} of {n} constraints of type {kind!r} are there")
    return found


_KINDS: dict[type[Constraint], str] = {
    PrimaryKeyConstraint: "p",
    UniqueConstraint: "u",
    ForeignKeyConstraint: "f",
    CheckConstraint: "c",
}
"""Kinds of constraints as ``pg_constraint`` names them."""


async def _missing_guards(connection: DatabaseConnection) -> list[str]:
    triggers = text(
        "SELECT tgname::text, pg_get_triggerdef(t.oid, true), tgenabled::text FROM pg_trigger t "
        "JOIN pg_class c ON c.oid = tgrelid "
        "WHERE NOT tgisinternal AND relnamespace = to_regnamespace(current_schema())"
    )
    functions = text(
        "SELECT proname::text, prosrc FROM pg_proc WHERE pronamespace = to_regnamespace(current_schema())"
    )
    there = {name: (sql, state) for name, sql, state in await connection.execute(triggers)}
    bodies = {row[0]: row[1] for row in await connection.execute(functions)}
    found = []
    for guard in GUARDS:
        sql, state = there.get(guard.name, (None, None))
        if sql is None or state == "D":
            found.append(f"trigger {guard.name}: is {'missing' if sql is None else 'switched off'}")
        elif sql != guard.definition():
            found.append(f"trigger {guard.name}: is another one")
    return found + [
        f"function {name}: {'is another one' if name in bodies else 'is missing'}"
        for name, body in FUNCTIONS.items()
        if bodies.get(name) != body
    ]
