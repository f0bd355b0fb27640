"""Group commit: all tasks of a process append through one writer, which stores all that waits at once."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import anyio
from anyio import CancelScope

from dga2d.events import Draft, RecordedEvent, RunId
from dga2d.store import _errors as errors
from dga2d.store import _statements
from dga2d.store._contract import Head
from dga2d.store._database import Database, DatabaseConnection
from dga2d.store._read import LiveTail
from dga2d.store._rows import EncodedDraft, blob_rows, encode, insertions, stamp
from dga2d.store._runs import LEASE_US, RENEWAL_S, Lineage, Segment, extend_lease
from dga2d.store._statements import Insertion, SqlRow

MAX_BATCH = 1024
"""Events in one transaction, unless a single append has more."""
ANNOUNCEMENT_S = 0.05
"""Least time between two announcements to other processes."""


@dataclass(slots=True)
class _Waiter:
    """One call of ``append`` that waits for its commit."""

    encoded: list[EncodedDraft]
    blobs: list[SqlRow]
    done: asyncio.Future[list[RecordedEvent]]


class SqlEventWriter:
    """The ``EventWriter`` of one run in this process; made by ``SqlEventStore.write``."""

    def __init__(
        self,
        run_id: RunId,
        epoch: int,
        head: Head,
        quotas: Mapping[str, int],
        lineage: Lineage = (),
        *,
        database: Database,
        connection: DatabaseConnection,
        tail: LiveTail,
        clock: Callable[[], int],
    ) -> None:
        self.run_id = run_id
        self.epoch = epoch
        self.head = head
        self._quotas = quotas
        self._lineage = lineage
        self._database = database
        self._connection = connection
        self._turn = anyio.Lock(fast_acquire=True)  # appends and renewals of the lease share the connection
        self._tail = tail
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._queue: deque[_Waiter] = deque()
        self._work = anyio.Event()
        self._news = anyio.Event()
        self._in_doubt: Head | None = None  # a commit failed and it could not be read whether it took place
        self._is_closing = False
        self._is_fenced = False

    async def append(self, drafts: Sequence[Draft], blobs: Sequence[bytes] = ()) -> list[RecordedEvent]:
        if self._is_fenced:
            raise errors.LeaseLostError(self.run_id, self.epoch)
        if self._is_closing:
            raise errors.StoreClosedError(f"the writer of run {self.run_id!r} has been closed")
        encoded = [encode(draft) for draft in drafts]
        waiter = _Waiter(encoded, blob_rows(blobs) if blobs else [], self._loop.create_future())
        self._queue.append(waiter)
        if len(self._queue) == 1:
            self._work.set()
        return await waiter.done

    # ------------------------------------------------------------ the writer's own tasks

    async def serve(self) -> None:
        """Store what is appended until :meth:`close`; then what is still waiting."""
        try:
            while self._queue or not self._is_closing:
                if not self._queue:
                    self._work = anyio.Event()
                    await self._work.wait()
                    continue
                with CancelScope(shield=True):
                    async with self._turn:
                        await self._store(self._take())
        finally:
            self._is_closing = True
            error = errors.StoreClosedError(
                f"the writer of run {self.run_id!r} was closed before this append"
            )
            _refuse(self._queue, error)

    def close(self) -> None:
        """Accept nothing more; :meth:`serve` ends when all that waits is stored."""
        self._is_closing = True
        self._work.set()

    async def keep_lease(self) -> None:
        """Renew the lease until cancelled."""
        while not self._is_fenced:
            await anyio.sleep(RENEWAL_S)
            with CancelScope(shield=True):
                await self._renew()

    async def _renew(self) -> None:
        try:
            if not await self._extend_lease(self._clock() + LEASE_US):
                self._fence()
        except errors.StoreError:
            # A full, locked or absent database refuses the next append as well, and its caller gets the
            # error. Should the lease expire meanwhile, the epoch still keeps two writers apart.
            return

    async def _extend_lease(self, expires_at: int) -> bool:
        async with self._turn, self._connection.transaction():
            return await extend_lease(self._connection, self.run_id, self.epoch, expires_at)

    async def release(self) -> None:
        """Give the lease back, if it is still ours."""
        await self._database.persist(partial(self._extend_lease, 0))
        await self._database.announce(self.run_id)

    async def keep_announced(self) -> None:
        """Tell other processes of what was appended, until cancelled."""
        while True:
            await self._news.wait()
            self._news = anyio.Event()
            await self._database.announce(self.run_id)
            await anyio.sleep(ANNOUNCEMENT_S)

    def _fence(self) -> None:
        self._is_fenced = True
        self._tail.leave()

    # ------------------------------------------------------------ one batch

    def _take(self) -> list[_Waiter]:
        batch: list[_Waiter] = []
        size = 0
        while self._queue and (not batch or size + len(self._queue[0].encoded) <= MAX_BATCH):
            waiter = self._queue.popleft()
            if not waiter.done.done():  # else cancelled while it waited
                batch.append(waiter)
                size += len(waiter.encoded)
        return batch

    async def _store(self, batch: list[_Waiter]) -> None:
        try:
            await self._commit(batch)
        except errors.RowRefusedError:
            if len(batch) == 1:
                await self._refuse_with_reason(batch[0])
                return
            for waiter in batch:
                await self._store([waiter])
        except errors.LeaseLostError as error:
            self._fence()
            _refuse([*batch, *self._queue], error)
            self._queue.clear()
        except Exception as error:
            _refuse(batch, error)

    async def _commit(self, batch: list[_Waiter]) -> None:
        """Store a batch in one transaction and acknowledge it.

        Raises RowRefusedError if the database refuses a row, and then nothing of the batch is stored.
        """
        if self._in_doubt is not None:
            await self._settle_doubt(self._in_doubt)
        encoded = [draft for waiter in batch for draft in waiter.encoded]
        events = stamp(encoded, self.run_id, self.head, self._clock())
        written = Head(events[-1].seq, events[-1].hash) if events else None
        blobs = [row for waiter in batch for row in waiter.blobs]
        pairs = list(zip(encoded, events, strict=True))
        await self._insert(insertions(pairs, blobs, self._quotas), written)
        self._acknowledge(batch, events, written or self.head)

    async def _insert(self, rows: Sequence[Insertion], written: Head | None) -> None:
        """Make rows durable that end with event `written`. Where the connection is lost meanwhile, find out
        whether they were stored, and try again if not."""
        expected = (self.epoch, *self._stored_head())
        is_lost = False

        async def insert() -> None:
            nonlocal is_lost
            if is_lost and await self._is_stored(written):
                return
            try:
                found = await self._connection.insert_if(_statements.guard, self.run_id, expected, rows)
            except errors.StoreUnavailableError:
                self._in_doubt, is_lost = written, True
                raise
            except errors.RowRefusedError:
                # A server can carry out what the lost connection had sent after it was looked for above.
                if is_lost and await self._is_stored(written):
                    return
                raise
            if found != expected and not (is_lost and written and found == (self.epoch, *written)):
                raise self._refusal(found)

        try:
            await self._database.persist(insert)
        except (
            errors.RowRefusedError,
            errors.LeaseLostError,
            errors.StaleVersionError,
            errors.StoreUnavailableError,
        ):
            raise
        except errors.StoreError:
            if not await self._is_stored(written):
                raise

    def _acknowledge(self, batch: list[_Waiter], events: list[RecordedEvent], head: Head) -> None:
        self._in_doubt = None
        self.head = head
        self._tail.publish(events)
        self._news.set()
        start = 0
        for waiter in batch:
            end = start + len(waiter.encoded)
            if not waiter.done.done():
                waiter.done.set_result(events[start:end])
            start = end

    def _stored_head(self) -> tuple[int | None, bytes | None]:
        """Return number and hash of the run's last own event, nulls if it has none."""
        is_own = self.head.seq > (self._lineage[-1].until if self._lineage else 0)
        return self.head if is_own else (None, None)

    def _refusal(self, found: SqlRow) -> errors.StoreError:
        """Return why nothing was stored, given the row of the guard."""
        epoch, seq, _ = found
        if epoch != self.epoch:
            return errors.LeaseLostError(self.run_id, self.epoch)
        return errors.StaleVersionError(self.run_id, self.head.seq, seq or 0)

    async def _settle_doubt(self, written: Head) -> None:
        """Find out whether a commit took place whose outcome could not be read."""
        last = await self._last_event()
        self._in_doubt = None
        if last == written:
            self.head = written
            self._tail.follow(written.seq)

    async def _last_event(self) -> tuple[int | None, bytes | None]:
        """Return number and hash of the run's last own event, nulls if it has none."""
        found = await self._connection.fetch_settled(_statements.guard, run_id=self.run_id)
        [(_, seq, link)] = found
        return seq, link

    async def _is_stored(self, written: Head | None) -> bool:
        """Return whether a commit that reported an error took place after all."""
        if written is None:
            return False
        self._in_doubt = written
        return await self._last_event() == written

    async def _refuse_with_reason(self, waiter: _Waiter) -> None:
        """Tell an append that the database refused by itself which of its drafts was at fault."""
        try:
            error = await self._reason(waiter)
        except errors.StoreError as lookup_error:
            error = lookup_error
        _refuse([waiter], error)

    async def _reason(self, waiter: _Waiter) -> errors.StoreError:
        seen: set[str] = set()
        for encoded in waiter.encoded:
            if encoded.operation is not None:
                if encoded.operation in seen or await self._has_operation(encoded.operation):
                    return errors.DuplicateOperationError(encoded.operation)
                seen.add(encoded.operation)
        for encoded in waiter.encoded:
            if encoded.reservation is not None:
                kind, number = encoded.reservation
                quota = self._quotas.get(kind, 0)
                if not 1 <= number <= quota:
                    return errors.QuotaExceededError(kind, quota)
        return await self._reason_of_charges(waiter) or errors.StoreError(
            f"run {self.run_id!r}: the database refused an append against its own rules"
        )

    async def _reason_of_charges(self, waiter: _Waiter) -> errors.QuotaExceededError | None:
        claimed: Counter[str] = Counter()
        for encoded in waiter.encoded:
            for kind, _, amount in encoded.charges:
                quota = self._quotas.get(kind)
                claimed[kind] += amount
                if quota is None:
                    continue
                charged = await self._sum_charges(kind)
                if charged + claimed[kind] > quota:
                    return errors.QuotaExceededError(kind, quota, claimed[kind], quota - charged)
        return None

    async def _sum_charges(self, kind: str) -> int:
        total = 0
        for run_id, until in self._segments():
            [(charged,)] = await self._connection.fetch(
                _statements.charged, run_id=run_id, charge_kind=kind, until=until, until_settled=until
            )
            total += int(charged)
        return total

    async def _has_operation(self, operation: str) -> bool:
        for run_id, until in self._segments():
            found = await self._connection.fetch(
                _statements.find_operation, run_id=run_id, operation=operation, until=until
            )
            if found:
                return True
        return False

    def _segments(self) -> Lineage:
        """Return where this run's events lie, its own last."""
        return (*self._lineage, Segment(self.run_id, 2**63 - 1))


def _refuse(waiters: Sequence[_Waiter] | deque[_Waiter], error: Exception) -> None:
    for waiter in waiters:
        if not waiter.done.done():
            waiter.done.set_exception(error)
