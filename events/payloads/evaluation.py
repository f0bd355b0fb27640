"""Evaluations, and what is learned from them: scores, credit, the policy."""

from __future__ import annotations

from dga2d.events.ids import BlobDigest, ImplementationId, InstanceKey
from dga2d.events.payloads.base import FailureKind, Model, Payload, SplitName


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
