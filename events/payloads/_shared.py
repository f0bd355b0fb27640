"""What the events of several parts are made of: steps, edges, purposes of calls, kinds of failures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from msgspec import Meta
from pydantic import Field

from dga2d.events._names import AgentName, ImplementationId, OperatorId
from dga2d.events._payload import Model

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
Gains = tuple[float | None, ...]
"""Gaps before less gaps after, by instance, fractions; ``None`` where the evaluation after failed."""
Share = Annotated[float, Meta(gt=0.0), Field(gt=0.0)]
Seconds = Annotated[float, Meta(gt=0.0), Field(gt=0.0)]
"""A span of time."""
SplitName = Literal["gate", "train", "validation", "test", "race"]
"""Parts of the instances; a race runs on training instances under a name of its own."""
RaceMove = Literal[
    "incumbent", "finalist", "sampled", "code", "implementation", "walk", "constants", "crossover", "share"
]
"""How a contender of a race came about: what the race is against, the finalist of the race before, a
pipeline of this generation, new code, or one of the moves that change the incumbent; another
implementation may be one of its own with a marked function of another text."""
CallPurpose = Literal[
    "initialize", "implement", "connect", "operator", "program", "reflect", "describe", "kernel"
]
RaceVerdict = Literal["stays", "failed", "behind", "outranked", "uncertain"]
LimitKind = Literal["calls", "tokens", "money"]
CALLERS: tuple[AgentName, ...] = (
    "initializer",
    "implementation_evolver",
    "edge_evolver",
    "operator_evolver",
    "kernel_evolver",
    "method_runner",
)
"""Agents that may ask a language model; each books its own calls."""


def microusd(usd: float) -> int:
    """Return US dollars in millionths, rounded up; monotonic, so that a bound stays a bound."""
    return math.ceil(round(usd * 1_000_000, 3))


class Step(Model):
    """One position of a concrete algorithm."""

    left_out: ClassVar[frozenset[str]] = frozenset({"share"})

    operator: OperatorId
    implementation: ImplementationId
    share: Share | None = None
    """Its part of the budget relative to the other positions', where one without counts 1; see
    `dga2d.domains.budget.Budget`. ``None``, and absent from the log, where all are equal."""


def shares_of(steps: Sequence[Step]) -> tuple[float, ...]:
    """Return the part of the budget of each position relative to the others'; empty where all are equal."""
    if all(step.share is None for step in steps):
        return ()
    return tuple(1.0 if step.share is None else step.share for step in steps)
