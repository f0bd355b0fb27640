"""The run as a whole: what its decisions depend on, and how it pauses, goes on and ends."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from dga2d.events._names import BlobDigest, ImplementationId, InstanceKey, OperatorId, RunId
from dga2d.events._payload import Model, Payload
from dga2d.events.payloads._shared import Step


class InstanceEntry(Model):
    """An instance of the manifest with the value its gap is measured against."""

    left_out: ClassVar[frozenset[str]] = frozenset({"scale", "origin", "size"})

    key: InstanceKey
    reference: float
    scale: float | None = None
    """Objective that counts as a gap of 1, above 0; ``None`` for max(|reference|, 1)."""
    origin: Literal["baseline"] | None = None
    """``baseline``: no reference was known, so it is what the safe baseline reached before the run began."""
    size: str | None = None
    """Its scalars and the shapes of its arrays, in words; ``None`` where prompts do not tell it."""


class SplitManifest(Model):
    """Which instances are in which split, and the digest of that assignment."""

    train: tuple[InstanceEntry, ...]
    validation: tuple[InstanceEntry, ...]
    test: tuple[InstanceEntry, ...]
    digest: str


class ScoreEntry(Model):
    """The measure of a domain that has one of its own in place of gaps: larger is better."""

    failure: float
    """What an instance counts on which an algorithm fails."""
    formula: str
    """How it comes about, in a line."""


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


class LibraryKernel(Model):
    """A function that implementations of the library share."""

    id: str
    """Its name."""
    summary: str
    """What it computes."""
    arguments: tuple[str, ...]
    """``NAME: type, shape and meaning``."""
    source: BlobDigest
    """A module that holds it with what it needs."""
    evolves: bool
    """Whether a faster one may be asked for; others are called too seldom to be compared."""


class BankEntry(Model):
    """An implementation that a run may offer for its operators before it asks a model. Never trusted: it goes
    through all that an answer goes through."""

    source: BlobDigest
    """Its text."""
    domain: str
    """Domain of the run that it comes from."""
    operator: OperatorId
    """Operator that it was written for."""
    category: str
    """What that operator is for."""
    requires: Literal["none", "partial", "complete"]
    """What it takes."""
    provides: Literal["none", "partial", "complete"]
    """What it leaves."""
    run: str
    """The run that it comes from."""
    model: str
    """Who wrote it."""
    how: str
    """What its gain was measured by: ``gate``, ``validation``, ``training``; empty where it was not."""
    gain: float | None
    """Mean gain, a fraction of the reference; ``None`` where none was measured."""
    spread: float | None
    """Standard deviation of a single comparison; ``None`` for fewer than two."""
    pairs: int
    """Comparisons behind it."""


class RunStarted(Payload, owner="conductor", operation="run-started"):
    """A run begins; holds everything its decisions depend on."""

    left_out: ClassVar[frozenset[str]] = frozenset({"problem_file", "bank", "own_score", "kernels"})

    domain: str
    sense: Literal["min", "max"]
    seed: int
    settings: dict[str, Any]
    """The effective configuration (``dga2d.replay.settings``)."""
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
    problem_file: str | None = None
    """Where the file of a problem in one file was; ``None`` for other domains."""
    bank: tuple[BankEntry, ...] | None = None
    """What a bank holds for the run, best first; ``None`` where no bank is used."""
    own_score: ScoreEntry | None = None
    """What objectives are where they are scores; their references are then 0, the scales of their gaps 1, and
    a gap is a negated score. ``None``: the gaps are gaps."""
    kernels: tuple[LibraryKernel, ...] | None = None
    """Functions that implementations share; ``None`` where none are offered."""


class RunPaused(Payload, owner="conductor"):
    """The run stopped before its end and can be resumed."""

    reason: str


class RunResumed(Payload, owner="conductor"):
    """A new process took the run over."""

    code_version: str
    epoch: int
    """Fencing epoch of the lease under which this process writes."""
    changed: dict[str, Any]
    """Settings that differ from now on, by key."""


class RunForked(Payload, owner="conductor"):
    """A new run goes on from here; the events before are those of another run and are not copied."""

    parent: RunId
    parent_seq: int
    """The last event that both runs share."""
    code_version: str
    epoch: int
    """Fencing epoch of the lease under which this process writes."""
    changed: dict[str, Any]
    """Settings that differ from now on, by key."""


class RunCompleted(Payload, owner="conductor"):
    """The run reached its last generation or one of its limits."""

    reason: str
    state_digest: str


class RunFailed(Payload, owner="conductor"):
    """The run cannot go on; `detail` is one line."""

    reason: str
    detail: str
