"""What goes into the evaluator pool and what comes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dga2d.domains.core.contract import Implementation, Instance
from dga2d.domains.execution import PositionTrace
from dga2d.events.payloads import FailureKind


@dataclass(frozen=True)
class EvaluationTask:
    """One run of one pipeline on one instance."""

    key: str
    """Unique name of the operation."""
    instance: Instance
    """Stays in the parent; the child sees the domain's environment of it only."""
    steps: tuple[Implementation, ...]
    """One implementation per position, the first an initialiser."""
    budget: float
    """Seconds or work units for the whole pipeline."""
    unit: Literal["s", "work"]
    seed: tuple[int, ...]
    """``(run seed, *spawn key)`` of the operators' random stream, all ≥ 0."""
    expected_s: float = 0.0
    """How long the evaluation will probably take; waiting tasks start longest first."""

    def __post_init__(self) -> None:
        if not self.steps:
            raise ValueError("expected at least one step")
        if not self.budget > 0:
            raise ValueError(f"expected a budget above 0, got {self.budget}")
        if not self.seed or min(self.seed) < 0:
            raise ValueError(f"expected a seed of numbers >= 0, got {self.seed}")


@dataclass(frozen=True)
class EvaluationResult:
    """What became of a task."""

    key: str
    objective: float | None
    """In the problem's own direction, computed by the parent; ``None`` on failure."""
    failure: FailureKind | None
    diagnostic: str
    """Why it failed, at most 1,500 characters, without host paths; empty on success."""
    elapsed_s: float
    """Seconds from the start of the pipeline to the end of the child, measured outside of it."""
    work: int
    """Work units charged, as the child reported them."""
    trace: tuple[PositionTrace, ...]
    solution: bytes | None
    """Canonical JSON ``{"metadata": …, "sequence": […]}`` of the verified solution."""
    cpu_s: float = 0.0
    """Processor time of the child, measured outside of it; 0 where the system does not tell, and for
    tasks that were refused before they ran."""
