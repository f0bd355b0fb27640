"""The immutable state of a run: everything that an agent or command may know."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Literal, NamedTuple

import msgspec
from immutables import Map

from dga2d.events import (
    BlobDigest,
    ImplementationId,
    InstanceKey,
    OperatorId,
    RunId,
    canonical_bytes,
    decode_payload,
    instance_and_copy,
)
from dga2d.events.payloads import (
    CallPurpose,
    ChallengersCompared,
    Configuration,
    Contender,
    Edge,
    EvaluationRecorded,
    FailureKind,
    ImplementationMeasured,
    InstanceEntry,
    LibraryOperator,
    OperatorProposed,
    PolicyUpdated,
    PositionTrace,
    RaceMove,
    RunStarted,
    Standing,
    Step,
    TestCandidate,
)
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.credit import CreditTable
from dga2d.replay.state.graph import OperatorGraph, Pools
from dga2d.replay.state.ledger import Ledger
from dga2d.replay.state.search_state import RoundState, SearchState
from dga2d.replay.state.training_state import TrainingState
from dga2d.replay.state.work_rates import WorkRates


def program_key(steps: Iterable[Step]) -> str:
    """Return a short name of a program; different programs have different ones."""
    return hashlib.sha256(canonical_bytes(list(steps))).hexdigest()[:16]


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
    def effort(self) -> tuple[int, float]:
        """Work units and seconds of the evaluation; decoded anew every time."""
        if not self.recorded:
            return 0, 0.0
        payload = decode_payload("EvaluationRecorded", EvaluationRecorded.version, self.recorded)
        assert isinstance(payload, EvaluationRecorded)
        return payload.work, payload.elapsed_s

    @property
    def trace(self) -> tuple[PositionTrace, ...]:
        """What every position of the pipeline did; decoded anew every time."""
        if not self.recorded:
            return ()
        payload = decode_payload("EvaluationRecorded", EvaluationRecorded.version, self.recorded)
        assert isinstance(payload, EvaluationRecorded)
        return payload.trace

    @property
    def diagnostic(self) -> str:
        """How it failed, in words; decoded anew every time."""
        if not self.recorded:
            return ""
        payload = decode_payload("EvaluationRecorded", EvaluationRecorded.version, self.recorded)
        assert isinstance(payload, EvaluationRecorded)
        return payload.diagnostic


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
    """Slots of each evolver that credit fills, 0 where nothing evolves; fixed here, whatever a resume changes
    later."""
    incumbent_edits: int = 0
    """Further edits of implementations, of operators of the incumbent."""
    answers: int = 1
    """Slots of each edit of an implementation, one behind the other: proposals made at the same time."""
    turns: int = 1
    """Slots of each of these proposals, one behind the other: each begins when the one before is measured."""
    operator_slots: int = 0
    """1 where an operator is asked for when all other edits are done."""
    lag: int = 0
    """Generations until the answers that are asked for now are taken; 0 for this one."""
    can_ask: bool = True
    """Whether that generation is one of the run, so that a rejected answer can be asked for again."""
    landing: tuple[int, ...] = ()
    """Calls whose answers are taken now, for pools, in the order of their tickets; each has a slot, behind
    the others."""
    landing_edges: tuple[int, ...] = ()
    """The same for edges."""

    @property
    def asking_slots(self) -> int:
        """Slots of implementations that this generation asks for."""
        return (self.edits + self.incumbent_edits) * self.slots_per_edit

    @property
    def implementation_slots(self) -> int:
        return self.asking_slots + len(self.landing)

    @property
    def edge_slots(self) -> int:
        return self.edits + len(self.landing_edges)

    def landing_call(self, purpose: CallPurpose, slot: int) -> int | None:
        """Return the call whose answer a slot takes; ``None`` where the slot asks for one or is not there."""
        first, landing = (
            (self.edits, self.landing_edges) if purpose == "connect" else (self.asking_slots, self.landing)
        )
        if purpose not in ("connect", "implement") or not first <= slot < first + len(landing):
            return None
        return landing[slot - first]

    @property
    def slots_per_edit(self) -> int:
        return self.answers * self.turns

    @property
    def slots(self) -> int:
        """Slots of both evolvers together."""
        return self.edge_slots + self.implementation_slots


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
    comparison: ChallengersCompared | None = None
    scores: tuple[float, ...] | None = None
    scored_seq: int = 0


@dataclass(frozen=True)
class RaceState:
    """Progress of the race of a generation."""

    seq: int
    contenders: tuple[Contender, ...]
    instances: tuple[InstanceKey, ...]
    rounds: tuple[int, ...]
    selecting: int
    left: tuple[int, ...]
    """Contenders that have not left, without the incumbent."""
    configurations: tuple[Configuration, ...] = ()
    """What the contenders brought with them."""
    round: int = 0
    """Rounds scored or skipped: a single contender needs no selection."""
    round_seq: int = 0
    """Event that began the present round, or ended the last."""
    standings: tuple[Standing, ...] = ()
    """Of the last round that was scored."""
    outranked: tuple[int, ...] = ()
    """Contenders that left in a later round than the first and were ahead of the incumbent, best first."""
    outcomes: Outcomes = NO_OUTCOMES
    """By trial: see `candidate`."""
    outcomes_seq: int = 0
    selected_seq: int = 0
    """Event that ended the race."""
    winner: int = 0
    """The contender that became the incumbent; 0 where it stayed."""

    @property
    def is_decided(self) -> bool:
        """Whether no further round is run."""
        return not self.left or self.round == len(self.rounds)

    @cached_property
    def trials(self) -> tuple[tuple[int, InstanceKey], ...]:
        """The instances, each with the number of times it comes before, which names its random stream."""
        seen: Counter[InstanceKey] = Counter()
        found = []
        for key in self.instances:
            found.append((seen[key], key))
            seen[key] += 1
        return tuple(found)

    def candidate(self, contender: int, repeat: int) -> int:
        """Return the candidate number of a contender's evaluations on an instance that came `repeat` times
        before."""
        return repeat * len(self.contenders) + contender

    @property
    def used(self) -> slice:
        """The trials by which the present round is scored: the finalist's took no part in its selection."""
        is_selecting = self.round < self.selecting or not self.selecting
        return slice(0 if is_selecting else self.rounds[self.selecting - 1], self.rounds[self.round])

    def awaited(self) -> Iterator[EvaluationKey]:
        """Yield what must be evaluated before the present round can be scored."""
        if self.is_decided:
            return
        for contender in (0, *self.left):
            for repeat, key in self.trials[self.used]:
                yield self.candidate(contender, repeat), key


