"""One frozen model per event type. Meanings are those of the paper's Algorithms 1 and 2.

A type is declared by its class alone: who may write it (``owner``), the operation it
completes (``operation``), the blobs it names (fields annotated `BlobDigest`). Large things (prompts, answers,
code, solutions) are such blobs. Candidates are counted ``j = 0 … N−1`` within generation ``t = 1, 2, …``;
instances are named ``group/name``. The file is long because the vocabulary is read as one page.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta
from pydantic import Field

from dga2d.events._names import AgentName, BlobDigest, ImplementationId, InstanceKey, OperatorId, RunId
from dga2d.events._payload import Model, collect_types
from dga2d.events._payload import Payload as Payload

Edge = tuple[OperatorId, OperatorId]
"""Directed edge; the sentinels are written ``START`` (O_in) and ``END`` (O_out)."""

FailureKind = Literal[
    "compile_error",
    "runtime_error",
    "infeasible",
    "timeout",
    "out_of_memory",
    "forbidden",
    "crashed",
    "oversized_answer",
]
Gains = tuple[float | None, ...]
"""Gaps before less gaps after, by instance, fractions; ``None`` where the evaluation after failed."""
Share = Annotated[float, Meta(gt=0.0), Field(gt=0.0)]
SplitName = Literal["gate", "train", "validation", "test", "race"]
"""Parts of the instances; a race runs on training instances under a name of its own."""
RaceMove = Literal[
    "incumbent", "finalist", "sampled", "code", "implementation", "walk", "constants", "crossover", "share"
]
"""How a contender of a race came about: what the race is against, the finalist of the race before, a
pipeline of this generation, new code, or one of the moves that change the incumbent."""
CallPurpose = Literal["initialize", "implement", "connect", "operator", "program", "reflect", "describe"]
RaceVerdict = Literal["stays", "failed", "behind", "outranked", "uncertain"]
LimitKind = Literal["calls", "tokens", "money"]
CALLERS: tuple[AgentName, ...] = (
    "initializer",
    "implementation_evolver",
    "edge_evolver",
    "operator_evolver",
    "method_runner",
)
"""Agents that may ask a language model; each books its own calls."""


def microusd(usd: float) -> int:
    """Return US dollars in millionths, rounded up; monotonic, so that a bound stays a bound."""
    return math.ceil(round(usd * 1_000_000, 3))


class Step(Model):
    """One position of a concrete algorithm."""

    left_out: ClassVar[frozenset[str]] = frozenset({"share"})

    operator: OperatorId
    implementation: ImplementationId
    share: Share | None = None
    """Its part of the budget relative to the other positions', where one without counts 1; see
    `dga2d.domains.budget.Budget`. ``None``, and absent from the log, where all are equal."""


def shares_of(steps: Sequence[Step]) -> tuple[float, ...]:
    """Return the part of the budget of each position relative to the others'; empty where all are equal."""
    if all(step.share is None for step in steps):
        return ()
    return tuple(1.0 if step.share is None else step.share for step in steps)


# ---------------------------------------------------------------- the run as a whole


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


class OwnScore(Model):
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

    left_out: ClassVar[frozenset[str]] = frozenset({"problem_file", "bank", "own_score"})

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
    own_score: OwnScore | None = None
    """What objectives are where they are scores; their references are then 0, the scales of their gaps 1, and
    a gap is a negated score. ``None``: the gaps are gaps."""


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


# ---------------------------------------------------------------- generations, validation and test


class GraphInitialized(Payload, owner="initializer", operation="graph-initialized"):
    """H, the operator pool, D₁ and C⁽¹⁾ (Algorithm 1, line 1)."""

    origin: Literal["proposed", "library"]
    """``library`` when every proposal was rejected and the whole library was taken instead."""
    operator_limit: int
    """K after clamping."""
    temperature: float
    """τ after clamping."""
    clamped: tuple[str, ...]
    operators: tuple[OperatorId, ...]
    edges: tuple[Edge, ...]
    pools: dict[OperatorId, tuple[ImplementationId, ...]]
    call: int | None


class GraphRejected(Payload, owner="initializer"):
    """A proposed initial graph was not valid."""

    call: int
    attempt: int
    reason: str


