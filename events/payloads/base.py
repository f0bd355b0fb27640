"""What all payloads are made of."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from dga2d.events._names import ImplementationId, OperatorId

Edge = tuple[OperatorId, OperatorId]
"""Directed edge; the sentinels are written ``START`` (O_in) and ``END`` (O_out)."""

FailureKind = Literal[
    "compile_error",
    "runtime_error",
    "infeasible",
    "timeout",
    "out_of_memory",
    "forbidden",
    "crashed",
    "oversized_answer",
]
SplitName = Literal["train", "validation", "test"]
CallPurpose = Literal["initialize", "implement", "connect"]
LimitKind = Literal["calls", "tokens", "money"]


def microusd(usd: float) -> int:
    """US dollars in millionths, rounded up; monotonic, so that a bound stays one."""
    return math.ceil(round(usd * 1_000_000, 3))


class Model(BaseModel):
    """Base of all recorded models: immutable, closed, finite numbers only."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class Payload(Model):
    """Base of the payloads. `version` rises when a field changes; an upcaster then joins the codec."""

    version: ClassVar[int] = 1

    def operation(self) -> str | None:
        """Name of the operation this event completes, unique within a run and enforced by the store;
        ``None`` for events that may repeat."""
        return None


class Step(Model):
    """One position of a concrete algorithm."""

    operator: OperatorId
    implementation: ImplementationId