@dataclass(frozen=True)
class ValidatedRound:
    """Objectives of one validation."""

    generation: int
    instances: tuple[InstanceKey, ...]
    pipelines: tuple[tuple[Step, ...], ...]
    objectives: tuple[tuple[float | None, ...], ...]
    """By pipeline and instance; ``None`` for a failure."""
    comparison: ChallengersCompared | None
    """``None`` where the checkpoint did not take part."""

    def row(self, steps: tuple[Step, ...]) -> tuple[float | None, ...]:
        """Return the objectives of a pipeline that took part."""
        return self.objectives[self.pipelines.index(steps)]


def closed_round(number: int, validation: ValidationState) -> ValidatedRound:
    """Return the objectives of the validation of generation `number`, which must be fully evaluated."""
    assert validation.pipelines is not None
    rows = [validation.outcomes.row(j) for j in range(len(validation.pipelines))]
    objectives = tuple(tuple(row[key].objective for key in validation.instances) for row in rows)
    return ValidatedRound(
        number, validation.instances, validation.pipelines, objectives, validation.comparison
    )


@dataclass(frozen=True)
class Proposal:
    """New code that has to pass the gate."""

    seq: int
    slot: int
    """Candidate number of the program with the new code, too."""
    call: int | None
    """``None`` for what the bank offered."""
    operator: OperatorId
    implementation: ImplementationId
    source: BlobDigest
    parent: ImplementationId
    is_configuration: bool
    idea: str
    program: tuple[Step, ...] = ()
    """Where it is measured, with its parent."""
    control: int = -1
    """Candidate number of that program."""
    instances: tuple[InstanceKey, ...] = ()
    offer: int | None = None
    """Entry of the run's bank; ``None`` for the answer to a call."""
    measured: ImplementationMeasured | None = None
    """``None`` while it is not over."""
    extended: tuple[Step, ...] = ()
    """Of a new operator: `program` with it; empty for an implementation."""


