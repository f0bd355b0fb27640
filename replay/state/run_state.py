"""The immutable state of a run: everything that an agent or command may know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

import msgspec
from immutables import Map

from dga2d.events import BlobDigest, ImplementationId, InstanceKey, OperatorId, RunId, decode_payload
from dga2d.events.payloads import (
    EvaluationRecorded,
    FailureKind,
    InstanceEntry,
    PolicyUpdated,
    PositionTrace,
    RunStarted,
    Step,
    TestCandidate,
)
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.credit import CreditTable
from dga2d.replay.state.graph import OperatorGraph, Pools
from dga2d.replay.state.ledger import Ledger
from dga2d.replay.state.work_rates import WorkRates

EvaluationKey = tuple[int, InstanceKey]
"""Candidate j and instance."""
OutcomeRow = dict[InstanceKey, "Outcome"]
"""Outcomes of one candidate."""

_NO_ROW: Mapping[InstanceKey, Outcome] = MappingProxyType({})


class Outcome(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What an evaluation gave: an objective or the kind of failure.

    A replay makes and drops a thousand of them per generation. What few readers ask for is therefore kept as
    the bytes that were checked when they were folded, which takes a fifth of the objects.
    """

    objective: float | None
    failure: FailureKind | None
    recorded: bytes = b""
    """Payload of the evaluation in its current version; empty where there was none."""

    @property
    def trace(self) -> tuple[PositionTrace, ...]:
        """What every position of the pipeline did; decoded anew every time."""
        if not self.recorded:
            return ()
        payload = decode_payload("EvaluationRecorded", EvaluationRecorded.version, self.recorded)
        assert isinstance(payload, EvaluationRecorded)
        return payload.trace


@dataclass(frozen=True)
class Outcomes(Mapping[EvaluationKey, Outcome]):
    """Outcomes by candidate and instance. Immutable; a copy shares the rows that it does not change."""

    rows: Map[int, OutcomeRow] = Map()
    """By candidate; rows are never changed."""
    count: int = 0

    @classmethod
    def of(cls, outcomes: Mapping[EvaluationKey, Outcome]) -> Outcomes:
        """Return the outcomes of any mapping."""
        rows: dict[int, OutcomeRow] = {}
        for (candidate, instance), outcome in outcomes.items():
            rows.setdefault(candidate, {})[instance] = outcome
        return cls().with_rows(rows)

    def __getitem__(self, key: EvaluationKey) -> Outcome:
        return self.rows[key[0]][key[1]]

    def __iter__(self) -> Iterator[EvaluationKey]:
        return ((candidate, instance) for candidate, row in self.rows.items() for instance in row)

    def __len__(self) -> int:
        return self.count

    def row(self, candidate: int) -> Mapping[InstanceKey, Outcome]:
        """Return the outcomes of a candidate by instance, empty where there are none."""
        return self.rows.get(candidate, _NO_ROW)

    @property
    def failed_candidates(self) -> int:
        """Candidates that failed on at least one instance."""
        return sum(any(outcome.failure for outcome in row.values()) for row in self.rows.values())

    def set(self, key: EvaluationKey, outcome: Outcome) -> Outcomes:
        """Return a copy with one outcome more."""
        candidate, instance = key
        return self.with_rows({candidate: {**self.row(candidate), instance: outcome}})

    def with_rows(self, changed: Mapping[int, OutcomeRow]) -> Outcomes:
        """Return a copy with the rows of some candidates replaced; takes ownership of `changed`."""
        more = sum(map(len, changed.values())) - sum(len(self.row(candidate)) for candidate in changed)
        return Outcomes(self.rows.update(changed), self.count + more)


NO_OUTCOMES = Outcomes()


RunStatus = Literal["new", "running", "paused", "completed", "failed"]


@dataclass(frozen=True)
class SampledPipeline:
    """P_{t,j} with its implementations."""

    seq: int
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class EvolutionBasis:
    """Input of both evolvers' decisions: graph and pools of generation t with Q_{t+1}, n_{t+1}."""

    seq: int
    graph: OperatorGraph
    pools: Pools
    credits: CreditTable
    calls_left: int
    """Calls not yet charged; shared out between the two evolvers."""
    edits: int
    """Slots of each evolver, 0 where nothing evolves; fixed here, whatever a resume changes later."""


@dataclass(frozen=True)
class Scoring:
    """Scores and standardised rewards of a generation, by candidate."""

    seq: int
    mean: float
    deviation: float
    rewards: tuple[float, ...]


@dataclass(frozen=True)
class ValidationState:
    """Progress of one validation."""

    seq: int
    instances: tuple[InstanceKey, ...]
    pipelines: tuple[tuple[Step, ...], ...] | None = None
    decoded_seq: int = 0
    outcomes: Outcomes = NO_OUTCOMES
    outcomes_seq: int = 0
    scores: tuple[float, ...] | None = None
    scored_seq: int = 0


