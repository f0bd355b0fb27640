"""The graph and its generations: walks over it, and what closes a generation."""

from __future__ import annotations

from typing import Literal

from dga2d.events.ids import ImplementationId, OperatorId
from dga2d.events.payloads.base import Edge, Model, Payload, Step


class GraphInitialized(Payload):
    """H, the operator pool, D₁ and C⁽¹⁾ (Algorithm 1, line 1)."""

    origin: Literal["proposed", "library"]
    """``library`` when every proposal was rejected and the whole library was taken instead."""
    operator_limit: int
    """K after clamping."""
    temperature: float
    """τ after clamping."""
    clamped: tuple[str, ...]
    operators: tuple[OperatorId, ...]
    edges: tuple[Edge, ...]
    pools: dict[OperatorId, tuple[ImplementationId, ...]]
    call: int | None

    def operation(self) -> str:
        return "graph-initialized"


class GraphRejected(Payload):
    """A proposed initial graph was not valid."""

    call: int
    attempt: int
    reason: str


class GenerationStarted(Payload):
    """Generation t begins on the graph and pools named by their digests."""

    generation: int
    graph_digest: str
    pools_digest: str

    def operation(self) -> str:
        return f"generation-started/{self.generation}"


class PolicyStep(Model):
    """One decision of the pipeline policy: the feasible set M_{t,j,i} and its probabilities."""

    actions: tuple[OperatorId, ...]
    probabilities: tuple[float, ...]
    chosen: OperatorId


class PipelineSampled(Payload):
    """P_{t,j} with the implementation drawn at each position."""

    generation: int
    candidate: int
    steps: tuple[Step, ...]
    policy_steps: tuple[PolicyStep, ...]
    """L+1 decisions; the last chooses ``END``."""
    policy_updates: int
    """Number of updates π_θ had seen."""

    def operation(self) -> str:
        return f"pipeline/{self.generation}/{self.candidate}"


class GenerationCompleted(Payload):
    """Everyone has spoken about generation t; digest of the whole state."""

    generation: int
    state_digest: str

    def operation(self) -> str:
        return f"generation-completed/{self.generation}"
