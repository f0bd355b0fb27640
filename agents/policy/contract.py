"""What a pipeline policy is: sample bounded walks, decode the best ones, learn from rewards.

References
----------
DGA2D paper, Section 3.4 (Eq. 7) and Appendix D.1 (masked action distribution, factorisation, loss);
Appendix C.2, Template II (policy context); Appendix E.1 (optimiser and beam search).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import numpy as np

from dga2d.events import OperatorId
from dga2d.replay.state.graph import OperatorGraph

DType = Literal["float32", "bfloat16"]


@dataclass(frozen=True)
class PolicyContext:
    """What π_θ is conditioned on: D_t, the bound L_max, and the words of the prompt."""

    graph: OperatorGraph
    max_length: int
    """L_max ≥ 1: most operators in a pipeline."""
    temperature: float
    """τ > 0 of the tempered, masked softmax; the same for sampling, decoding and the loss."""
    domain_summary: str
    instance_summary: str
    """Scalar sizes and array shapes of the instances."""
    titles: Mapping[OperatorId, str]
    """Operator → title shown beside its alias; operators without one are shown by their id."""
    guide: tuple[OperatorId, ...] = ()
    """A walk that the policy begins close to; see `dga2d.agents.policy.walks.log_prior`."""
    focus: float = 0.0
    """Probability, 0 ≤ focus < 1, with which a step of a policy that knows nothing follows the guide where it
    may; 0: it has no guide."""

    def __post_init__(self) -> None:
        if self.max_length < 1:
            raise ValueError(f"expected max_length >= 1, got {self.max_length}")
        if not self.temperature > 0.0:
            raise ValueError(f"expected temperature > 0, got {self.temperature}")
        if not 0.0 <= self.focus < 1.0:
            raise ValueError(f"expected 0 <= focus < 1, got {self.focus}")


@dataclass(frozen=True)
class WalkStep:
    """One decision: the feasible set M_{t,j,i} (sorted), its probabilities, and what was drawn."""

    actions: tuple[OperatorId, ...]
    probabilities: tuple[float, ...]
    chosen: OperatorId


@dataclass(frozen=True)
class SampledWalk:
    """A pipeline P_{t,j} without its sentinels, and the L+1 decisions that led to it."""

    operators: tuple[OperatorId, ...]
    steps: tuple[WalkStep, ...]

    @property
    def log_probability(self) -> float:
        """Sum of the logarithms of the recorded probabilities of the chosen actions."""
        return sum(math.log(s.probabilities[s.actions.index(s.chosen)]) for s in self.steps)


@dataclass(frozen=True)
class DecodedWalk:
    """A pipeline found by beam search and its log-probability under the tempered, masked policy."""

    operators: tuple[OperatorId, ...]
    log_probability: float


@dataclass(frozen=True)
class UpdateReport:
    """Figures of one REINFORCE step, all taken before the step except the digest."""

    loss: float
    """Eq. 7, less the entropy bonus."""
    gradient_norm: float
    """Global L2 norm before clipping."""
    entropy: float
    """Mean entropy in nats of the action distributions met along the walks."""
    parameters_digest: str
    """:meth:`PipelinePolicy.digest` after the step."""
    kl_to_initial: float | None
    """Mean KL(π_θ ‖ π_θ0) in nats over the same distributions; ``None`` when not tracked."""


@dataclass(frozen=True)
class PolicySettings:
    """How a language-model policy learns and where it runs."""

    learning_rate: float = 1e-4
    max_gradient_norm: float = 1.0
    entropy_bonus: float = 0.0
    """Weight, in the loss, of the mean entropy of the decisions along the walks; the paper has none."""
    weight_decay: float = 0.0
    """Decoupled decay of AdamW, applied to matrices except embeddings; the paper names none."""
    dtype: DType = "float32"
    """Format of the parameters; probabilities are always formed in double precision."""
    threads: int = 0
    """Threads of a call; 0: one for the embedded model, torch's own choice for others."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    lora_rank: int = 0
    """Rank of the trained low-rank adapters; 0 trains all parameters."""
    gradient_checkpointing: bool = False
    """Recompute activations in the backward pass: less memory, more time."""
    track_kl: bool | None = None
    """Report KL to the initial policy; ``None``: where it costs little (embedded model, adapters)."""
    alias_capacity: int = 128
    """Operators the policy must be able to name, ``END`` included."""
    local_files_only: bool = False
    """Never ask the hub for a model that is not in the local cache."""

    def __post_init__(self) -> None:
        if not self.learning_rate > 0.0:
            raise ValueError(f"expected learning_rate > 0, got {self.learning_rate}")
        if not self.max_gradient_norm > 0.0:
            raise ValueError(f"expected max_gradient_norm > 0, got {self.max_gradient_norm}")
        for name in ("entropy_bonus", "weight_decay"):
            if not getattr(self, name) >= 0.0:
                raise ValueError(f"expected {name} >= 0, got {getattr(self, name)}")
        for name, least in (("threads", 0), ("lora_rank", 0), ("alias_capacity", 2)):
            if getattr(self, name) < least:
                raise ValueError(f"expected {name} >= {least}, got {getattr(self, name)}")


class PipelinePolicy(Protocol):
    """A distribution over the bounded walks of an operator graph that can learn from rewards.

    Every method is a function of its arguments and of the updates made so far; none draws random
    numbers of its own. Calls block for the time of the computation and must not overlap.
    """

    @property
    def name(self) -> str:
        """``uniform``, ``embedded-qwen2``, or ``<model type>:<directory or hub name>``."""
        ...

    def sample(self, context: PolicyContext, draws: Sequence[np.random.Generator]) -> tuple[SampledWalk, ...]:
        """Draw one walk per stream. Every decision takes one number u from its walk's stream and chooses
        ``choose(probabilities, u)`` over the recorded probabilities.

        Raises
        ------
        PolicyContextError
            No pipeline fits the graph and length bound, or the model cannot hold the context.
        """
        ...

    def decode(self, context: PolicyContext, width: int) -> tuple[DecodedWalk, ...]:
        """Return at most `width` distinct pipelines, found by constrained beam search, best first.

        Equal log-probabilities are ordered by operator ids. Exhaustive when `width` is at least the
        number of pipelines.

        Raises
        ------
        PolicyContextError
            As in :meth:`sample`.
        """
        ...

    def update(
        self, context: PolicyContext, walks: Sequence[tuple[OperatorId, ...]], rewards: Sequence[float]
    ) -> UpdateReport:
        """Make one step on L = −(1/N) Σ_j R̃_j log π_θ(P_j | D_t), with `context` as at sampling, less the
        entropy bonus where there is one.

        Raises
        ------
        InfeasibleWalkError
            A walk leaves the feasible sets of the context's graph.
        PolicyDivergedError
            The loss or its gradient is not finite; nothing was changed.
        """
        ...

    def digest(self) -> str:
        """Return the SHA-256 over names, shapes and bytes of all parameters in hex digits, or ``uniform``."""
        ...

    def save(self, directory: Path) -> None:
        """Write parameters and optimiser state as safetensors files below `directory`."""
        ...

    def load_state(self, directory: Path) -> None:
        """Restore what :meth:`save` wrote; the policy then continues exactly as the saved one.

        Raises
        ------
        PolicyCheckpointError
            A file is missing or damaged, or belongs to another model.
        """
        ...
