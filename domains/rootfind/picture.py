"""Picture of a convergence: the residual of each point that was evaluated."""

from __future__ import annotations

import numpy as np

from dga2d.domains.core.contract import Instance, State, require_feasible
from dga2d.domains.drawing import Axis, Dots, Drawing, Line, Panel
from dga2d.domains.rootfind.families import TOLERANCE
from dga2d.domains.rootfind.verifier import verify_root

LEAST_SHOWN = 1e-17
"""Residuals of 0 are drawn here."""


def picture(instance: Instance, state: State) -> Drawing:
    """Draw residuals over evaluations, logarithmically, and the tolerance."""
    data = instance.data
    score = require_feasible(verify_root(data["family"], data["parameters"], TOLERANCE, state))
    residuals = np.maximum(np.asarray(state.metadata["measured_residuals"], np.float64), LEAST_SHOWN)
    numbers = np.arange(1.0, residuals.size + 1)
    words = [f"evaluation {i}: residual {value:.3g}" for i, value in enumerate(residuals.tolist(), start=1)]
    best = np.stack((numbers, np.minimum.accumulate(residuals)), axis=1)
    right = max(residuals.size, 2) + 0.5
    level = np.array([[0.5, TOLERANCE], [right, TOLERANCE]])
    panel = Panel(
        (
            Line(level, "limit", f"tolerance {TOLERANCE:g}", "tolerance", is_dashed=True),
            Line(best, 0, "best so far", "best so far"),
            Dots(np.stack((numbers, residuals), axis=1), 1, words, "evaluated points"),
        ),
        Axis("evaluation of f", (0.5, right), is_whole=True),
        Axis("max |f(x)|", is_log=True),
        height=320.0,
    )
    root = ", ".join(f"{value:.12g}" for value in state.metadata["x"])
    return Drawing(f"{instance.key}: root {root}, score {score:.4f}", ((panel,),))
