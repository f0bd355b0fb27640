"""From the user's ``--policy`` to a policy."""

from __future__ import annotations

from dga2d.agents.policy.contract import PipelinePolicy, PolicySettings
from dga2d.agents.policy.uniform import UniformPolicy


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
