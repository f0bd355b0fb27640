"""Direction-aware normalised gap (DGA2D paper, Eq. 3)."""

from __future__ import annotations

from typing import Literal


def normalised_gap(objective: float, reference: float, sense: Literal["min", "max"]) -> float:
    """Gap g = (y − y_ref)/s for minimisation, (y_ref − y)/s for maximisation, s = max(|y_ref|, 1).

    Positive: worse than the reference. A fraction, not a percentage.
    """
    scale = max(abs(reference), 1.0)
    difference = objective - reference if sense == "min" else reference - objective
    return difference / scale