@dataclass(frozen=True)
class Offer:
    """An entry of the run's bank that was offered for an operator."""

    entry: int
    """Its place in ``RunStarted.bank``."""
    operator: OperatorId
    generation: int
    slot: int
    implementation: ImplementationId | None = None
    """Its name as the operator's; ``None`` where it was refused before it had one."""
    verdict: Literal["accepted", "rejected"] | None = None
    """``None`` while it is measured."""
    diagnostic: str = ""
    """Why it was rejected."""


@dataclass(frozen=True)
class TriedCode:
    """New code that was measured, for the prompts to come."""

    generation: int
    slot: int
    implementation: ImplementationId
    parent: ImplementationId
    idea: str
    gains: tuple[float | None, ...]
    is_accepted: bool
    call: int | None = None
    """``None`` for what the bank offered."""


@dataclass(frozen=True)
class GenerationState:
    """Progress of generation t."""

    number: int
    seq: int
    size: int
    """Number of candidates N, fixed when the generation starts."""
    guide: tuple[OperatorId, ...] = ()
    """The incumbent's walk when the generation started."""
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
    asked_implementations: Map[int, int] = Map()
    """Slot → event that asked for an answer which a later generation takes; such a slot gets no verdict."""
    asked_edges: Map[int, int] = Map()
    """The same for edges."""
    proposals: Map[int, Proposal] = Map()
    """By slot."""
    proposed_operator: OperatorProposed | None = None
    operator_proposal: Proposal | None = None
    """The same, as the gate measures it."""
    operator_verdict: int = 0
    """Event of the verdict on new operators; 0 before."""
    gate_outcomes: Outcomes = NO_OUTCOMES
    round: RoundState | None = None
    """Of a method that evolves whole programs, once it is planned."""
    race: RaceState | None = None
    validation: ValidationState | None = None

    @property
    def closed_edges(self) -> int:
        """Slots of edges that are done; they are treated one after the other."""
        return len(self.edge_verdicts) + len(self.asked_edges)

    @property
    def closed_slots(self) -> int:
        """Slots that have their verdict, or whose answer a later generation takes."""
        return self.closed_edges + len(self.implementation_verdicts) + len(self.asked_implementations)

    def is_closed(self, slot: int) -> bool:
        """Return whether a slot of implementations is done."""
        return slot in self.implementation_verdicts or slot in self.asked_implementations


@dataclass(frozen=True)
class ScoredProgram:
    """A complete algorithm with the score that made it the best."""

    generation: int
    candidate: int
    score: float
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Champion:
    """The program that won a race, or that no contender has beaten in one."""

    generation: int
    """Of the race that it won; 0 where it was the incumbent of the first."""
    move: RaceMove
    steps: tuple[Step, ...]


class MoveRecord(NamedTuple):
    """How contenders of one kind did in the first rounds of all races."""

    entered: int = 0
    stayed: int = 0


class TriedConstant(NamedTuple):
    """A number that a contender gave to a constant of the incumbent, and how it did in its first round."""

    implementation: ImplementationId
    """The text that is configured, without any configuration before (`RunState.unconfigured`)."""
    name: str
    value: float
    stayed: bool


@dataclass(frozen=True)
class RaceSummary:
    """How the race of a closed generation ended."""

    contenders: int
    """Without the incumbent."""
    evaluations: int
    winner: RaceMove | None
    """Kind of the contender that became the incumbent; ``None`` where the incumbent stayed."""
    change: str
    gain: float | None
    """Largest mean gain in its last round, a fraction; ``None`` where all contenders failed."""


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
    hand_tuned: tuple[LibraryOperator, ...] = ()
    """Operators of the hand-tuned baseline, if it is tested. Its code is no part of the run's, which knows
    nothing of it when it goes on."""


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
    policy: PolicyUpdated | None
    """Figures of the policy's update; ``None`` for a method that evolves whole programs."""
    race: RaceSummary | None = None


@dataclass(frozen=True)
class OwedTrial:
    """Samples in the incumbent's walk that new code or a new edge has yet to get."""

    generation: int
    """In which it was accepted."""
    implementation: ImplementationId | None
    """``None`` for an edge."""
    edge: Edge | None
    """``None`` for an implementation."""
    left: int

    @property
    def key(self) -> tuple[int, str, str]:
        """By generation, code before edges, by name: an order that no timing changes."""
        return (
            self.generation,
            "" if self.implementation is not None else ">".join(self.edge or ()),
            self.implementation or "",
        )


