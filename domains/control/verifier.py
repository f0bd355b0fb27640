"""The score of an episode, by what the plant's own process recorded."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from dga2d.domains.core.contract import State, Verdict


def score(cost: float) -> float:
    """Return S = -log10(1 + J) (DGA2D paper, Appendix G.2)."""
    return -math.log10(1.0 + cost)


def verify_episode(state: Any, steps: int) -> Verdict:
    """Return the score of an episode of `steps` steps, or why it is none; never raises on a broken state."""
    metadata = getattr(state, "metadata", None)
    if not isinstance(metadata, dict):
        return Verdict(None, f"expected a state with metadata, got {type(state).__name__}")
    cost, done, fault = (metadata.get(f"measured_{name}") for name in ("cost", "steps", "fault"))
    if type(cost) is not float or type(done) is not int:
        return Verdict(None, "nobody measured the episode")
    if fault:
        return Verdict(None, str(fault))
    if done != steps:
        return Verdict(None, f"the episode ended after {done} of {steps} steps")
    if not math.isfinite(cost) or cost < 0.0:
        return Verdict(None, f"the cost of the episode is {cost}")
    return Verdict(score(cost), None)


def own_verdict(environment: Mapping[str, Any], state: State, function: Any) -> Verdict:
    """Return the score of an episode of a user's own plant, which is not asked again."""
    del function
    return verify_episode(state, int(environment["steps"]))


def solution_text(name: str, environment: Mapping[str, Any], state: State, objective: float) -> str:
    """Return what the episode cost, and its first states and inputs, a line each."""
    course = state.metadata["measured_course"]
    lines = [
        f"# {name}: cost {state.metadata['measured_cost']!r}, score {objective:.6f}",
        f"# states and inputs of the first {len(course)} of {environment['steps']} steps,"
        f" {environment['dt']} s each",
    ]
    return "\n".join([*lines, *(" ".join(f"{float(v):.9g}" for v in row) for row in course)]) + "\n"
