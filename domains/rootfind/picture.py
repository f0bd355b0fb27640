"""Picture of a convergence: the residual of each point that was evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dga2d.domains.core.contract import Instance, State, require_feasible
from dga2d.domains.rootfind.families import TOLERANCE
from dga2d.domains.rootfind.verifier import verify_root

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEAST_SHOWN = 1e-17
"""Residuals of 0 are drawn here."""


def picture(instance: Instance, state: State) -> Figure:
    """Draw residuals over evaluations, logarithmically, and the tolerance.

    Raises
    ------
    InvalidSolutionError
        The state does not pass the verifier.
    """
    from matplotlib.figure import Figure  # slow to import, and optional

    data = instance.data
    score = require_feasible(verify_root(data["family"], data["parameters"], TOLERANCE, state))
    residuals = np.maximum(state.metadata["measured_residuals"], LEAST_SHOWN)
    figure = Figure(figsize=(8.0, 5.0), layout="constrained")
    axes = figure.subplots()
    axes.semilogy(np.arange(1, residuals.size + 1), residuals, "o", color="C0", label="evaluated points")
    axes.semilogy(
        np.arange(1, residuals.size + 1), np.minimum.accumulate(residuals), color="C0", label="best so far"
    )
    axes.axhline(TOLERANCE, color="C3", linewidth=0.9, linestyle="--", label="tolerance")
    root = ", ".join(f"{value:.12g}" for value in state.metadata["x"])
    axes.set_title(f"{instance.key}: root {root}, score {score:.4f}")
    axes.set_xlabel("evaluation of f")
    axes.set_ylabel("max |f(x)|")
    axes.xaxis.get_major_locator().set_params(integer=True)  # type: ignore[call-arg]
    axes.legend()
    return figure