class GenerationStarted(Payload, owner="conductor", operation="generation-started/{generation}"):
    """Generation t begins on the graph and pools named by their digests."""

    generation: int
    graph_digest: str
    pools_digest: str


class PolicyStep(Model):
    """One decision of the pipeline policy: the feasible set M_{t,j,i} and its probabilities."""

    actions: tuple[OperatorId, ...]
    probabilities: tuple[float, ...]
    chosen: OperatorId


class PipelineSampled(
    Payload, owner="pipeline_sampler", operation="pipeline/{generation}/{candidate}", is_frequent=True
):
    """P_{t,j} with the implementation drawn at each position."""

    generation: int
    candidate: int
    steps: tuple[Step, ...]
    policy_steps: tuple[PolicyStep, ...]
    """L+1 decisions; the last chooses ``END``."""
    policy_updates: int
    """Number of updates π_θ had seen."""


class GenerationCompleted(Payload, owner="conductor", operation="generation-completed/{generation}"):
    """All agents are done with generation t; digest of the whole state."""

    generation: int
    state_digest: str


class PositionTrace(Model):
    """What one position of a pipeline did, as the evaluation child reported it."""

    score_before: float | None
    score_after: float
    elapsed_s: float
    work: int


class EvaluationRecorded(
    Payload,
    owner="evaluator_pool",
    operation="evaluation/{split}/{generation}/{candidate}/{instance}",
    is_frequent=True,
):
    """One candidate on one instance. The objective was computed by the trusted parent."""

    split: SplitName
    generation: int
    """Generation of the candidate; for tests the number of the test attempt."""
    candidate: int
    instance: InstanceKey
    objective: float | None
    """In the problem's own direction; ``None`` on failure."""
    failure: FailureKind | None
    diagnostic: str
    elapsed_s: float
    work: int
    trace: tuple[PositionTrace, ...]
    solution: BlobDigest | None


class WorkRatePoint(Model):
    """What one measurement saw: units charged and the processor time they took."""

    instance: InstanceKey
    """Training instance it was made on."""
    size: int
    """Numbers in the instance's environment, at least 1."""
    work: int
    """Units charged by the measured part, at least 0; 0 also where the measurement failed."""
    cpu_s: float
    """Processor seconds of that part, at least 0."""


class WorkRateMeasured(Payload, owner="evaluator_pool", operation="work-rate/{subject}/{process}"):
    """What work units of an implementation are worth, measured before its units are counted for anything.

    An observation, like the result of an evaluation. The scales of charges follow from it.
    """

    subject: str
    """``baseline`` for the domain's safe baseline, the reference of all others; otherwise the id of an
    implementation."""
    process: int
    """Event that began the process in which it was measured."""
    source: str
    """``measured``, or ``run RUN`` where the figures of an earlier run were taken over."""
    points: tuple[WorkRatePoint, ...]
    """One measurement for each size of instance."""


class CandidateScored(
    Payload, owner="credit_keeper", operation="candidate-scored/{generation}/{candidate}", is_frequent=True
):
    """S_{t,j} (Eq. 4), clamped below at R_fail; failures have exactly R_fail."""

    generation: int
    candidate: int
    score: float
    gaps: tuple[float | None, ...]
    """Normalised gap per instance of the batch (Eq. 3), ``None`` where the evaluation failed."""


class GenerationScored(Payload, owner="credit_keeper", operation="generation-scored/{generation}"):
    """Mean, population standard deviation and standardised rewards R̃_{t,j} (Eq. 5)."""

    generation: int
    mean: float
    deviation: float
    rewards: tuple[float, ...]


class TransitionCredit(Model):
    """Q and n of one implementation transition after the update."""

    source: ImplementationId
    """``START`` for c_start."""
    target: ImplementationId
    credit: float
    activations: int


class CreditsUpdated(Payload, owner="credit_keeper", operation="credits-updated/{generation}"):
    """The transitions activated in generation t with their new credits (Eq. 8), sorted by key."""

    generation: int
    transitions: tuple[TransitionCredit, ...]


class PolicyUpdated(Payload, owner="pipeline_sampler", operation="policy-updated/{generation}"):
    """One REINFORCE step (Eq. 7); all figures are observations of the network."""

    generation: int
    loss: float
    gradient_norm: float
    """Before clipping."""
    entropy: float
    """Mean entropy of the action distributions along the walks, in nats."""
    kl_to_initial: float | None
    """Mean KL divergence to the initial policy along the walks, in nats; ``None`` when not tracked."""
    parameters_digest: str


