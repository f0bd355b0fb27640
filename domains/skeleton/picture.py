"""A picture of a packing (`dga2d solve --picture FILE`): what fills the capacity, and what was left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dga2d.domains.core.contract import State
from dga2d.domains.skeleton.verifier import packed_items

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def picture(title: str, environment: Mapping[str, Any], state: State) -> Figure:
    """One dot per item, weight against value; the packed ones are filled."""
    from matplotlib.figure import Figure

    weights, values = environment["weights"], environment["values"]
    chosen = packed_items(environment, state.sequence.tolist())
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.add_subplot(xlabel="weight", ylabel="value", title=title)
    axes.scatter(weights, values, facecolors="none", edgecolors="tab:blue", label="left out")
    axes.scatter(weights[chosen], values[chosen], color="tab:blue", label="packed")
    axes.legend()
    return figure
