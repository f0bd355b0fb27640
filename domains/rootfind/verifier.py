"""The residual of an answer and its score, by formulas of their own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dga2d.domains.core.contract import State, Verdict


def score(evaluations: int, rounds: int) -> float:
    """Return S = 1 - 0.05 ln(1 + N_fev) - 0.02 ln(1 + N_iter) (DGA2D paper, Appendix G.3)."""
    return 1.0 - 0.05 * math.log(1 + evaluations) - 0.02 * math.log(1 + rounds)


def verify_root(family: str, parameters: Any, tolerance: float, state: Any) -> Verdict:
    """Return the score of a state whose ``x`` is a root, or what is wrong with it."""
    metadata = getattr(state, "metadata", None)
    x = metadata.get("x") if isinstance(metadata, dict) else None
    n = 2 if family == "system2d" else 1
    if type(x) is not np.ndarray:
        return Verdict(None, f"x is a {type(x).__name__}, not an array")
    if x.shape != (n,) or x.dtype.kind != "f":
        return Verdict(None, f"x is an array of {x.dtype} of shape {x.shape}, expected float64 ({n},)")
    if not np.isfinite(x).all():
        return Verdict(None, "x is not finite")
    residual = largest_residual(family, [float(value) for value in parameters], x.tolist())
    if not residual <= tolerance:
        return Verdict(None, f"the residual at x is {residual:.3g}, more than {tolerance:g}")
    return measured_score(state)


def measured_score(state: State) -> Verdict:
    """Return the score by what the oracle counted."""
    evaluations = state.metadata.get("measured_evaluations")
    rounds = state.metadata.get("measured_rounds")
    if type(evaluations) is not int or type(rounds) is not int:
        return Verdict(None, "nobody counted the evaluations")
    return Verdict(score(evaluations, rounds), None)


def largest_residual(family: str, parameters: list[float], x: list[float]) -> float:
    """Return max |f_i(x)|; infinite where a power overflows."""
    try:
        if family == "system2d":
            r1, r2 = parameters
            return max(abs(x[0] ** 2 + x[1] - r1), abs(x[0] + x[1] ** 2 - r2))
        u = x[0] - parameters[0]
        if family == "osc":
            _, omega, alpha = parameters
            return abs(math.sin(omega * u) + alpha * u)
        *multiplicity, a0, a1, a2 = parameters[1:]
        return abs(math.pow(u, multiplicity[0] if multiplicity else 1.0) * (a0 + a1 * x[0] + a2 * x[0] ** 2))
    except OverflowError:
        return math.inf


def own_verdict(environment: Mapping[str, Any], state: State, function: Any) -> Verdict:
    """Return the score of a state for a function of the user's own, which is evaluated once more."""
    x, tolerance = state.metadata.get("x"), float(environment["tolerance"])
    if type(x) is not np.ndarray or x.shape != (environment["dimension"],) or not np.isfinite(x).all():
        return Verdict(None, "x is no finite array")
    value = np.asarray(function(x if x.size > 1 else float(x[0])), dtype=np.float64)
    residual = float(np.abs(value).max())
    if not residual <= tolerance:
        return Verdict(
            None, f"the residual at the best x, {x.tolist()}, is {residual:.3g}, more than {tolerance:g}"
        )
    return measured_score(state)


def solution_text(name: str, environment: Mapping[str, Any], state: State, objective: float) -> str:
    """Return the root and what it cost as text."""
    del environment
    root = " ".join(f"{float(value)!r}" for value in state.metadata["x"])
    counts = (
        f"{state.metadata['measured_evaluations']} evaluations in {state.metadata['measured_rounds']} rounds"
    )
    return f"{name}\nroot {root}\nscore {objective:.6f}, {counts}\n"