class PolicyCheckpointed(Payload, owner="pipeline_sampler", operation="policy-checkpointed/{generation}"):
    """Parameters and optimiser state of the policy were saved to files outside the database."""

    generation: int
    policy_updates: int
    """Updates the saved policy has learned from."""
    parameters_digest: str
    files_digest: str
    """SHA-256 over the files' digests; the name of their folder."""
    size_bytes: int


class ValidationStarted(Payload, owner="conductor", operation="validation-started/{generation}"):
    """The policy is to be validated after generation t on these instances."""

    generation: int
    instances: tuple[InstanceKey, ...]


class PipelinesDecoded(Payload, owner="pipeline_sampler", operation="pipelines-decoded/{generation}"):
    """What a validation compares: the beam's pipelines with the highest-credit implementations, or a
    method's best programs, best first, then what else takes part."""

    generation: int
    pipelines: tuple[tuple[Step, ...], ...]
    log_probabilities: tuple[float, ...]
    """Of the beam's pipelines; empty for programs of another method."""


class ValidationScored(Payload, owner="validator", operation="validation-scored/{generation}"):
    """Mean raw reward of each decoded pipeline on the validation instances."""

    generation: int
    scores: tuple[float, ...]


class ChallengerComparison(Model):
    """A validated pipeline beside the checkpoint, pair by pair: an instance under one random stream."""

    candidate: int
    """Number among the decoded pipelines."""
    pairs: int
    """Of all validations in which both took part."""
    mean_gain: float
    """Mean of the checkpoint's gap less the pipeline's, as a fraction of the reference."""
    interval: tuple[float, float] | None
    """Student's 95 % interval of the mean; ``None`` for a single pair."""
    won: int
    """Pairs in which the pipeline's gap was smaller."""
    lost: int
    """Pairs in which it was larger."""
    p_value: float
    """One-sided, of a mean gain that is not above zero."""


class ChallengersCompared(Payload, owner="validator", operation="challengers-compared/{generation}"):
    """All validated pipelines beside the checkpoint (at first: the safe baseline)."""

    generation: int
    checkpoint: int
    """Number of the checkpoint among the decoded pipelines."""
    error: float
    """Probability with which this validation may take something for better that is not."""
    comparisons: tuple[ChallengerComparison, ...]
    """One for each other pipeline, in their order."""
    better: tuple[int, ...]
    """Pipelines that are better at that error rate, by Holm's procedure; best mean first."""


class CheckpointSelected(Payload, owner="validator", operation="checkpoint-selected/{generation}"):
    """The best validated algorithm so far."""

    generation: int
    score: float
    pipeline: tuple[Step, ...]
    policy_updates: int


class Contender(Model):
    """An algorithm in a race."""

    move: RaceMove
    """How it came about."""
    change: str
    """What differs from the incumbent, in words; empty for the incumbent itself."""
    pipeline: tuple[Step, ...]
    """Its operators and implementations."""


class Configuration(Model):
    """An implementation that differs from another in its tunable constants alone; no model wrote it."""

    implementation: ImplementationId
    """Its id."""
    source: BlobDigest
    """Its text."""
    parent: ImplementationId
    """What it was made of."""
    constants: dict[str, int | float | str | bool]
    """The constants that differ, with their values."""


class RaceStarted(Payload, owner="racer", operation="race-started/{generation}"):
    """Contenders are to be compared with the incumbent on growing sets of training instances."""

    generation: int
    contenders: tuple[Contender, ...]
    """The first is the incumbent."""
    configurations: tuple[Configuration, ...]
    """Implementations that the contenders bring with them."""
    instances: tuple[InstanceKey, ...]
    """In the order in which they are used; a second occurrence has another random stream."""
    rounds: tuple[int, ...]
    """How many of `instances` have been used when each round is scored; increasing, the last uses all."""
    selecting: int
    """Rounds that select a finalist; those after them compare it with the incumbent on instances that took
    no part in its selection."""


