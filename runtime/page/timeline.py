"""A run's log, readable at any place: a few states are kept, those between are folded again when asked for.

What is kept per event is what a report notes of it. Moving through time reads and folds at most a block of
events, however long the log is.
"""

from __future__ import annotations

import gc
from bisect import bisect_right
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, field

import anyio
from anyio.lowlevel import checkpoint

from dga2d.events import BlobDigest, RecordedEvent, RunId
from dga2d.events.payloads import PipelineSampled
from dga2d.replay.state.fold import fold
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.report.data import Described, ReportData, ReportPart, gather_report_data
from dga2d.runtime.report.notes import Notes, note
from dga2d.store import EMPTY_LOG, EventStore, Head, StoreError, verify_events

BLOCK = 16
"""Events from one kept state to the next: the most that a step through time reads and folds."""
BLOCKS_KEPT = 128
"""Blocks of events and states that were looked at last and are kept."""
BLOBS_KEPT = 4096
"""Texts kept in memory per run; beyond that the store is asked again."""


@dataclass(frozen=True)
class _Block:
    """Consecutive events and the state after each of them."""

    events: tuple[RecordedEvent, ...]
    states: tuple[RunState, ...]


@dataclass
class Timeline:
    """One run, as far as its log has been read."""

    store: EventStore
    run_id: RunId
    latest: RunState = field(default_factory=RunState)
    """State after the last event read."""
    head: Head = EMPTY_LOG
    notes: Notes = field(default_factory=Notes)
    marks: list[int] = field(default_factory=list)
    """Events that closed a generation."""
    best_seq: int = 0
    """Event after which the best program of today was known."""
    _kept: list[tuple[RunState, Head]] = field(default_factory=lambda: [(RunState(), EMPTY_LOG)])
    """State and head before each block."""
    _blocks: OrderedDict[int, _Block] = field(default_factory=OrderedDict)
    _starts: list[int] = field(default_factory=list)
    """Events that opened a generation."""
    _samples: list[int] = field(default_factory=list)
    """Events that brought a sampled pipeline."""
    _described: Described = field(default_factory=Described)
    _blobs: dict[BlobDigest, bytes] = field(default_factory=dict)
    _prepared: int = 0
    """Length of the log when `prepare` last began."""
    _lock: anyio.Lock = field(default_factory=anyio.Lock)

    @property
    def length(self) -> int:
        """Number of the last event read."""
        return self.head.seq

    async def catch_up(self) -> None:
        """Read, check and fold what was appended since.

        Raises
        ------
        UnknownRunError, CorruptEventError, InvariantError
            There is no such run, or its log does not hold.
        """
        async with self._lock:
            stored = self.store.read(self.run_id, after=self.length)
            async for event in verify_events(stored, self.head):
                self._append(event)
                if event.seq % BLOCK == 0:
                    gc.freeze()  # what is kept of a log stays; searching it for garbage stops the server
                    await checkpoint()  # the page's frame and style must not wait for a long log

    def _append(self, event: RecordedEvent) -> None:
        before = self.latest
        self.latest = fold(before, event)
        self.head = Head(event.seq, event.hash)
        note(self.notes, before, event)
        if event.type == "GenerationStarted":
            self._starts.append(event.seq)
        elif event.type == "PipelineSampled":
            self._samples.append(event.seq)
        elif event.type == "GenerationCompleted":
            self.marks.append(event.seq)
        if self.latest.best != before.best:
            self.best_seq = event.seq
        if event.seq % BLOCK == 0:
            self._kept.append((self.latest, self.head))
        self._blocks.pop((event.seq - 1) // BLOCK, None)  # it was read when it was shorter

    # ------------------------------------------------------------ places

    async def state_at(self, seq: int) -> RunState:
        """Return the state after event `seq`, 0 ≤ `seq` ≤ `length`."""
        if seq == self.length:
            return self.latest
        if seq % BLOCK == 0:
            return self._kept[seq // BLOCK][0]
        return (await self._block(seq)).states[(seq - 1) % BLOCK]

    async def event_at(self, seq: int) -> RecordedEvent:
        """Return event `seq`, 1 ≤ `seq` ≤ `length`."""
        return (await self._block(seq)).events[(seq - 1) % BLOCK]

    async def events_until(self, seq: int, count: int) -> list[RecordedEvent]:
        """Return the last `count` events up to `seq`, fewer at the beginning of the log."""
        return [await self.event_at(number) for number in range(max(1, seq - count + 1), seq + 1)]

    async def generation_start(self, seq: int) -> RunState:
        """Return the state when the generation of event `seq` began; before the first, that after `seq`."""
        return await self.state_at(self._start(seq) or seq)

    async def walks_until(self, seq: int) -> list[PipelineSampled]:
        """Return the pipelines of the generation of event `seq` that were sampled up to it."""
        first, last = (bisect_right(self._samples, place) for place in (self._start(seq), seq))
        payloads = [(await self.event_at(number)).payload for number in self._samples[first:last]]
        return [payload for payload in payloads if isinstance(payload, PipelineSampled)]

    def _start(self, seq: int) -> int:
        """Return the event that opened the generation of event `seq`; 0 before the first one."""
        index = bisect_right(self._starts, seq)
        return self._starts[index - 1] if index else 0

    async def _block(self, seq: int) -> _Block:
        """Return the block that holds event `seq`, which is read and folded again unless it is kept."""
        number = (seq - 1) // BLOCK
        if number not in self._blocks:
            state, head = self._kept[number]
            until = min(head.seq + BLOCK, self.length)
            stored = self.store.read(self.run_id, after=head.seq, until=until)
            events, states = [], []
            async for event in verify_events(stored, head):
                state = fold(state, event)
                events.append(event)
                states.append(state)
            self._blocks[number] = _Block(tuple(events), tuple(states))
            if len(self._blocks) > BLOCKS_KEPT:
                self._blocks.popitem(last=False)
        self._blocks.move_to_end(number)
        return self._blocks[number]

    # ------------------------------------------------------------ contents

    async def report_data(self, seq: int, parts: frozenset[ReportPart]) -> ReportData:
        """Return the data of a report after event `seq`, 1 ≤ `seq` ≤ `length`; of the slow parts, `parts`."""
        notes, state = self.notes.until(seq), await self.state_at(seq)
        if parts & {"edits", "algorithm"}:
            await self._fetch_sources()
        head = (self.head if seq == self.length else Head(seq, (await self.event_at(seq)).hash)).hash.hex()
        return await gather_report_data(self, self.run_id, state, notes, head, parts, self._described)

    async def prepare(self) -> None:
        """Describe all edits and validations, so that a step through time finds them described; what a first
        visit pays for would else be paid by the first step into each panel."""
        if self._prepared == self.length:
            return
        self._prepared = self.length
        await self._fetch_sources()
        for change in self.notes.changes[:]:
            await self._described.add_edit(self, self.latest, change)
            await checkpoint()
        await self.report_data(self.length, frozenset[ReportPart]({"milestones"}))

    async def get_blob(self, digest: BlobDigest) -> bytes:
        """Return the bytes of a blob."""
        if digest not in self._blobs:
            data = await self.store.get_blob(digest)
            if len(self._blobs) >= BLOBS_KEPT:
                self._blobs.clear()
            self._blobs[digest] = data
        return self._blobs[digest]

    async def _fetch_sources(self) -> None:
        """Read the texts of all implementations at once; one after the other takes many times as long."""
        missing = {digest for digest in self.latest.sources.values() if digest not in self._blobs}
        if not missing or len(missing) + len(self._blobs) > BLOBS_KEPT:
            return
        wanted = sorted(missing)
        with suppress(StoreError):  # a text that is missing or damaged is named where it is needed
            self._blobs.update(zip(wanted, await self.store.get_blobs(wanted), strict=True))
