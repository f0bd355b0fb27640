"""The training of a learned solver: a log of its own, beside those of the runs that evolve algorithms."""

from __future__ import annotations

from typing import Any

from dga2d.events._names import BlobDigest
from dga2d.events._payload import Payload


class TrainingStarted(Payload, owner="trainer", operation="training-started"):
    """A training begins; holds everything its result depends on."""

    method: str
    """Name of the learned solver."""
    domain: str
    """The problem it solves."""
    seed: int
    settings: dict[str, Any]
    """Size of the instances, network and optimiser; the seed, too."""
    data: str
    """What the training instances are, in a line; they are made from the seed."""
    cost: str
    """What the costs are, in a line."""
    parameters: int
    """Numbers in the network."""
    device: str
    code_version: str
    """Package version and digest of the program's own sources."""
    torch_version: str
    budget_steps: int | None
    """``None`` where only hours end it."""
    budget_hours: float | None
    """Wall-clock hours, all sessions together; ``None`` where only steps end it."""


class TrainingResumed(Payload, owner="trainer"):
    """A process took the training over from a checkpoint."""

    step: int
    """Of the checkpoint."""
    device: str
    code_version: str
    torch_version: str
    budget_steps: int | None
    budget_hours: float | None


class TrainingCheckpointed(Payload, owner="trainer", operation="training-checkpointed/{step}"):
    """A measurement, and the checkpoint that holds the network it is of."""

    step: int
    instances: int
    """Training instances seen."""
    seconds: float
    """Wall-clock seconds of training, all sessions together."""
    cpu_seconds: float
    loss: float | None
    """Mean since the measurement before; ``None`` before the first step."""
    cost: float | None
    """Mean cost of what was sampled since then; ``None`` before the first step."""
    validation: float
    """Mean cost on the fixed instances; lower is better."""
    checkpoint: str
    """SHA-256 of the checkpoint's file, which is not kept in the database."""


class TrainingPaused(Payload, owner="trainer"):
    """The training stopped before its budget was used and can be resumed."""

    step: int
    reason: str


class TrainingFinished(Payload, owner="trainer", operation="training-finished/{step}"):
    """The budget is used, and the weights are written."""

    step: int
    seconds: float
    cpu_seconds: float
    weights: BlobDigest
    """The file of weights, as it was written."""
