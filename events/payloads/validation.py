"""Validation, the checkpoint it selects, and the held-out test."""

from __future__ import annotations

from typing import Literal

from dga2d.events.ids import InstanceKey
from dga2d.events.payloads.base import Model, Payload, Step


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
