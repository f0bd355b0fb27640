"""A generation: walks over the graph, evaluations, what is learned from them, validation."""

from __future__ import annotations

from typing import Literal

from dga2d.events._names import BlobDigest, ImplementationId, InstanceKey, OperatorId
from dga2d.events.payloads.base import Edge, FailureKind, Model, Payload, SplitName, Step


class GraphInitialized(Payload):
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

    def operation(self) -> str:
        return "graph-initialized"


class GraphRejected(Payload):
    """A proposed initial graph was not valid."""

    call: int
    attempt: int
    reason: str


class GenerationStarted(Payload):
    """Generation t begins on the graph and pools named by their digests."""

    generation: int
    graph_digest: str
    pools_digest: str

    def operation(self) -> str:
        return f"generation-started/{self.generation}"


class PolicyStep(Model):
    """One decision of the pipeline policy: the feasible set M_{t,j,i} and its probabilities."""

    actions: tuple[OperatorId, ...]
    probabilities: tuple[float, ...]
    chosen: OperatorId


class PipelineSampled(Payload):
    """P_{t,j} with the implementation drawn at each position."""

    generation: int
    candidate: int
    steps: tuple[Step, ...]
    policy_steps: tuple[PolicyStep, ...]
    """L+1 decisions; the last chooses ``END``."""
    policy_updates: int
    """Number of updates π_θ had seen."""

    def operation(self) -> str:
        return f"pipeline/{self.generation}/{self.candidate}"


class GenerationCompleted(Payload):
    """Everyone has spoken about generation t; digest of the whole state."""

    generation: int
    state_digest: str

    def operation(self) -> str:
        return f"generation-completed/{self.generation}"


class PositionTrace(Model):
    """What one position of a pipeline did, as the evaluation child reported it."""

    score_before: float | None
    score_after: float
    elapsed_s: float
    work: int


class EvaluationRecorded(Payload):
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

    def operation(self) -> str:
        return f"evaluation/{self.split}/{self.generation}/{self.candidate}/{self.instance}"


class CandidateScored(Payload):
    """S_{t,j} (Eq. 4), clamped below at R_fail; failures have exactly R_fail."""

    generation: int
    candidate: int
    score: float
    gaps: tuple[float | None, ...]
    """Normalised gap per instance of the batch (Eq. 3), ``None`` where the evaluation failed."""

    def operation(self) -> str:
        return f"candidate-scored/{self.generation}/{self.candidate}"


class GenerationScored(Payload):
    """Mean, population standard deviation and standardised rewards R̃_{t,j} (Eq. 5)."""

    generation: int
    mean: float
    deviation: float
    rewards: tuple[float, ...]

    def operation(self) -> str:
        return f"generation-scored/{self.generation}"


class TransitionCredit(Model):
    """Q and n of one implementation transition after the update."""

    source: ImplementationId
    """``START`` for c_start."""
    target: ImplementationId
    credit: float
    activations: int


class CreditsUpdated(Payload):
    """The transitions activated in generation t with their new credits (Eq. 8), sorted by key."""

    generation: int
    transitions: tuple[TransitionCredit, ...]

    def operation(self) -> str:
        return f"credits-updated/{self.generation}"


class PolicyUpdated(Payload):
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

    def operation(self) -> str:
        return f"policy-updated/{self.generation}"


class PolicyCheckpointed(Payload):
    """Parameters and optimiser state of the policy were saved to files outside the database."""

    generation: int
    policy_updates: int
    """Updates the saved policy has learned from."""
    parameters_digest: str
    files_digest: str
    """SHA-256 over the files' digests; the name of their folder."""
    size_bytes: int

    def operation(self) -> str:
        return f"policy-checkpointed/{self.generation}"


class ValidationStarted(Payload):
    """The policy is to be validated after generation t on these instances."""

    generation: int
    instances: tuple[InstanceKey, ...]

    def operation(self) -> str:
        return f"validation-started/{self.generation}"


class PipelinesDecoded(Payload):
    """Beam search result: pipelines with the highest-credit implementations, best first."""

    generation: int
    pipelines: tuple[tuple[Step, ...], ...]
    log_probabilities: tuple[float, ...]

    def operation(self) -> str:
        return f"pipelines-decoded/{self.generation}"


class ValidationScored(Payload):
    """Mean raw reward of each decoded pipeline on the validation instances."""

    generation: int
    scores: tuple[float, ...]

    def operation(self) -> str:
        return f"validation-scored/{self.generation}"


class CheckpointSelected(Payload):
    """The best validated algorithm so far."""

    generation: int
    score: float
    pipeline: tuple[Step, ...]
    policy_updates: int

    def operation(self) -> str:
        return f"checkpoint-selected/{self.generation}"


class TestCandidate(Model):
    """An algorithm that goes through the held-out test."""

    label: Literal["evolved", "baseline"]
    pipeline: tuple[Step, ...]


class TestStarted(Payload):
    """The held-out test begins. A second attempt is only written when it was forced."""

    attempt: int
    forced: bool
    candidates: tuple[TestCandidate, ...]
    instances: tuple[InstanceKey, ...]

    def operation(self) -> str:
        return f"test-started/{self.attempt}"


class TestScored(Payload):
    """Mean gap of each candidate (a fraction; ``None`` where an instance failed) on the test split."""

    attempt: int
    mean_gaps: tuple[float | None, ...]
    failures: tuple[int, ...]

    def operation(self) -> str:
        return f"test-scored/{self.attempt}"
