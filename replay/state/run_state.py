"""The immutable state of a run: everything that an agent or command may know."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from immutables import Map

from dga2d.events import (
    BlobDigest,
    ImplementationId,
    InstanceKey,
    OperatorId,
    RunId,
    canonical_bytes,
    instance_and_copy,
)
from dga2d.events import payloads as p
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.credit import CreditTable
from dga2d.replay.state.generation_state import EvolutionBasis, GenerationState, MeanGain, ValidatedRound
from dga2d.replay.state.graph import OperatorGraph
from dga2d.replay.state.ledger import Ledger
from dga2d.replay.state.outcomes import NO_OUTCOMES, BestMet, Outcomes
from dga2d.replay.state.search_state import SearchState
from dga2d.replay.state.training_state import TrainingState
from dga2d.replay.state.work_rates import WorkRates


def program_key(steps: Iterable[p.Step]) -> str:
    """Return a short name of a program; different programs have different ones."""
    return hashlib.sha256(canonical_bytes(list(steps))).hexdigest()[:16]


RunStatus = Literal["new", "running", "paused", "completed", "failed"]


OPERATOR_SLOT = -1
"""Stands for the slot of what is to join as an operator of its own."""


@dataclass(frozen=True)
class Offer:
    """An entry of the run's bank that was offered for an operator."""

    entry: int
    """Its place in ``RunStarted.bank``."""
    operator: OperatorId
    generation: int
    slot: int
    """`OPERATOR_SLOT` where it is to be an operator of its own."""
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
    failure: str = ""
    """Where and how it failed first, if it did."""


class Declined(NamedTuple):
    """That a model, asked for code of an operator, would change nothing."""

    generation: int
    pool: tuple[ImplementationId, ...]
    """The operator's pool when the edits of that generation began."""


@dataclass(frozen=True)
class TriedKernel:
    """What came of asking for a faster kernel in one generation."""

    generation: int
    kernel: str
    factor: float | None = None
    """How many times as fast the one is that took its place; ``None`` where none did."""
    diagnostic: str = ""
    """Why the last answer did not."""


@dataclass(frozen=True)
class ScoredProgram:
    """A complete algorithm with the score that made it the best."""

    generation: int
    candidate: int
    score: float
    steps: tuple[p.Step, ...]


@dataclass(frozen=True)
class Champion:
    """The program that won a race, or that no contender has beaten in one."""

    generation: int
    """Of the race that it won; 0 where it was the incumbent of the first."""
    move: p.RaceMove
    steps: tuple[p.Step, ...]


class MoveRecord(NamedTuple):
    """How contenders of one kind did in the first rounds of all races."""

    entered: int = 0
    stayed: int = 0
    ahead: int = 0
    """Those of `stayed` that did not tie with the incumbent."""


class TriedConstant(NamedTuple):
    """A number that a contender gave to a constant of the incumbent, and how it did in its first round."""

    implementation: ImplementationId
    """The text that is configured, without any configuration before (`RunState.unconfigured`)."""
    name: str
    value: float
    stayed: bool


class ScreenedProgram(NamedTuple):
    """The incumbent with other constants and, some, with other functions: all that a screen asked about."""

    steps: tuple[p.Step, ...]
    gain: float | None
    """Mean over the instances, a fraction; ``None`` where it failed."""


class Screened(NamedTuple):
    """What a screen found of the incumbent's constants and functions (`screen_instances`)."""

    base: tuple[p.Step, ...]
    """The incumbent."""
    programs: tuple[ScreenedProgram, ...]
    instances: int


class Promising(NamedTuple):
    """A program with new code that is ahead of the incumbent, without having taken its place."""

    steps: tuple[p.Step, ...]
    gain: MeanGain
    """Over all pairs since it was proposed, or since another incumbent changed the same position."""


@dataclass(frozen=True)
class RaceSummary:
    """How the race of a closed generation ended."""

    contenders: int
    """Without the incumbent."""
    evaluations: int
    winner: p.RaceMove | None
    """Kind of the contender that became the incumbent; ``None`` where the incumbent stayed."""
    change: str
    gain: float | None
    """Largest mean gain in its last round, a fraction; ``None`` where all contenders failed."""
    is_screen: bool = False
    """Whether it only asked what parts of the incumbent are worth (`RaceState.is_screen`)."""


@dataclass(frozen=True)
class TestState:
    """Progress of one held-out test."""

    seq: int
    attempt: int
    forced: bool
    candidates: tuple[p.TestCandidate, ...]
    instances: tuple[InstanceKey, ...]
    outcomes: Outcomes = NO_OUTCOMES
    outcomes_seq: int = 0
    mean_gaps: tuple[float | None, ...] | None = None
    hand_tuned: tuple[p.LibraryOperator, ...] = ()
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
    policy: p.PolicyUpdated | None
    """Figures of the policy's update; ``None`` for a method that evolves whole programs."""
    race: RaceSummary | None = None


