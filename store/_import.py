"""Import of a run that was written elsewhere: its events as they are, in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from sqlalchemy import select

from dga2d.events import RecordedEvent, RunId
from dga2d.store import _statements
from dga2d.store._database import DatabaseConnection
from dga2d.store._errors import RowRefusedError, RunExistsError, StoreError
from dga2d.store._rows import EncodedDraft, blob_rows, encode_recorded, insertions
from dga2d.store._runs import Lineage, Segment, write_lineage
from dga2d.store._schema import events, runs


class SqlRunImport:
    """Stores the events of one run, in order, and its blobs; the caller has verified them."""

    def __init__(
        self, connection: DatabaseConnection, run_id: RunId, lineage: Lineage, quotas: Mapping[str, int]
    ) -> None:
        self._connection = connection
        self._lineage = lineage
        self._run_id = run_id
        self._quotas = quotas
        self._known: set[RunId] = set()
        """Ancestors whose events are stored already."""
        self._begun: set[RunId] = set()

    async def begin(self, hashes: Mapping[RunId, bytes]) -> None:
        """Find out which ancestors are here; `hashes` are those of the last events shared with each.

        Raises
        ------
        RunExistsError
            The run is here already, or an ancestor of its name with other events.
        """
        for run_id in sorted({self._run_id, *(segment.run_id for segment in self._lineage)}):
            await self._connection.lock_run(run_id)
        if await self._is_there(self._run_id):
            raise RunExistsError(self._run_id)
        for ancestor, until in self._lineage:
            if await self._is_there(ancestor):
                last = select(events.c.hash).where(events.c.run_id == ancestor, events.c.seq == until)
                found = (await self._connection.execute(last)).scalar_one_or_none()
                if found != hashes[ancestor]:
                    raise RunExistsError(ancestor, "with other events than those to be imported")
                self._known.add(ancestor)

    async def _is_there(self, run_id: RunId) -> bool:
        found = await self._connection.execute(select(runs.c.run_id).where(runs.c.run_id == run_id))
        return found.first() is not None

    async def add_events(self, page: Sequence[RecordedEvent]) -> None:
        """Store the next events, but those of ancestors that are here.

        Raises
        ------
        StoreError
            The database refuses one: an operation twice, a call over its limit, an event of another run.
        """
        for run_id, events_of_run in groupby(page, key=lambda event: event.run_id):
            if run_id not in self._known:
                new = list(events_of_run)
                if run_id not in self._begun:
                    await self._begin_run(run_id, new[0].recorded_at)
                await self._insert(new)

    async def _insert(self, new: Sequence[RecordedEvent]) -> None:
        try:
            for pairs in _settled_later([(encode_recorded(event), event) for event in new]):
                for insertion, rows in insertions(pairs, (), self._quotas):
                    await self._connection.insert(insertion, rows)
        except RowRefusedError as error:
            place = f"events {new[0].seq} to {new[-1].seq}"
            raise StoreError(f"run {self._run_id!r}: the database refuses {place}: {error}") from error

    async def add_blobs(self, many: Iterable[bytes]) -> None:
        """Store blobs, if they are not there yet."""
        await self._connection.insert(_statements.insert_blobs, blob_rows(many))

    async def end(self) -> None:
        """Create the run even if all its events are its ancestors'."""
        if self._run_id not in self._begun:
            await self._begin_run(self._run_id, 0)

    async def _begin_run(self, run_id: RunId, created_at: int) -> None:
        self._begun.add(run_id)
        await self._connection.insert(_statements.insert_runs, [(run_id, created_at)])
        await write_lineage(self._connection, run_id, self._before(run_id))
        rows = [(run_id, kind, amount) for kind, amount in self._quotas.items()]
        await self._connection.insert(_statements.insert_quotas, rows)

    def _before(self, run_id: RunId) -> tuple[Segment, ...]:
        names = [segment.run_id for segment in self._lineage]
        return self._lineage[: names.index(run_id)] if run_id in names else self._lineage


def _settled_later(
    pairs: Sequence[tuple[EncodedDraft, RecordedEvent]],
) -> Iterator[list[tuple[EncodedDraft, RecordedEvent]]]:
    """Split the events into parts of which none both charges and settles a call: within a part, settlements
    are inserted before charges."""
    part: list[tuple[EncodedDraft, RecordedEvent]] = []
    charges = False
    for pair in pairs:
        if charges and pair[0].settlements:
            yield part
            part, charges = [], False
        part.append(pair)
        charges = charges or bool(pair[0].charges)
    if part:
        yield part
