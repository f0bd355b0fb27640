"""Errors of the pipeline policy.

PolicyError
├── PolicyLoadError             a model cannot be used; raised while the policy is constructed
│   ├── PolicyNotFoundError     no such model directory, or it cannot be had offline
│   ├── NotCausalModelError     the model does not predict the next token
│   ├── TokenizerMissingError   the model comes without a usable tokenizer
│   ├── AliasError              the tokenizer yields too few aliases of equal token length
│   └── PolicyMemoryError       training it needs more memory than there is
├── PolicyContextError          the graph or the prompt does not fit the model
├── InfeasibleWalkError         a walk to learn from is not a walk of the graph
├── PolicyDivergedError         an update produced values that are not finite
└── PolicyCheckpointError       a saved state is missing, damaged or of another model
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dga2d.events import Dga2dError


class PolicyError(Dga2dError):
    """Root of the errors about the pipeline policy."""


class PolicyLoadError(PolicyError):
    """The model named by `spec` cannot serve as a policy."""

    def __init__(self, spec: str, reason: str) -> None:
        self.spec = spec
        self.reason = reason
        super().__init__(f"policy {spec!r}: {reason}")


class PolicyNotFoundError(PolicyLoadError, FileNotFoundError):
    """Neither a model directory nor a model that the hub or its local cache can give."""


class NotCausalModelError(PolicyLoadError):
    """The checkpoint is not that of a causal language model."""


class TokenizerMissingError(PolicyLoadError):
    """The checkpoint has no tokenizer, or one that cannot be loaded."""


class AliasError(PolicyLoadError):
    """The vocabulary splits every set of candidate aliases unevenly, or does not tell them apart."""


class PolicyMemoryError(PolicyLoadError, MemoryError):
    """Training needs `needed_bytes`; `available_bytes` are free."""

    def __init__(self, spec: str, needed_bytes: int, available_bytes: int) -> None:
        self.needed_bytes = needed_bytes
        self.available_bytes = available_bytes
        gib = 1 << 30
        super().__init__(
            spec,
            f"training needs about {needed_bytes / gib:.1f} GiB of memory, "
            f"{available_bytes / gib:.1f} GiB are available",
        )


class PolicyContextError(PolicyError, ValueError):
    """The context of a call does not fit the model: too many operators, too long a prompt, no route."""


class InfeasibleWalkError(PolicyError, ValueError):
    """`walk` takes an action outside the feasible set at `position` (0-based)."""

    def __init__(self, walk: Sequence[str], position: int) -> None:
        self.walk = tuple(walk)
        self.position = position
        action = walk[position] if position < len(walk) else "END"
        super().__init__(f"walk {'>'.join(walk)}: {action} is not feasible at position {position}")


class PolicyDivergedError(PolicyError, ArithmeticError):
    """`quantity` of an update is not finite; the parameters were left as they were."""

    def __init__(self, quantity: str, value: float) -> None:
        self.quantity = quantity
        self.value = value
        super().__init__(f"policy update refused: {quantity} is {value}")


class PolicyCheckpointError(PolicyError):
    """The saved state in `directory` cannot be restored."""

    def __init__(self, directory: Path, reason: str) -> None:
        self.directory = directory
        super().__init__(f"policy checkpoint {directory}: {reason}")
