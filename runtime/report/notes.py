"""Notes that one pass over a run's log takes for the report and the page."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Generic, NamedTuple, Protocol, TypeVar

from dga2d.agents.trial_walks import replace_implementation
from dga2d.events import BlobDigest, ImplementationId, InstanceKey, OperatorId, RecordedEvent
from dga2d.events import payloads as p
from dga2d.replay.state.generation_state import Proposal
from dga2d.replay.state.run_state import RunState
from dga2d.replay.state.search_state import PROGRAM
from dga2d.runtime.inspection.validations import Programs

ProgramKey = tuple[str, int, int]
"""Split, generation (or test attempt) and candidate."""
PayloadT = TypeVar("PayloadT")


class Position(NamedTuple):
    """What one position of a pipeline did, as in `PositionTrace`."""

    score_before: float | None
    score_after: float
    elapsed_s: float
    work: int


class Evaluation(NamedTuple):
    """What `EvaluationRecorded` says, in a quarter of its memory: a log holds little else."""

    split: p.SplitName
    generation: int
    candidate: int
    instance: InstanceKey
    objective: float | None
    failure: p.FailureKind | None
    diagnostic: str
    elapsed_s: float
    work: int
    trace: tuple[Position, ...]
    solution: BlobDigest | None

    @classmethod
    def of(cls, payload: p.EvaluationRecorded) -> Evaluation:
        """Return what a payload says."""
        return cls(
            payload.split,
            payload.generation,
            payload.candidate,
            InstanceKey(sys.intern(payload.instance)),
            payload.objective,
            payload.failure,
            payload.diagnostic,
            payload.elapsed_s,
            payload.work,
            tuple(Position(q.score_before, q.score_after, q.elapsed_s, q.work) for q in payload.trace),
            payload.solution,
        )


class Noted(NamedTuple, Generic[PayloadT]):
    """What an event says, and its number."""

    seq: int
    payload: PayloadT


class Change(NamedTuple):
    """An edit of the pools or the graph, with the pool it was made for as that was before."""

    seq: int
    payload: (
        p.ImplementationAdded
        | p.ImplementationReplaced
        | p.ImplementationDeleted
        | p.EdgeReplaced
        | p.OperatorAdded
        | p.OperatorRetired
        | p.KernelReplaced
    )
    pool: tuple[ImplementationId, ...]
    proposal: Proposal | None = None
    """What the gate measured, where there is one."""


@dataclass(frozen=True)
class Incident:
    """A reason why no calls to the language model could be made."""

    seq: int
    at: int
    """Microseconds since 1970, UTC."""
    what: str


@dataclass(frozen=True)
class Closing:
    """What had been spent and learned when a generation closed."""

    seq: int
    generation: int
    calls: int
    tokens: int
    """Prompts and answers of all settled calls together."""
    minutes: float
    """By the clock since the run began, pauses included."""
    credits: dict[OperatorId, float]
    """Credit of every operator in the graph."""


class _HasSeq(Protocol):
    @property
    def seq(self) -> int: ...


NotedT = TypeVar("NotedT", bound=_HasSeq)


@dataclass
class Notes:
    """Everything in the order of the log; feed every event to :func:`note`."""

    times: list[int] = field(default_factory=list)
    """Microseconds since 1970, UTC, of each event."""
    programs: Programs[ProgramKey] = field(default_factory=Programs)
    decoded: Programs[tuple[int, int]] = field(default_factory=Programs)
    """Those of validations, by generation and candidate."""
    evaluations: list[Noted[Evaluation]] = field(default_factory=list)
    validations: list[Noted[Evaluation]] = field(default_factory=list)
    """Those on the validation split once more: few of all."""
    scores: list[Noted[p.CandidateScored]] = field(default_factory=list)
    scorings: list[Noted[p.GenerationScored]] = field(default_factory=list)
    policy: list[Noted[p.PolicyUpdated]] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    incidents: list[Incident] = field(default_factory=list)
    closings: list[Closing] = field(default_factory=list)
    checkpoints: list[Noted[p.CheckpointSelected]] = field(default_factory=list)
    first_edges: tuple[p.Edge, ...] = ()
    """Of the graph with which the run began."""

    def until(self, seq: int) -> Notes:
        """Return the notes after event `seq`; programs are looked up by name, so all stay, and
        the first graph says where nodes are drawn from the beginning."""
        return Notes(
            self.times[:seq],
            self.programs,
            self.decoded,
            _until(self.evaluations, seq),
            _until(self.validations, seq),
            _until(self.scores, seq),
            _until(self.scorings, seq),
            _until(self.policy, seq),
            _until(self.changes, seq),
            _until(self.incidents, seq),
            _until(self.closings, seq),
            _until(self.checkpoints, seq),
            self.first_edges,
        )


def _until(entries: Sequence[NotedT], seq: int) -> list[NotedT]:
    return list(entries[: bisect_right(entries, seq, key=attrgetter("seq"))])


def note(notes: Notes, before: RunState, event: RecordedEvent) -> None:
    """Add `event` to `notes`; `before` is the state it was appended to."""
    payload = event.payload
    notes.times.append(event.recorded_at)
    if isinstance(payload, p.EvaluationRecorded):
        noted = Noted(event.seq, Evaluation.of(payload))
        notes.evaluations.append(noted)
        if payload.split == "validation":
            notes.validations.append(noted)
    elif isinstance(payload, p.GraphInitialized):
        notes.first_edges = payload.edges
    elif isinstance(payload, p.PipelineSampled):
        notes.programs["train", payload.generation, payload.candidate] = payload.steps
    elif isinstance(payload, p.ProgramWritten):
        step = p.Step(operator=PROGRAM, implementation=payload.implementation)
        notes.programs["train", payload.generation, payload.slot] = (step,)
    elif isinstance(payload, p.PipelinesDecoded):
        for index, steps in enumerate(payload.pipelines):
            notes.programs["validation", payload.generation, index] = steps
            notes.decoded[payload.generation, index] = steps
    elif isinstance(payload, p.ImplementationProposed):
        new, program = payload.implementation, payload.program
        notes.programs["gate", payload.generation, payload.control] = program
        changed = replace_implementation(program, payload.operator, new)
        notes.programs["gate", payload.generation, payload.slot] = changed
    elif isinstance(payload, p.OperatorProposed):
        notes.programs["gate", payload.generation, payload.control] = payload.program
        notes.programs["gate", payload.generation, payload.control - 1] = payload.extended
    elif isinstance(payload, p.RaceStarted):
        repeats = max(Counter(payload.instances).values(), default=1)
        for index, contender in enumerate(payload.contenders * repeats):
            notes.programs["race", payload.generation, index] = contender.pipeline
    elif isinstance(payload, p.TestStarted):
        for index, candidate in enumerate(payload.candidates):
            notes.programs["test", payload.attempt, index] = candidate.pipeline
    elif isinstance(payload, p.CandidateScored):
        notes.scores.append(Noted(event.seq, payload))
    elif isinstance(payload, p.GenerationScored):
        notes.scorings.append(Noted(event.seq, payload))
    elif isinstance(payload, p.CheckpointSelected):
        notes.checkpoints.append(Noted(event.seq, payload))
    elif isinstance(payload, p.PolicyUpdated):
        notes.policy.append(Noted(event.seq, payload))
    elif isinstance(payload, p.ImplementationAdded | p.ImplementationReplaced | p.ImplementationDeleted):
        proposal = before.generation.proposals.get(payload.slot) if before.generation else None
        notes.changes.append(Change(event.seq, payload, before.pools.get(payload.operator, ()), proposal))
    elif isinstance(payload, p.OperatorAdded):
        proposal = before.generation.operator_proposal if before.generation else None
        notes.changes.append(Change(event.seq, payload, (), proposal))
    elif isinstance(payload, p.EdgeReplaced | p.OperatorRetired | p.KernelReplaced):
        notes.changes.append(Change(event.seq, payload, ()))
    elif isinstance(payload, p.CallsSuspended | p.CallsResumed | p.LLMCallRefused):
        notes.incidents.append(Incident(event.seq, event.recorded_at, _incident(payload)))
    elif isinstance(payload, p.GenerationCompleted):
        minutes = (event.recorded_at - notes.times[0]) / 6e7
        notes.closings.append(_closing(before, event.seq, payload.generation, minutes))


def _incident(payload: p.CallsSuspended | p.CallsResumed | p.LLMCallRefused) -> str:
    if isinstance(payload, p.CallsSuspended):
        return f"the endpoint does not work, calls wait: {payload.reason}"
    if isinstance(payload, p.CallsResumed):
        return f"the endpoint works again after {payload.waited_s:.0f} s"
    return f"{payload.subject} was refused by the limit on {payload.limit}: {payload.reason}"


def _closing(state: RunState, seq: int, generation: int, minutes: float) -> Closing:
    epsilon = state.settings.epsilon
    return Closing(
        seq=seq,
        generation=generation,
        calls=state.ledger.used,
        tokens=state.ledger.prompt_tokens + state.ledger.completion_tokens,
        minutes=minutes,
        credits={name: state.credits.operator_credit(pool, epsilon) for name, pool in state.pools.items()},
    )
