"""A picture of a packing (`dga2d solve --picture FILE`): what fills the capacity, and what was left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dga2d.domains.core.contract import Instance, State, require_feasible
from dga2d.domains.skeleton.reader import operator_environment
from dga2d.domains.skeleton.verifier import packed_items, verify_packing

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def picture(instance: Instance, state: State) -> Figure:
    """Draw one dot per item, weight against value; the packed ones are filled.

    Raises
    ------
    InvalidSolutionError
        The state does not pass the verifier.
    """
    from matplotlib.figure import Figure

    environment = operator_environment(instance.data["items"])
    value = require_feasible(verify_packing(environment, state))
    weights, values = environment["weights"], environment["values"]
    chosen = packed_items(environment, state.sequence.tolist())
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.add_subplot(xlabel="weight", ylabel="value", title=f"{instance.key}: value {value:g}")
    axes.scatter(weights, values, facecolors="none", edgecolors="tab:blue", label="left out")
    axes.scatter(weights[chosen], values[chosen], color="tab:blue", label="packed")
    axes.legend()
    return figure
