"""What the log of a learned solver's training says."""

from __future__ import annotations

from dataclasses import dataclass

from dga2d.events import BlobDigest
from dga2d.events.payloads import TrainingCheckpointed, TrainingStarted


@dataclass(frozen=True)
class TrainingState:
    """A training: how it began, its curve, and what came of it."""

    started: TrainingStarted
    points: tuple[TrainingCheckpointed, ...] = ()
    """Measurements by rising step; the first is of the untrained network."""
    budget_steps: int | None = None
    budget_hours: float | None = None
    """Of the session that writes now."""
    devices: tuple[str, ...] = ()
    """Of all sessions, in their order."""
    weights: BlobDigest | None = None
    """The file of weights; ``None`` before the first end."""

    @property
    def step(self) -> int:
        """Step of the last measurement, −1 before the first."""
        return self.points[-1].step if self.points else -1
