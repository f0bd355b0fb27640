"""The open generation: what is sampled, evaluated, raced and validated, and what edits are decided on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from immutables import Map

from dga2d.events import BlobDigest, ImplementationId, InstanceKey, OperatorId
from dga2d.events import payloads as p
from dga2d.replay.state.credit import CreditTable
from dga2d.replay.state.graph import OperatorGraph, Pools
from dga2d.replay.state.outcomes import NO_OUTCOMES, EvaluationKey, Outcomes
from dga2d.replay.state.search_state import RoundState


@dataclass(frozen=True)
class SampledPipeline:
    """P_{t,j} with its implementations."""

    seq: int
    steps: tuple[p.Step, ...]


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
    kernel_slots: int = 0
    """1 where a faster kernel is asked for when everything else is done."""

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

    def landing_call(self, purpose: p.CallPurpose, slot: int) -> int | None:
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
    pipelines: tuple[tuple[p.Step, ...], ...] | None = None
    decoded_seq: int = 0
    outcomes: Outcomes = NO_OUTCOMES
    outcomes_seq: int = 0
    comparison: p.ChallengersCompared | None = None
    scores: tuple[float, ...] | None = None
    scored_seq: int = 0


class MeanGain(NamedTuple):
    """How far a program is ahead of the incumbent: a fraction, and the pairs of which that is the mean."""

    gain: float
    pairs: int

    def shrunken(self, pairs: float) -> float:
        """Return the mean with so many more pairs that show no gain; 0 without any."""
        return self.gain * self.pairs / (self.pairs + pairs) if self.pairs else 0.0

    def pooled(self, other: MeanGain) -> MeanGain:
        """Return the mean of the pairs of both."""
        pairs = self.pairs + other.pairs
        return MeanGain((self.gain * self.pairs + other.gain * other.pairs) / pairs, pairs)


@dataclass(frozen=True)
class RaceState:
    """Progress of the race of a generation."""

    seq: int
    contenders: tuple[p.Contender, ...]
    instances: tuple[InstanceKey, ...]
    rounds: tuple[int, ...]
    selecting: int
    left: tuple[int, ...]
    """Contenders that have not left, without the incumbent."""
    configurations: tuple[p.Configuration, ...] = ()
    """What the contenders brought with them."""
    round: int = 0
    """Rounds scored or skipped: a single contender needs no selection."""
    round_seq: int = 0
    """Event that began the present round, or ended the last."""
    standings: tuple[p.Standing, ...] = ()
    """Of the last round that was scored."""
    outranked: tuple[int, ...] = ()
    """Contenders that left in a later round than the first and were ahead of the incumbent, best first."""
    found: Map[int, MeanGain] = Map()
    """What the rounds that select came to, by contender; the last that each was in."""
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

    @property
    def is_screen(self) -> bool:
        """Whether it only asks what parts of the incumbent are worth: it has no final."""
        return self.selecting == len(self.rounds) > 0

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

    def found_with(self, standings: Sequence[p.Standing]) -> Map[int, MeanGain]:
        """Return what the rounds that select have come to once the present one has these standings; what
        failed is forgotten."""
        found = self.found
        for standing in standings:
            if standing.gain is None:
                found = found.delete(standing.contender) if standing.contender in found else found
            elif standing.pairs and self.round < self.selecting:
                found = found.set(standing.contender, MeanGain(standing.gain, standing.pairs))
        return found

    def gain_of(self, contender: int) -> MeanGain | None:
        """Return how far a contender was ahead in all rounds together; ``None`` where that is not known, and
        where it failed."""
        found = self.found.get(contender)
        if self.round <= self.selecting:  # no round of the finalist's has been scored
            return found
        for standing in self.standings:
            if standing.contender == contender and standing.gain is not None and standing.pairs:
                final = MeanGain(standing.gain, standing.pairs)
                return final if found is None else found.pooled(final)
        return found

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
    pipelines: tuple[tuple[p.Step, ...], ...]
    objectives: tuple[tuple[float | None, ...], ...]
    """By pipeline and instance; ``None`` for a failure."""
    comparison: p.ChallengersCompared | None
    """``None`` where the checkpoint did not take part."""

    def row(self, steps: tuple[p.Step, ...]) -> tuple[float | None, ...]:
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
    program: tuple[p.Step, ...] = ()
    """Where it is measured, with its parent."""
    control: int = -1
    """Candidate number of that program."""
    instances: tuple[InstanceKey, ...] = ()
    offer: int | None = None
    """Entry of the run's bank; ``None`` for the answer to a call."""
    measured: p.ImplementationMeasured | None = None
    """``None`` while it is not over."""
    extended: tuple[p.Step, ...] = ()
    """Of a new operator: `program` with it; empty for an implementation."""


@dataclass(frozen=True)
class GenerationState:
    """Progress of generation t."""

    number: int
    seq: int
    size: int
    """Number of candidates N, fixed when the generation starts."""
    guide: tuple[OperatorId, ...] = ()
    """The incumbent's walk when the generation started, or was sampled if that was before."""
    graph: OperatorGraph | None = None
    """What it was sampled from, where that was before it started (``sample_ahead``)."""
    pipelines: Map[int, SampledPipeline] = Map()
    outcomes: Outcomes = NO_OUTCOMES
    outcomes_seq: int = 0
    """Event that brought the last outcome."""
    scores: Map[int, float] = Map()
    scoring: Scoring | None = None
    basis: EvolutionBasis | None = None
    policy_updated_seq: int = 0
    policy_update: p.PolicyUpdated | None = None
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
    proposed_operator: p.OperatorProposed | None = None
    operator_proposal: Proposal | None = None
    """The same, as the gate measures it."""
    operator_verdict: int = 0
    """Event of the verdict on new operators; 0 before."""
    kernel_choice: p.KernelChosen | None = None
    kernel_chosen_seq: int = 0
    kernel_measured: p.KernelMeasured | None = None
    """Of the answer that has no verdict yet; ``None`` where none was measured."""
    kernel_measured_seq: int = 0
    kernel_verdict: int = 0
    """Event of the verdict on kernels; 0 before."""
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
