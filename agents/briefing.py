"""What proposers are told of a run: contracts of the operators and where time and improvement went."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dga2d.agents.proposing import OperatorContract
from dga2d.domains.core.contract import Card, Operator
from dga2d.events import OperatorId
from dga2d.replay.state.run_state import GenerationState, RunState


@dataclass(frozen=True)
class DomainBriefing:
    """The domain's card and the contracts of its library."""

    card: Card
    contracts: Mapping[OperatorId, OperatorContract]

    @classmethod
    def of(cls, card: Card, operators: tuple[Operator, ...]) -> DomainBriefing:
        """The briefing of a domain."""
        return cls(card, {OperatorId(op.id): OperatorContract.of(op) for op in operators})


def improvement_summary(state: RunState, generation: GenerationState) -> str:
    """One line per operator: its share of the effort of this generation and of the improvement made.

    Effort is work units under a work budget and seconds otherwise; improvement is the relative decrease
    of the score at the operator's positions. Sorted by operator.
    """
    effort: dict[str, float] = {}
    gain: dict[str, float] = {}
    for (j, _), outcome in sorted(generation.outcomes.items()):
        steps = generation.pipelines[j].steps
        for step, trace in zip(steps, outcome.trace, strict=False):
            spent = float(trace.work) if state.settings.work is not None else trace.elapsed_s
            effort[step.operator] = effort.get(step.operator, 0.0) + spent
            if trace.score_before is not None:
                scale = max(abs(trace.score_before), 1.0)
                lowered = (trace.score_before - trace.score_after) / scale
                gain[step.operator] = gain.get(step.operator, 0.0) + max(lowered, 0.0)
    total_effort, total_gain = sum(effort.values()) or 1.0, sum(gain.values()) or 1.0
    return "\n".join(
        f"{operator}: {100 * effort[operator] / total_effort:.0f} % of the effort, "
        f"{100 * gain.get(operator, 0.0) / total_gain:.0f} % of the improvement"
        for operator in sorted(effort)
    )