@dataclass(frozen=True)
class GenerationState:
    """Progress of generation t."""

    number: int
    seq: int
    size: int
    """Number of candidates N, fixed when the generation starts."""
    pipelines: Map[int, SampledPipeline] = Map()
    outcomes: Outcomes = NO_OUTCOMES
    outcomes_seq: int = 0
    """Event that brought the last outcome."""
    scores: Map[int, float] = Map()
    scoring: Scoring | None = None
    basis: EvolutionBasis | None = None
    policy_updated_seq: int = 0
    policy_update: PolicyUpdated | None = None
    implementation_verdicts: Map[int, int] = Map()
    """Slot → event of its verdict."""
    edge_verdicts: Map[int, int] = Map()
    """Slot → event of its verdict."""
    validation: ValidationState | None = None


@dataclass(frozen=True)
class ScoredProgram:
    """A complete algorithm with the score that made it the best."""

    generation: int
    candidate: int
    score: float
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class TestState:
    """Progress of one held-out test."""

    seq: int
    attempt: int
    forced: bool
    candidates: tuple[TestCandidate, ...]
    instances: tuple[InstanceKey, ...]
    outcomes: Outcomes = NO_OUTCOMES
    outcomes_seq: int = 0
    mean_gaps: tuple[float | None, ...] | None = None


@dataclass(frozen=True)
class GenerationSummary:
    """Figures, graph, walks and credits of a closed generation."""

    number: int
    candidates: int
    failures: int
    """Candidates that failed on at least one instance of the batch."""
    mean: float
    """Mean score; failed candidates enter with R_fail."""
    best: float
    best_so_far: float
    validation: float | None
    calls: int
    state_digest: str
    graph: OperatorGraph
    """D_t, from which the generation was sampled."""
    walks: tuple[tuple[ImplementationId, ...], ...]
    """Implementations of each candidate, in order."""
    credits: CreditTable
    """Q_{t+1} and n_{t+1}."""
    policy: PolicyUpdated
    """Figures of the policy's update."""


@dataclass(frozen=True)
class SavedPolicy:
    """A state of the policy that was saved to files."""

    seq: int
    updates: int
    """Updates the policy had learned from."""
    digest: str
    """Of the saved files; their folder's name."""


@dataclass(frozen=True)
class RunState:
    """State after folding the events 1 … `seq`."""

    seq: int = 0
    status: RunStatus = "new"
    reason: str = ""
    """Why the run is paused, completed or failed."""
    started: RunStarted | None = None
    settings: RunSettings = field(default_factory=lambda: RunSettings())
    code_version: str = ""
    """Program version of the process that writes now."""
    process_seq: int = 0
    """``RunStarted`` or ``RunResumed`` of the process that writes now."""
    parent: tuple[RunId, int] | None = None
    """The run this one was last forked from, and the last event it shares with it."""
    sources: Map[ImplementationId, BlobDigest] = Map()
    """Source of every implementation that ever was in a pool or the library."""
    operator_of: Map[ImplementationId, OperatorId] = Map()
    graph: OperatorGraph | None = None
    graph_seq: int = 0
    """Event that brought the present graph."""
    pools: Map[OperatorId, tuple[ImplementationId, ...]] = Map()
    temperature: float = 0.7
    credits: CreditTable = field(default_factory=CreditTable)
    ledger: Ledger = field(default_factory=Ledger)
    suspension: str = ""
    """Why calls wait for the model's endpoint; empty while it works."""
    generation: GenerationState | None = None
    """The open generation, ``None`` between generations."""
    completed: int = 0
    """Closed generations."""
    completed_seq: int = 0
    history: Map[int, GenerationSummary] = Map()
    policy_updates: int = 0
    policy_digest: str = ""
    saved_policies: tuple[SavedPolicy, ...] = ()
    """Oldest first; all but the last two and the checkpoint's may be gone from the disk."""
    best: ScoredProgram | None = None
    """A*, the best program on the shared training batch."""
    checkpoint: ScoredProgram | None = None
    """The best program on the validation split."""
    checkpoint_seq: int = 0
    """Event that selected it: the state there has its graph, pools and credits."""
    checkpoint_updates: int = 0
    """Updates the policy had learned from when it found the checkpoint."""
    test: TestState | None = None
    work_rates: WorkRates = field(default_factory=WorkRates)
    """What work units of implementations are worth; empty where they are taken as they are counted."""

    @property
    def header(self) -> RunStarted:
        """``RunStarted`` of a run that has begun."""
        assert self.started is not None
        return self.started

    def reference(self, key: InstanceKey) -> float:
        """Return y_ref of an instance of the manifest.

        Raises
        ------
        KeyError
            The instance is in no split.
        """
        return self.entry(key).reference

    def entry(self, key: InstanceKey) -> InstanceEntry:
        """Return the manifest entry of an instance. Raises KeyError if it is in no split."""
        splits = self.header.splits
        for part in (splits.train, splits.validation, splits.test):
            for entry in part:
                if entry.key == key:
                    return entry
        raise KeyError(key)