@dataclass(frozen=True)
class OwedTrial:
    """Samples in the incumbent's walk that new code or a new edge has yet to get."""

    generation: int
    """In which it was accepted."""
    implementation: ImplementationId | None
    """``None`` for an edge."""
    edge: p.Edge | None
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
    started: p.RunStarted | None = None
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
    ahead: Map[int, GenerationState] = Map()
    """Generations that were sampled before they start, by number, with what is evaluated of them."""
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
    finalist: tuple[p.Step, ...] = ()
    """The program that was ahead of the incumbent in the last race without beating it; empty if none was."""
    runners_up: tuple[tuple[p.Step, ...], ...] = ()
    """The programs that were ahead of the incumbent on more than the first instances of the last race, but
    behind its finalist; best first."""
    outrun: tuple[p.Step, ...] = ()
    """The incumbent of that race: what its contenders were changes of."""
    promising: tuple[Promising, ...] = ()
    """What races are to meet again (`race_memory`)."""
    raced: frozenset[str] = frozenset()
    """Programs that lost a race, by `program_key`."""
    solved: frozenset[InstanceKey] = frozenset()
    """Training instances on which the incumbent came to the reference in the last race that had them; kept
    where races and gates leave some of them out."""
    best_met: Map[InstanceKey, BestMet] = Map()
    """What programs of races came to on training instances; kept where prompts tell it."""
    configured: Map[ImplementationId, ImplementationId] = Map()
    """Implementations made by setting constants of another → that one."""
    moves: Map[str, MoveRecord] = Map()
    """By kind of contender (`RaceMove`)."""
    tried_constants: tuple[TriedConstant, ...] = ()
    """Oldest first."""
    far: tuple[tuple[p.Step, ...], ...] = ()
    """Programs that went far in races, which texts of later ones are put together from (`race_children`)."""
    screened: Screened | None = None
    """What the last race found if it was a screen."""
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
    operators: Map[OperatorId, p.OperatorProposed] = Map()
    """Operators that joined the graph in the run, whether or not they are still in it."""
    tried: Map[OperatorId, tuple[TriedCode, ...]] = Map()
    """What the gate measured, by generation and slot."""
    declined: Map[OperatorId, tuple[Declined, ...]] = Map()
    """When models would change nothing about an operator, the oldest first."""
    kernels: Map[str, BlobDigest] = Map()
    """Present texts of the kernels; empty where none are offered."""
    tried_kernels: tuple[TriedKernel, ...] = ()
    """Oldest first."""
    successors: Map[ImplementationId, ImplementationId] = Map()
    """Implementations that left their pools for the same with a faster kernel → that."""
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
    def header(self) -> p.RunStarted:
        """``RunStarted`` of a run that has begun."""
        assert self.started is not None
        return self.started

    def sampled(self, number: int) -> GenerationState | None:
        """Return generation `number` if it is open or was sampled ahead."""
        if self.generation is not None and self.generation.number == number:
            return self.generation
        return self.ahead.get(number)

    def next_operator(self) -> int | None:
        """Return the entry of the bank that is offered next as an operator of its own; ``None`` where no more
        are offered."""
        made = [offer for offer in self.offers if offer.slot == OPERATOR_SLOT]
        if len(made) >= self.settings.bank_operators or not self.settings.gate_instances:
            return None
        known = {*self.operator_of.values(), *(offer.operator for offer in made)}
        for number, entry in enumerate(self.header.bank or ()):
            is_new = entry.domain == self.header.domain and entry.operator not in known
            if is_new and entry.provides != "none":
                return number
        return None

    def unconfigured(self, name: ImplementationId) -> ImplementationId:
        """Return the implementation that `name` configures, or `name` itself."""
        while name in self.configured:
            name = self.configured[name]
        return name

    def successor(self, name: ImplementationId) -> ImplementationId:
        """Return what an implementation has become by faster kernels; itself where nothing."""
        while name in self.successors:
            name = self.successors[name]
        return name

    def hand_tuned(self, name: ImplementationId) -> p.LibraryOperator | None:
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

    def entry(self, key: InstanceKey) -> p.InstanceEntry:
        """Return the manifest entry of an instance, whichever its random stream. Raises KeyError if it is
        in no split."""
        splits = self.header.splits
        for name in (key, instance_and_copy(key)[0]):
            for part in (splits.train, splits.validation, splits.test):
                for entry in part:
                    if entry.key == name:
                        return entry
        raise KeyError(key)