class Standing(Model):
    """How a contender compares with the incumbent in a round: gains are gaps of the incumbent less its
    own, pair by pair."""

    contender: int
    """Its number, from 1."""
    gain: float | None
    """Mean, a fraction; ``None`` where the contender failed."""
    won: int
    """Instances with a positive gain."""
    lost: int
    """Instances with a negative gain."""
    p: float | None
    """Of "the mean gain is not above zero", by Student's and Wilcoxon's tests together; ``None`` in rounds
    that select, and for who is behind."""
    verdict: RaceVerdict
    """Why it leaves: it failed on an instance, had no positive mean gain, others gained more, or, in the last
    round, the test did not refuse that it is no better."""


class RaceRoundScored(Payload, owner="racer", operation="race-round/{generation}/{round}"):
    """All evaluations of a round are in: who stays, and why the others leave."""

    generation: int
    round: int
    """0, 1, …"""
    standings: tuple[Standing, ...]
    """Of all contenders that were left but the incumbent, by number."""


class PoolChange(Model):
    """An implementation of the incumbent that joins the pool of its operator."""

    operator: OperatorId
    """Whose pool changes."""
    added: ImplementationId
    """What joins."""
    removed: ImplementationId | None
    """The text it configures, whose credits it takes over; ``None`` where that has left the pool."""


class IncumbentSelected(Payload, owner="racer", operation="incumbent-selected/{generation}"):
    """The race is over: the incumbent from now on, the one before or the contender that beat it."""

    generation: int
    contender: int
    """0 where the incumbent stays."""
    pipeline: tuple[Step, ...]
    """The incumbent's operators and implementations."""
    pool_changes: tuple[PoolChange, ...]
    """Implementations that the pools lacked."""
    added_edges: tuple[Edge, ...]
    """Edges of its walk that the graph lacked."""


TestLabel = Literal["evolved", "baseline", "hand_tuned"]
"""What an algorithm of a held-out test is: the checkpoint, the safe baseline of the run's library, or that of
the whole library."""


class TestCandidate(Model):
    """An algorithm that goes through the held-out test."""

    label: TestLabel
    pipeline: tuple[Step, ...]
    time_limit_s: float | None
    """Seconds it may take per instance, above 0; ``None`` for the run's own budget."""


class TestStarted(Payload, owner="conductor", operation="test-started/{attempt}"):
    """The held-out test begins. A second attempt is only written when it was forced."""

    version: ClassVar[int] = 2
    left_out: ClassVar[frozenset[str]] = frozenset({"hand_tuned"})

    attempt: int
    forced: bool
    candidates: tuple[TestCandidate, ...]
    instances: tuple[InstanceKey, ...]
    hand_tuned: tuple[LibraryOperator, ...] | None = None
    """Operators of the whole library's safe baseline in its order, each with the implementation it uses,
    where that is tested too; ``None`` where it is not."""


class TestScored(Payload, owner="validator", operation="test-scored/{attempt}"):
    """Mean gap of each candidate (a fraction; ``None`` where an instance failed) on the test split."""

    attempt: int
    mean_gaps: tuple[float | None, ...]
    failures: tuple[int, ...]


# ---------------------------------------------------------------- evolution and model calls


class ImplementationEdit(
    Payload, owner="implementation_evolver", operation="implementation-verdict/{generation}/{slot}"
):
    """Common to all verdicts on implementations: one per generation and slot."""

    generation: int
    slot: int
    """0 for the lowest-credit operator, 1 for the next, … (``edits_per_generation``)."""


class ImplementationAdded(ImplementationEdit):
    """c⁺ joined the pool of O*."""

    left_out: ClassVar[frozenset[str]] = frozenset({"offer"})

    operator: OperatorId
    implementation: ImplementationId
    source: BlobDigest
    call: int | None
    """``None`` where no model was asked for it."""
    offer: int | None = None
    """Entry of the run's bank that it is, by its place; ``None`` for the answer to a call."""


class ImplementationReplaced(ImplementationEdit):
    """c⁺ took the place of c⁻ in a full pool, or of the member that it configures."""

    version: ClassVar[int] = 2
    left_out: ClassVar[frozenset[str]] = frozenset({"offer"})

    operator: OperatorId
    removed: ImplementationId
    implementation: ImplementationId
    source: BlobDigest
    call: int | None
    """``None`` where no model was asked for it."""
    inherits_credits: bool
    """It differs from the removed one in constants alone, and goes on with its credits."""
    offer: int | None = None
    """Entry of the run's bank that it is, by its place; ``None`` for the answer to a call."""


