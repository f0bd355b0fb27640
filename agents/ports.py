"""Ports: what agents need from the outside world, as roles."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from dga2d.domains.core.contract import Implementation, Instance
from dga2d.events import BlobDigest, Draft, RecordedEvent, RunId
from dga2d.events.payloads import FailureKind, PositionTrace


class EventAppender(Protocol):
    """The only way an agent speaks. Concurrent callers are fine; returns after the events are durable."""

    async def append(self, drafts: Sequence[Draft], blobs: Sequence[bytes] = ()) -> list[RecordedEvent]: ...


class BlobSource(Protocol):
    """Large things that events name by their digest."""

    async def get_blob(self, digest: BlobDigest) -> bytes: ...


class EventSource(BlobSource, Protocol):
    """The only way an agent listens: every event after a number, once, in order, then live ones."""

    def subscribe(self, run_id: RunId, after: int = 0) -> AsyncIterator[RecordedEvent]: ...


@dataclass(frozen=True)
class EvaluationRequest:
    """One algorithm on one instance."""

    key: str
    instance: Instance
    steps: tuple[Implementation, ...]
    seed: tuple[int, ...]
    """Run seed followed by the spawn key of the evaluation's random stream."""
    budget: float | None = None
    """Work units that replace the run's budget (smoke runs); ``None`` for the run's own."""


@dataclass(frozen=True)
class EvaluationReply:
    """What the trusted side says of an evaluation; the candidate's own claim is never in it."""

    objective: float | None
    failure: FailureKind | None
    diagnostic: str
    elapsed_s: float
    work: int
    trace: tuple[PositionTrace, ...]
    solution: bytes | None


class Evaluator(Protocol):
    """Runs untrusted algorithms, contained and limited. Concurrent callers are queued."""

    async def evaluate(self, request: EvaluationRequest) -> EvaluationReply: ...


class InstanceSource(Protocol):
    """Instances of the run's manifest by key."""

    def instance(self, key: str) -> Instance: ...

    def smoke_instance(self) -> Instance: ...

    def index(self, key: str) -> int:
        """Position of an instance in the manifest, the key of its random streams."""
        ...
