"""From the user's ``--policy`` to a policy, and the control without learning."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dga2d.agents.policy.contract import (
    DecodedWalk,
    PipelinePolicy,
    PolicyContext,
    PolicySettings,
    SampledWalk,
    UpdateReport,
)
from dga2d.agents.policy.walks import (
    ActionDistribution,
    History,
    beam_search,
    log_prior,
    require_feasible,
    require_route,
    sample_walks,
)
from dga2d.events import OperatorId


class _UniformReader:
    def __init__(self, context: PolicyContext) -> None:
        require_route(context)
        self._context = context

    def distributions(self, histories: Sequence[History]) -> list[ActionDistribution]:
        found = []
        for history in histories:
            actions = self._context.graph.feasible_actions(history, self._context.max_length)
            n = len(actions)
            logs = log_prior(self._context, history, actions)
            shares = tuple(map(math.exp, logs)) or (1.0 / n,) * n
            found.append(ActionDistribution(actions, shares, logs or (-math.log(n),) * n))
        return found


class UniformPolicy:
    """π(O | h, D_t) = 1 / |M_{t,j,i}|, or the prior around the guide; updates change nothing, and there is
    nothing to save."""

    @property
    def name(self) -> str:
        return "uniform"

    def sample(self, context: PolicyContext, draws: Sequence[np.random.Generator]) -> tuple[SampledWalk, ...]:
        return sample_walks(_UniformReader(context), draws)

    def decode(self, context: PolicyContext, width: int) -> tuple[DecodedWalk, ...]:
        return beam_search(_UniformReader(context), width)

    def update(
        self, context: PolicyContext, walks: Sequence[tuple[OperatorId, ...]], rewards: Sequence[float]
    ) -> UpdateReport:
        for walk in walks:
            require_feasible(context, walk)
        return UpdateReport(0.0, 0.0, 0.0, self.digest(), 0.0)

    def digest(self) -> str:
        return "uniform"

    def save(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)

    def load_state(self, directory: Path) -> None:
        """Restore nothing."""


def make_policy(spec: str, seed: int, settings: PolicySettings) -> PipelinePolicy:
    """Build the policy named by `spec`.

    ``uniform`` is the control without learning, ``embedded`` the small built-in model with parameters
    drawn from `seed`; anything else is a model directory or a hub id.

    Raises
    ------
    PolicyLoadError
        The model cannot be used; see its subclasses.
    """
    if spec == "uniform":
        return UniformPolicy()
    # torch and transformers take seconds to import; only runs that need a model pay for them.
    from dga2d.agents.policy import loading

    if spec == "embedded":
        return loading.embedded_policy(seed, settings)
    return loading.pretrained_policy(spec, seed, settings)
