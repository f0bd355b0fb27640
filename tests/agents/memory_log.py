"""A log in memory with the rules of the store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence

import anyio
import anyio.lowlevel

from dga2d.events import (
    BlobDigest,
    Draft,
    RecordedEvent,
    RunId,
    blob_digest,
    check_owner,
    encode_payload,
)
from dga2d.events.payloads import LLMCallReserved
from dga2d.store import DuplicateOperationError, QuotaExceededError

RUN = RunId("simulated")


class MemoryLog:
    """Appender and source of events with the store's rules, and nothing else of it."""

    def __init__(self, quota: int = 500, events: Iterable[RecordedEvent] = ()) -> None:
        self.quota = quota
        self.events: list[RecordedEvent] = list(events)
        self.blobs: dict[BlobDigest, bytes] = {}
        self._operations = {o for e in self.events if (o := e.payload.operation()) is not None}
        self._grown = anyio.Event()

    def until(self, seq: int) -> MemoryLog:
        """The log as it would be had the process died after event `seq`."""
        cut = MemoryLog(self.quota, self.events[:seq])
        cut.blobs = dict(self.blobs)
        return cut

    async def append(self, drafts: Sequence[Draft], blobs: Sequence[bytes] = ()) -> list[RecordedEvent]:
        await anyio.lowlevel.checkpoint()
        operations = [o for d in drafts if (o := d.payload.operation()) is not None]
        for operation in operations:
            if operation in self._operations or operations.count(operation) > 1:
                raise DuplicateOperationError(operation)
        for draft in drafts:
            check_owner(draft.agent, type(draft.payload).__name__)
            if isinstance(draft.payload, LLMCallReserved) and draft.payload.call > self.quota:
                raise QuotaExceededError("llm-call", self.quota)
        added = [recorded(len(self.events) + 1 + i, draft) for i, draft in enumerate(drafts)]
        self._operations.update(operations)
        self.events += added
        self.blobs.update((blob_digest(data), data) for data in blobs)
        self._grown.set()
        self._grown = anyio.Event()
        return added

    async def subscribe(self, run_id: RunId, after: int = 0) -> AsyncIterator[RecordedEvent]:
        while True:
            grown = self._grown
            for event in self.events[after:]:
                after = event.seq
                yield event
            if after == len(self.events):
                await grown.wait()

    async def get_blob(self, digest: BlobDigest) -> bytes:
        return self.blobs[digest]


def recorded(seq: int, draft: Draft) -> RecordedEvent:
    """The event a draft becomes; not linked to a chain."""
    data = encode_payload(draft.payload)
    name = type(draft.payload).__name__
    return RecordedEvent(
        RUN, seq, str(seq), name, 1, draft.agent, draft.generation, draft.caused_by, 0, data, b"", b""
    )
