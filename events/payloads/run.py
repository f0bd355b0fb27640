"""The run as a whole: how it began, stopped, went on and ended."""

from __future__ import annotations

from typing import Any, Literal

from dga2d.events._names import BlobDigest, ImplementationId, InstanceKey, OperatorId, RunId
from dga2d.events.payloads.base import Model, Payload, Step


class InstanceEntry(Model):
    """An instance of the manifest with the value its gap is measured against."""

    key: InstanceKey
    reference: float


class SplitManifest(Model):
    """Which instances are in which split, and the digest of that assignment."""

    train: tuple[InstanceEntry, ...]
    validation: tuple[InstanceEntry, ...]
    test: tuple[InstanceEntry, ...]
    digest: str


class LibraryImplementation(Model):
    """An implementation of the fixed operator library and its source text."""

    id: ImplementationId
    source: BlobDigest


class LibraryOperator(Model):
    """An operator of the fixed library with its interface tags."""

    id: OperatorId
    category: str
    requires: Literal["none", "partial", "complete"]
    provides: Literal["none", "partial", "complete"]
    tier: Literal["basic", "advanced"]
    implementations: tuple[LibraryImplementation, ...]


class RunStarted(Payload):
    """A run begins; holds everything its decisions depend on."""

    domain: str
    sense: Literal["min", "max"]
    seed: int
    settings: dict[str, Any]
    """The effective configuration (``dga2d.runtime.settings``)."""
    code_version: str
    """Package version and digest of the program's own sources."""
    library: tuple[LibraryOperator, ...]
    baseline: tuple[Step, ...]
    splits: SplitManifest
    batch: tuple[InstanceKey, ...]
    """The k training instances shared by all generations, drawn once (Algorithm 1, line 4)."""
    policy: str
    """Name of the pipeline policy and digest of its initial parameters."""
    llm: str
    sandbox: dict[str, str]
    """Layer → ``active`` or the reason why it is missing."""
    data_dir: str | None
    """Where published instances were read from; ``None`` when all were generated."""
    lineage: RunId | None = None
    """Run this one was forked from."""

    def operation(self) -> str:
        return "run-started"


class RunPaused(Payload):
    """The run stopped before its end and can be resumed."""

    reason: str


class RunResumed(Payload):
    """A new process took the run over."""

    code_version: str
    epoch: int
    """Fencing epoch of the lease under which this process writes."""
    changed: dict[str, Any]
    """Settings that differ from now on, by key."""


class RunForked(Payload):
    """A new run goes on from here with the events of another one before it, which are not copied."""

    parent: RunId
    parent_seq: int
    """The last event that both have."""
    code_version: str
    epoch: int
    """Fencing epoch of the lease under which this process writes."""
    changed: dict[str, Any]
    """Settings that differ from now on, by key."""


class RunCompleted(Payload):
    """The run reached its last generation or one of its limits."""

    reason: str
    state_digest: str


class RunFailed(Payload):
    """The run cannot go on; `detail` is one line."""

    reason: str
    detail: str