class ImplementationProposed(
    Payload, owner="implementation_evolver", operation="implementation-proposed/{generation}/{slot}"
):
    """New code runs; it is to be measured against its parent before it joins the pool."""

    left_out: ClassVar[frozenset[str]] = frozenset({"offer"})

    generation: int
    slot: int
    operator: OperatorId
    implementation: ImplementationId
    source: BlobDigest
    call: int | None
    """``None`` where no model was asked for it."""
    parent: ImplementationId
    """What it is to be better than."""
    is_configuration: bool
    """Whether it differs from its parent in constants alone."""
    idea: str
    """In one sentence, as the proposer put it; may be empty."""
    program: tuple[Step, ...]
    """The algorithm in which it is measured, with its parent."""
    control: int
    """Candidate number of that algorithm; the slot is that of the algorithm with the new code."""
    instances: tuple[InstanceKey, ...]
    """Training instances; the second half only where it is not behind on the first."""
    offer: int | None = None
    """Entry of the run's bank that it is, by its place; ``None`` for the answer to a call."""


class ImplementationMeasured(
    Payload, owner="implementation_evolver", operation="implementation-measured/{generation}/{slot}"
):
    """What new code gains over its parent, and with which credits it begins."""

    generation: int
    slot: int
    gains: tuple[float | None, ...]
    """Gap of the parent less that of the new code (fractions), on the first of the instances; ``None`` where
    the new code failed."""
    is_accepted: bool
    """Whether it joins: it does not lose, and none of its operator gained more in this generation."""
    credits: tuple[TransitionCredit, ...]
    """Of its transitions; empty where it does not join or inherits those of what it configures."""


class ImplementationDeleted(ImplementationEdit):
    """c⁻ left the pool of O* (credit not negative, more than one implementation)."""

    operator: OperatorId
    implementation: ImplementationId


class ImplementationRejected(ImplementationEdit, completes_if="is_final"):
    """A proposal failed validation; `is_final` when no attempt is left and the pool stays as it is."""

    left_out: ClassVar[frozenset[str]] = frozenset({"offer"})

    operator: OperatorId
    call: int | None
    """``None`` where no model was asked for it."""
    attempt: int
    """0 for what the bank offers."""
    stage: str
    diagnostic: str
    is_final: bool
    offer: int | None = None
    """Entry of the run's bank that it is, by its place; ``None`` for the answer to a call."""


class ImplementationsKept(ImplementationEdit):
    """Nothing to do for this slot."""

    reason: str


class EdgeReplaced(Payload, owner="edge_evolver", operation="edge-verdict/{generation}/{slot}"):
    """Edges removed and added in one valid edit."""

    generation: int
    slot: int
    removed: tuple[Edge, ...]
    added: tuple[Edge, ...]
    call: int


class EdgeRejected(
    Payload, owner="edge_evolver", operation="edge-verdict/{generation}/{slot}", completes_if="is_final"
):
    """A proposed edge edit was not valid; `is_final` when no attempt is left."""

    generation: int
    slot: int
    call: int
    attempt: int
    reason: str
    is_final: bool


class EdgesKept(Payload, owner="edge_evolver", operation="edge-verdict/{generation}/{slot}"):
    """No edge has negative credit, or none could be exchanged."""

    generation: int
    slot: int
    reason: str


class OperatorProposed(Payload, owner="operator_evolver", operation="operator-proposed/{generation}"):
    """An operator that the graph lacks runs; it is to be measured inside the incumbent before it joins."""

    generation: int
    operator: OperatorId
    """No operator had this id before."""
    title: str
    """Its name for people."""
    category: str
    """Its role."""
    requires: Literal["none", "partial", "complete"]
    """The kind of solution it accepts."""
    provides: Literal["partial", "complete"]
    """The kind of solution it leaves."""
    summary: str
    """What it does, in one sentence of the proposer's."""
    edges: tuple[Edge, ...]
    """Into the graph, each with the operator at one end."""
    implementation: ImplementationId
    source: BlobDigest
    call: int
    program: tuple[Step, ...]
    """The algorithm it is measured against: the incumbent."""
    extended: tuple[Step, ...]
    """That algorithm with the operator."""
    control: int
    """Candidate number of the algorithm without it; that with it has the number before."""
    instances: tuple[InstanceKey, ...]
    """Training instances; the second half only where it is not behind on the first."""


