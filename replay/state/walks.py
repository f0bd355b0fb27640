"""What must hold of a sampled pipeline and the decisions that led to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from dga2d.events import ImplementationId, OperatorId
from dga2d.replay.state.credit import Pools
from dga2d.replay.state.graph import END, OperatorGraph


class SampledStep(Protocol):
    """One position of a pipeline."""

    @property
    def operator(self) -> OperatorId: ...
    @property
    def implementation(self) -> ImplementationId: ...


class Decision(Protocol):
    """One decision of the policy."""

    @property
    def actions(self) -> tuple[OperatorId, ...]: ...
    @property
    def probabilities(self) -> tuple[float, ...]: ...
    @property
    def chosen(self) -> OperatorId: ...


def violation_of_walk(
    steps: Sequence[SampledStep],
    decisions: Sequence[Decision],
    graph: OperatorGraph,
    pools: Pools,
    max_length: int,
) -> str | None:
    """Why the pipeline is not one that could be sampled from `graph` and `pools`, ``None`` if it is.

    Every decision was made among the feasible actions M_{t,j,i}, with a probability for each, and the last
    chose ``END``; every implementation is in the pool of its operator.
    """
    walk = [step.operator for step in steps]
    if len(decisions) != len(walk) + 1:
        return "one decision per operator and END"
    along = zip(decisions, (*walk, END), graph.feasible_along(walk, max_length), strict=True)
    for index, (decision, chosen, feasible) in enumerate(along):
        if decision.chosen != chosen or chosen not in feasible:
            return f"step {index} leaves the graph"
        if decision.actions != feasible:
            return f"step {index} had another feasible set"
        if len(decision.probabilities) != len(feasible):
            return f"step {index} lacks probabilities"
        if not abs(sum(decision.probabilities) - 1.0) < 1e-6:
            return f"step {index} is no distribution"
    for step in steps:
        if step.implementation not in pools[step.operator]:
            return f"{step.implementation} is not in the pool of {step.operator}"
    return None
