"""A log in memory with the rules of the store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any

import anyio
import anyio.lowlevel

from dga2d.events import (
    GENESIS_HASH,
    BlobDigest,
    Draft,
    RecordedEvent,
    RunId,
    blob_digest,
    check_owner,
    encode_payload,
    link_hash,
)
from dga2d.events._envelope import header_bytes
from dga2d.events.payloads import LLMCallReserved
from dga2d.replay.state.fold import fold
from dga2d.replay.state.run_state import RunState
from dga2d.store import LLM_CALLS, BlobMissingError, DuplicateOperationError, QuotaExceededError

RUN = RunId("simulated")


class MemoryLog:
    """What agents see of a store, held to the same contract (``tests/store/test_log_contract.py``)."""

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
        prev_hash = self.events[-1].hash if self.events else GENESIS_HASH
        added: list[RecordedEvent] = []
        for seq, draft in enumerate(drafts, len(self.events) + 1):
            check_owner(draft.agent, type(draft.payload).__name__)
            added.append(recorded(seq, draft, prev_hash))
            prev_hash = added[-1].hash
        for operation in operations:
            if operation in self._operations or operations.count(operation) > 1:
                raise DuplicateOperationError(operation)
        for draft in drafts:
            if isinstance(draft.payload, LLMCallReserved) and not 1 <= draft.payload.call <= self.quota:
                raise QuotaExceededError(LLM_CALLS, self.quota)
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
        if digest not in self.blobs:
            raise BlobMissingError(digest)
        return self.blobs[digest]


def recorded(seq: int, draft: Draft, prev_hash: bytes = GENESIS_HASH) -> RecordedEvent:
    """The event a draft becomes behind an event with `prev_hash`."""
    name, version = type(draft.payload).__name__, draft.payload.version
    envelope = (RUN, seq, str(seq), name, version, draft.agent, draft.generation, draft.caused_by, 0)
    data = encode_payload(draft.payload)
    return RecordedEvent(*envelope, data, prev_hash, link_hash(prev_hash, header_bytes(*envelope), data))


def before(log: MemoryLog, kind: type) -> list[tuple[RunState, Any]]:
    """The events of a kind, each with the state before it."""
    state, found = RunState(), []
    for event in log.events:
        if isinstance(event.payload, kind):
            found.append((state, event))
        state = fold(state, event)
    return found