class OperatorAdded(Payload, owner="operator_evolver", operation="operator-verdict/{generation}"):
    """A proposed operator joined the graph with its edges and its first implementation."""

    generation: int
    operator: OperatorId
    implementation: ImplementationId
    call: int
    gains: Gains
    """Gap of the incumbent less that of the incumbent with the operator, by instance."""
    credits: tuple[TransitionCredit, ...]
    """Of its transitions in that algorithm."""


class OperatorRetired(Payload, owner="operator_evolver", operation="operator-retired/{generation}"):
    """The operator used least left the graph to make room, with its edges, pool and credits."""

    generation: int
    operator: OperatorId
    uses: int
    """Candidates that used it so far."""


class OperatorRejected(
    Payload, owner="operator_evolver", operation="operator-verdict/{generation}", completes_if="is_final"
):
    """A proposed operator does not join; `is_final` when no further answer is asked for."""

    generation: int
    call: int
    attempt: int
    stage: str
    diagnostic: str
    gains: Gains
    """As measured; empty where nothing was."""
    is_final: bool


class OperatorsKept(Payload, owner="operator_evolver", operation="operator-verdict/{generation}"):
    """No operator was asked for, or no answer could be had."""

    generation: int
    reason: str


# ---------------------------------------------------------------- other methods: whole programs


class ProgramAsk(Model):
    """One thing that a round asks a model for, or a program that it takes as it is."""

    purpose: Literal["program", "reflect", "describe"]
    """A candidate, words, or words about a program that is evaluated when it has them."""
    variation: str
    """What is asked for, by the method's own name: ``e1``, ``crossover``, …; ``seed`` for a program of the
    library, which no model is asked for."""
    parents: tuple[ImplementationId, ...]
    """Programs that the prompt shows, in its order; of a seed the program itself."""
    after: int | None
    """Slot of the round whose text it is given: a reflection, or the program to be described; ``None`` for
    none."""


class RoundPlanned(Payload, owner="method_runner", operation="round-planned/{generation}"):
    """What a method asks for in round t; slots are the places of `asks`."""

    generation: int
    phase: str
    """The method's own name of the round: ``seeds``, ``initial``, ``crossover``, …"""
    asks: tuple[ProgramAsk, ...]
    """What is asked for, by slot; at least one thing."""
    calls_left: int
    """Calls that the round may use, shared out evenly over the slots."""


class ProgramWritten(Payload, owner="method_runner", operation="round-slot/{generation}/{slot}"):
    """A complete program is there. It becomes the candidate of its slot at once, or when it is described."""

    generation: int
    slot: int
    """Of the round; also the number of the candidate."""
    implementation: ImplementationId
    """Of the operator ``program``."""
    source: BlobDigest
    call: int | None
    """``None`` for a program of the library."""
    idea: str
    """In one sentence, as the proposer put it; may be empty."""


class ProgramRejected(
    Payload, owner="method_runner", operation="round-slot/{generation}/{slot}", completes_if="is_final"
):
    """An answer is no program, or no reflection; `is_final` when no further call is made for the slot."""

    generation: int
    slot: int
    """Of the round; also the number of the candidate."""
    call: int
    attempt: int
    """0, 1, …: answers of the slot that were refused before."""
    stage: str
    """The check that failed."""
    diagnostic: str
    """What was wrong, for whoever is to do better."""
    is_final: bool
    """Whether the slot goes without."""


class ProgramSkipped(Payload, owner="method_runner", operation="round-slot/{generation}/{slot}"):
    """Nothing is asked for in a slot: no call may be made, or what it builds on is missing."""

    generation: int
    slot: int
    """Of the round; also the number of the candidate."""
    reason: str
    """Why, in words."""


class ReflectionWritten(Payload, owner="method_runner", operation="round-slot/{generation}/{slot}"):
    """A model's words about programs: a hint, what was learned so far, or what a program does."""

    generation: int
    slot: int
    """Of the round; also the number of the candidate."""
    text: str
    """On one line."""
    call: int


