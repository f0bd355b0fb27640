"""Ports: what agents need from the outside world, as roles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from dga2d.domains.core.contract import Implementation, Instance
from dga2d.events import BlobDigest, Draft, RecordedEvent
from dga2d.events.payloads import FailureKind, PositionTrace


class EventAppender(Protocol):
    """The only way an agent speaks. Concurrent callers are fine; returns after the events are durable."""

    async def append(self, drafts: Sequence[Draft], blobs: Sequence[bytes] = ()) -> list[RecordedEvent]: ...


class BlobSource(Protocol):
    """Large things that events name by their digest."""

    async def get_blob(self, digest: BlobDigest) -> bytes: ...


@dataclass(frozen=True)
class EvaluationRequest:
    """One algorithm on one instance."""

    key: str
    instance: Instance
    steps: tuple[Implementation, ...]
    seed: tuple[int, ...]
    """Run seed followed by the spawn key of the evaluation's random stream."""
    budget: float | None = None
    """Amount that replaces the run's budget, in `unit`; ``None`` for the run's own."""
    unit: Literal["s", "work"] = "work"
    """Unit of `budget`: wall-clock seconds or work units."""
    cpu_limit_s: float | None = None
    """Processor seconds it may use from the moment it is handed its instance, measured outside of it;
    ``None`` for no limit but that of every evaluation."""
    scales: tuple[float, ...] = ()
    """What a work unit counts, by position; empty: 1 each."""
    call_costs: tuple[float, ...] = ()
    """Units that a call counts besides what it charges, by position; empty: 0 each."""
    shares: tuple[float, ...] = ()
    """Parts of the budget relative to each other, by position; empty: equal."""
    turn: int = 0
    """Of evaluations that wait, those with the lowest go first."""

    def __post_init__(self) -> None:
        if not self.steps:
            raise ValueError("expected at least one step")
        if self.budget is not None and not self.budget > 0:
            raise ValueError(f"expected a budget above 0, got {self.budget}")
        if self.cpu_limit_s is not None and not self.cpu_limit_s > 0:
            raise ValueError(f"expected a limit of processor time above 0, got {self.cpu_limit_s}")
        if self.scales and len(self.scales) != len(self.steps):
            raise ValueError(f"expected {len(self.steps)} scales, got {len(self.scales)}")
        if self.call_costs and len(self.call_costs) != len(self.steps):
            raise ValueError(f"expected {len(self.steps)} costs of calls, got {len(self.call_costs)}")
        if self.call_costs and self.unit == "s":
            raise ValueError("costs of calls are work units, but the budget is in seconds")
        if self.shares and (len(self.shares) != len(self.steps) or not min(self.shares) > 0.0):
            raise ValueError(f"expected {len(self.steps)} shares above 0, got {list(self.shares)}")
        if not self.seed or min(self.seed) < 0:
            raise ValueError(f"expected a seed of numbers >= 0, got {self.seed}")


@dataclass(frozen=True)
class EvaluationReply:
    """What the trusted side says of an evaluation; the candidate's own claim is never in it."""

    objective: float | None
    """In the problem's own direction; ``None`` on failure."""
    failure: FailureKind | None
    """``None`` on success."""
    diagnostic: str
    """Why it failed, at most 1,500 characters, without host paths; empty on success."""
    elapsed_s: float
    """Wall-clock seconds from handing over the instance to the answer, measured outside the candidate."""
    work: int
    """Work units charged, as the candidate's process reported them."""
    trace: tuple[PositionTrace, ...]
    """One entry per position that ran, as the candidate's process reported it."""
    solution: bytes | None
    """Canonical JSON ``{"metadata": …, "sequence": […]}`` of the verified solution; ``None`` on failure."""
    cpu_s: float = 0.0
    """Processor seconds of the same span, measured outside the candidate; 0 where the system does not tell
    or nothing ran."""
    has_compiled: bool = False
    """Whether it says that it compiled, in that span, what its preparation had not met; `elapsed_s` and
    `cpu_s` contain the compiler's time."""


class Evaluator(Protocol):
    """Runs untrusted algorithms, contained and limited. Concurrent callers are queued."""

    async def evaluate(self, request: EvaluationRequest) -> EvaluationReply: ...


class InstanceSource(Protocol):
    """Instances of the run's manifest by key."""

    def instance(self, key: str) -> Instance: ...

    def smoke_instance(self) -> Instance: ...

    def index(self, key: str) -> int:
        """Return the position of an instance in the manifest, the key of its random streams."""
        ...

    def size(self, key: str) -> int:
        """Return how many numbers the environment of an instance holds, at least 1."""
        ...
