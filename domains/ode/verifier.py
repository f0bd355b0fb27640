"""The score of a final state: its distance to the reference in decimal arithmetic, and what it cost.

In a solution file comment lines begin with ``#``; then follows one line per unknown.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal, localcontext
from typing import Any

import numpy as np

from dga2d.domains.core.contract import State, Verdict

ERROR_FLOOR = 1e-20
"""Smaller errors count as this. The references are good to 1e-22; no state of doubles near 1 is closer to a
solution than some 1e-17."""
LARGEST_ERROR = 1.0
"""What is further off has nothing to do with the solution, and is a failure."""


def verify_final_state(state: Any, reference: Sequence[Decimal], cost_weight: float) -> Verdict:
    """Return the score -log10(error) - `cost_weight` log10(evaluations); never raises on a broken state."""
    metadata = getattr(state, "metadata", None)
    if not isinstance(metadata, dict):
        return Verdict(None, f"expected a state with metadata, got {type(state).__name__}")
    y, evaluations = metadata.get("y"), metadata.get("measured_evaluations")
    violation = y_violation(y, len(reference), metadata.get("measured_undefined"))
    if violation is not None:
        return Verdict(None, violation)
    if type(evaluations) is not int or evaluations < 0:
        return Verdict(None, "nobody counted evaluations")
    error = distance(y, reference)
    if error > LARGEST_ERROR:
        because = _because(metadata.get("measured_undefined"))
        return Verdict(None, f"the final state is off by {error:.3g}, more than {LARGEST_ERROR:g}{because}")
    return Verdict(score_of(error, evaluations, cost_weight), None)


def y_violation(y: Any, dimension: int, undefined: Any) -> str | None:
    """Return what is wrong with a final state, in words; ``None`` if it is `dimension` finite numbers."""
    if type(y) is not np.ndarray or y.dtype != np.float64:
        return f"metadata['y'] must be a float64 array, got {type(y).__name__}"
    if y.shape != (dimension,):
        return f"metadata['y'] has shape {y.shape}, expected ({dimension},)"
    bad = np.flatnonzero(~np.isfinite(y))
    if bad.size:
        return f"y[{bad[0]}] is {y[bad[0]]}{_because(undefined)}"
    return None


def _because(undefined: Any) -> str:
    return f"; the right-hand side gave no number {undefined} times" if undefined else ""


def distance(y: Any, reference: Sequence[Decimal]) -> float:
    """Return the Euclidean distance of float64 `y` to decimals, without rounding of either."""
    with localcontext() as context:
        context.prec = 60
        total = sum(((Decimal(float(a)) - b) ** 2 for a, b in zip(y, reference, strict=True)), Decimal(0))
        return float(total.sqrt())


def score_of(error: float, evaluations: int, cost_weight: float) -> float:
    """Return the paper's S; no evaluations cost as much as one."""
    return -math.log10(max(error, ERROR_FLOOR)) - cost_weight * math.log10(max(evaluations, 1))


def own_verdict(environment: Mapping[str, Any], state: State, function: Any) -> Verdict:
    """Return minus the evaluations as the objective of a problem of one's own, of which no reference is
    known; the answer must be finite and have come to the end. `function` is not asked again."""
    del function
    undefined = state.metadata.get("measured_undefined")
    violation = y_violation(state.metadata.get("y"), int(environment["dimension"]), undefined)
    t = state.metadata.get("t")
    if violation is None and t != environment["t_end"]:
        because = _because(undefined) or "; allow more evaluations"
        violation = f"it came to t = {t} of {environment['t_end']}{because}"
    if violation is not None:
        return Verdict(None, violation)
    return Verdict(-float(state.metadata["measured_evaluations"]), None)


def solution_text(name: str, environment: Mapping[str, Any], state: State, objective: float) -> str:
    """Return the text of a final state."""
    lines = [f"# {name}: the solution at t = {environment['t_end']!r}; score {objective:.4f}"]
    return "\n".join(lines + [repr(float(v)) for v in state.metadata["y"]]) + "\n"