class TreeNode(Model):
    """A program as a node of a method's tree, as it is from now on."""

    program: ImplementationId
    """The node."""
    parent: ImplementationId | None
    """``None`` for a child of the root, which is no program."""
    value: float
    """What the search takes the subtree to be worth; larger is better."""
    visits: int
    """How often it or one of its subtree was expanded into."""


class PopulationUpdated(Payload, owner="method_runner", operation="population-updated/{generation}"):
    """The round is over: what the method works on from now on."""

    generation: int
    population: tuple[ImplementationId, ...]
    """In the method's own order, usually best first."""
    archive: tuple[ImplementationId, ...]
    """What is kept beside it: the elite, or the programs that no other dominates; empty where a method keeps
    none."""
    nodes: tuple[TreeNode, ...]
    """Nodes of the tree that are new or changed."""
    memory: str
    """What else the method has to remember, in its own words; replaces what was there."""


class Ticket(Model):
    """What an answer is for that is taken in a later generation than the one that asks for it."""

    slot: int
    """Of the generation that asks."""
    lands: int
    """Generation that takes the answer, and waits for it if it is late."""
    operator: OperatorId | None
    """Whose pool is edited; ``None`` for an edit of edges."""
    parent: ImplementationId | None
    """The implementation to improve on; ``None`` for an edit of edges."""
    edge: Edge | None
    """The edge to be exchanged; ``None`` for an edit of a pool."""


class LLMCallReserved(Payload, owner=CALLERS, operation="llm-call/{call}"):
    """A call is charged before it is sent; the store refuses a number twice or over the limit."""

    left_out: ClassVar[frozenset[str]] = frozenset({"choice", "ticket"})

    call: int
    """1, 2, … up to the limit."""
    purpose: CallPurpose
    subject: str
    """What the call is for, e.g. ``implement/3/0``."""
    attempt: int
    prompt: BlobDigest
    template: str
    model: str
    reserved_tokens: int = 0
    """Most tokens the call can use, prompt and answer together; held until it is settled."""
    reserved_microusd: int = 0
    """Most it can cost, in millionths of a US dollar."""
    choice: str | None = None
    """Of several models the one chosen for this call, as the settings name it; `model` is another where it
    was down. ``None`` where a run has a single one."""
    ticket: Ticket | None = None
    """Where edits are made in a later generation (``edit_lag``); ``None`` where the answer is waited for."""


class LLMCallSettled(Payload, owner=CALLERS, operation="llm-call-end/{call}"):
    """The provider answered."""

    call: int
    response: BlobDigest
    prompt_tokens: int
    completion_tokens: int
    is_estimated: bool
    """Token counts were not reported by the provider."""
    cost_usd: float
    elapsed_s: float
    reasoning: BlobDigest | None = None
    """What the model wrote before its answer; kept, never parsed. ``None`` when there was nothing."""
    refused_attempts: int = 0
    """Attempts the endpoint did not accept (no connection, 429, 503) before this one."""
    response_id: str | None = None
    """The provider's own name of the answer; ``None`` when it gave none."""

    @property
    def tokens(self) -> int:
        """Tokens used, prompt and answer together."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def microusd(self) -> int:
        """Cost in millionths of a US dollar, rounded up."""
        return microusd(self.cost_usd)


class LLMCallAbandoned(Payload, owner=CALLERS, operation="llm-call-end/{call}"):
    """No answer will come; the call and all that was reserved for it stay spent."""

    call: int
    reason: str


class LLMCallRefused(Payload, owner=CALLERS, operation="llm-call-refused/{subject}/{attempt}"):
    """The store did not take a reservation: what the call could use is more than what is left."""

    purpose: CallPurpose
    subject: str
    attempt: int
    limit: LimitKind
    reason: str


class CallsSuspended(Payload, owner="conductor"):
    """The model's endpoint does not work; calls wait until it does, and cost nothing meanwhile."""

    reason: str


class CallsResumed(Payload, owner="conductor"):
    """The model's endpoint works again."""

    waited_s: float


PAYLOAD_TYPES = MappingProxyType(collect_types(Payload))
"""The closed registry, by name: nothing outside it is ever decoded. Built and checked at import."""