class Contribution(NamedTuple):
    """What an implementation accounted for in the pipelines that it was part of."""

    effort: float
    """Sum over evaluations of its share of the work or time."""
    gain: float
    """Sum over evaluations of its share of the improvement."""
    runs: int
    """Positions of evaluations that it filled."""


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
    """Source of every implementation that ever was in a pool, in the library, or measured."""
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
    bases: Map[int, EvolutionBasis] = Map()
    """What answers in flight were asked on, by the generation that asked."""
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
    champion: Champion | None = None
    """The incumbent of the races; ``None`` before the first has ended."""
    finalist: tuple[Step, ...] = ()
    """The program that was ahead of the incumbent in the last race without beating it; empty if none was."""
    runners_up: tuple[tuple[Step, ...], ...] = ()
    """The programs that were ahead of the incumbent on more than the first instances of the last race, but
    behind its finalist; best first."""
    outrun: tuple[Step, ...] = ()
    """The incumbent of that race: what its contenders were changes of."""
    raced: frozenset[str] = frozenset()
    """Programs that lost a race, by `program_key`."""
    solved: frozenset[InstanceKey] = frozenset()
    """Training instances on which the incumbent came to the reference in the last race that had them; kept
    where races and gates leave some of them out."""
    configured: Map[ImplementationId, ImplementationId] = Map()
    """Implementations made by setting constants of another → that one."""
    moves: Map[str, MoveRecord] = Map()
    """By kind of contender (`RaceMove`)."""
    tried_constants: tuple[TriedConstant, ...] = ()
    """Oldest first."""
    checkpoint: ScoredProgram | None = None
    """The best program on the validation split."""
    checkpoint_seq: int = 0
    """Event that selected it: the state there has its graph, pools and credits."""
    checkpoint_updates: int = 0
    """Updates the policy had learned from when it found the checkpoint."""
    validated: tuple[ValidatedRound, ...] = ()
    """Closed validations, where the checkpoint is chosen by all of them."""
    test: TestState | None = None
    owed_trials: tuple[OwedTrial, ...] = ()
    """What was accepted and has not been sampled often enough, in the order of `OwedTrial.key`."""
    operators: Map[OperatorId, OperatorProposed] = Map()
    """Operators that joined the graph in the run, whether or not they are still in it."""
    tried: Map[OperatorId, tuple[TriedCode, ...]] = Map()
    """What the gate measured, by generation and slot."""
    offers: tuple[Offer, ...] = ()
    """What of the run's bank was offered, in the order of `Offer.entry` and operator."""
    contributions: Map[ImplementationId, Contribution] = Map()
    """Effort and improvement in training; kept where edits go to the incumbent's operators."""
    search: SearchState = field(default_factory=SearchState)
    """What a method that evolves whole programs has found; empty in runs that evolve pipelines."""
    work_rates: WorkRates = field(default_factory=WorkRates)
    """What work units of implementations are worth; empty where they are taken as they are counted."""
    training: TrainingState | None = None
    """The training of a learned solver; ``None`` in the runs that evolve algorithms, which have all else."""

    @property
    def header(self) -> RunStarted:
        """``RunStarted`` of a run that has begun."""
        assert self.started is not None
        return self.started

    def unconfigured(self, name: ImplementationId) -> ImplementationId:
        """Return the implementation that `name` is a configuration of; itself if it is none."""
        while name in self.configured:
            name = self.configured[name]
        return name

    def hand_tuned(self, name: ImplementationId) -> LibraryOperator | None:
        """Return the operator that the last held-out test brought with the implementation `name`, if one."""
        brought = () if self.test is None else self.test.hand_tuned
        return next((o for o in brought if o.implementations[0].id == name), None)

    def source_of(self, name: ImplementationId) -> BlobDigest | None:
        """Return the text of an implementation of the run or of its held-out test; ``None`` for others."""
        if name in self.sources:
            return self.sources[name]
        operator = self.hand_tuned(name)
        return None if operator is None else operator.implementations[0].source

    def reference(self, key: InstanceKey) -> float:
        """Return y_ref of an instance of the manifest.

        Raises
        ------
        KeyError
            The instance is in no split.
        """
        return self.entry(key).reference

    def entry(self, key: InstanceKey) -> InstanceEntry:
        """Return the manifest entry of an instance, whichever its random stream. Raises KeyError if it is
        in no split."""
        splits = self.header.splits
        for name in (key, instance_and_copy(key)[0]):
            for part in (splits.train, splits.validation, splits.test):
                for entry in part:
                    if entry.key == name:
                        return entry
        raise KeyError(key)
