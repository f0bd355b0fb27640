"""A generation: the graph, pipelines, evaluations, scores, credits and updates of the policy."""

from __future__ import annotations

from typing import ClassVar, Literal

from dga2d.events._names import BlobDigest, ImplementationId, InstanceKey, OperatorId
from dga2d.events._payload import Model, Payload
from dga2d.events.payloads._shared import Edge, FailureKind, SplitName, Step


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


class ProcessUse(Model):
    """What the process that carries a run out has used since it began to."""

    cpu_s: float
    """Processor seconds of the program and of the processes that it started, evaluations among them, at
    least 0."""
    peak_bytes: int
    """Most memory that the program itself held at a time, in its whole life; evaluations have a limit of
    their own."""


class GenerationCompleted(Payload, owner="conductor", operation="generation-completed/{generation}"):
    """All agents are done with generation t; digest of the whole state."""

    left_out: ClassVar[frozenset[str]] = frozenset({"used"})

    generation: int
    state_digest: str
    used: ProcessUse | None = None
    """An observation; ``None`` where nobody measured."""


class PositionTrace(Model):
    """What one position of a pipeline did, as the evaluation child reported it."""

    score_before: float | None
    score_after: float
    elapsed_s: float
    """Under a work budget processor seconds, without those of a compiler (in logs of earlier versions seconds
    of the wall clock); else those of the wall clock."""
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
    """Processor seconds of that part, at least 0, without those of `call_s`."""
    call_s: float = 0.0
    """Processor seconds that each call of it took besides what its units took, at least 0; 0 where they were
    too few to be told, or not looked for."""


class WorkRateMeasured(Payload, owner="evaluator_pool", operation="work-rate/{subject}/{process}"):
    """What work units of an implementation are worth, measured before its units are counted for anything.

    An observation, like the result of an evaluation. The scales of charges and the costs of calls follow
    from it.
    """

    version: ClassVar[int] = 2

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
