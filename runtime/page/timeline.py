"""All states of a run, kept in memory: moving through time is looking up an index.

States are immutable and share their parts, so one more costs little.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio

from dga2d.events import BlobDigest, RecordedEvent, RunId
from dga2d.replay.state.fold import fold
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.report.data import ReportData, ReportPart, gather_report_data
from dga2d.runtime.report.lineage import ReportedEdit
from dga2d.runtime.report.notes import Notes, note
from dga2d.store import EventStore, Head, verified

BLOBS_KEPT = 4096
"""Texts kept in memory per run; beyond that the store is asked again."""


@dataclass
class Timeline:
    """Events and states of one run, as far as they have been read."""

    store: EventStore
    run_id: RunId
    events: list[RecordedEvent] = field(default_factory=list)
    states: list[RunState] = field(default_factory=lambda: [RunState()])
    """`states[seq]` is the state after event `seq`."""
    notes: Notes = field(default_factory=Notes)
    _edits: dict[int, ReportedEdit] = field(default_factory=dict)
    """Edits described before, by event: finding the parent of one compares many texts."""
    _blobs: dict[BlobDigest, bytes] = field(default_factory=dict)
    _lock: anyio.Lock = field(default_factory=anyio.Lock)

    @property
    def length(self) -> int:
        """Number of the last event read."""
        return len(self.events)

    async def catch_up(self) -> None:
        """Read, check and fold what was appended since.

        Raises
        ------
        UnknownRunError, CorruptEventError, InvariantError
            There is no such run, or its log does not hold.
        """
        async with self._lock:
            stored = self.store.read(self.run_id, after=self.length)
            last = self.events[-1] if self.events else None
            async for event in (
                verified(stored) if last is None else verified(stored, Head(last.seq, last.hash))
            ):
                note(self.notes, self.states[-1], event)
                self.states.append(fold(self.states[-1], event))
                self.events.append(event)

    async def report_data(self, seq: int, parts: frozenset[ReportPart]) -> ReportData:
        """Return the data of a report after event `seq`, 1 ≤ `seq` ≤ `length`; of the slow parts, `parts`."""
        notes = self.notes.until(seq)
        head = self.events[seq - 1].hash.hex()
        return await gather_report_data(self, self.run_id, self.states[seq], notes, head, parts, self._edits)

    async def get_blob(self, digest: BlobDigest) -> bytes:
        """Return the bytes of a blob."""
        if digest not in self._blobs:
            data = await self.store.get_blob(digest)
            if len(self._blobs) >= BLOBS_KEPT:
                self._blobs.clear()
            self._blobs[digest] = data
        return self._blobs[digest]

    def generation_seqs(self) -> list[int]:
        """Return the events that closed a generation."""
        return [event.seq for event in self.events if event.type == "GenerationCompleted"]
