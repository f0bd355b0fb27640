"""Figures of a run for a paper: convergence, operator graph and credits, drawn by matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dga2d.runtime.page.picture import Link, Node, Picture
from dga2d.runtime.report.positions import HeatMap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DIVERGING = "RdBu"
"""Colours of credits: red below zero, blue above."""
INCH = 120.0
"""Units of the graph's drawing per inch."""
SERIES: dict[str, tuple[str, dict[str, Any]]] = {
    "best_so_far_percent": ("best so far", {"drawstyle": "steps-post", "color": "tab:blue"}),
    "best_gap_percent": ("best of generation", {"linestyle": "", "marker": "o", "color": "tab:gray"}),
    "validation_gap_percent": ("validation", {"linestyle": ":", "marker": "s", "color": "tab:orange"}),
}
"""Key of a row of ``show --json``'s ``history`` → its name and how it is drawn."""


def convergence_figure(history: Sequence[Mapping[str, Any]]) -> Figure | None:
    """Gaps in percent over generations; ``None`` while every candidate has failed."""
    from matplotlib.figure import Figure  # slow to import, and optional
    from matplotlib.ticker import MaxNLocator

    if all(row["best_so_far_percent"] is None for row in history):
        return None
    figure = Figure(figsize=(5.0, 3.2), layout="constrained")
    axes = figure.add_subplot(xlabel="generation", ylabel="gap to the reference (%)")
    for key, (name, style) in SERIES.items():
        reached = [(row["generation"], row[key]) for row in history if row[key] is not None]
        if reached:
            axes.plot(*zip(*reached, strict=True), label=name, markersize=4, **style)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    return figure


def credit_figure(credit: HeatMap) -> Figure | None:
    """Credit of every operator when each generation closed; ``None`` before the first."""
    from matplotlib.figure import Figure

    if not credit.cells:
        return None
    values = np.full((len(credit.operators), len(credit.generations)), np.nan)
    for cell in credit.cells:
        row, column = credit.operators.index(cell.operator), credit.generations.index(cell.generation)
        values[row, column] = cell.value
    most = float(np.nanmax(np.abs(values))) or 1.0
    figure = Figure(figsize=(6.0, 0.22 * len(credit.operators) + 1.2), layout="constrained")
    axes = figure.add_subplot(xlabel="generation")
    image = axes.imshow(values, cmap=DIVERGING, vmin=-most, vmax=most, aspect="auto", interpolation="nearest")
    axes.set_yticks(range(len(credit.operators)), credit.operators)
    step = -(-len(credit.generations) // 20)
    axes.set_xticks(range(0, len(credit.generations), step), [str(g) for g in credit.generations[::step]])
    figure.colorbar(image, label="credit")
    return figure


def graph_figure(picture: Picture) -> Figure:
    """The operator graph where the page draws it: nodes by credit, edges by credit and use."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(picture.width / INCH, picture.height / INCH), layout="constrained")
    axes = figure.add_subplot()
    axes.set(xlim=(0, picture.width), ylim=(picture.height, 0), aspect="equal")
    axes.set_axis_off()
    places = {node.name: (node.x, node.y) for node in picture.nodes}
    most = max((abs(link.credit) for link in picture.links), default=0.0) or 1.0
    for link in picture.links:
        if link.change != "removed":
            _draw_link(axes, link, places, most)
    for node in picture.nodes:
        _draw_node(axes, node)
    return figure


def _draw_link(axes: Axes, link: Link, places: Mapping[str, tuple[float, float]], most: float) -> None:
    from matplotlib import colormaps
    from matplotlib.patches import FancyArrowPatch

    axes.add_patch(
        FancyArrowPatch(
            places[link.source],
            places[link.target],
            arrowstyle="-|>",
            connectionstyle="arc3,rad=0.15",
            shrinkA=20,
            shrinkB=20,
            mutation_scale=7,
            linewidth=0.4 * link.width,
            color=colormaps[DIVERGING](0.5 + 0.5 * link.credit / most) if link.activations else "lightgray",
            zorder=1,
        )
    )


def _draw_node(axes: Axes, node: Node) -> None:
    from matplotlib import colormaps

    sign = 0.0 if node.credit is None else float(np.sign(node.credit))
    shade = colormaps[DIVERGING](0.5 + 0.3 * sign * node.intensity)
    axes.text(
        node.x,
        node.y,
        node.name.replace("_", "\n", 1),
        ha="center",
        va="center",
        size=6,
        bbox={"boxstyle": "round", "facecolor": shade, "edgecolor": "black", "linewidth": 0.5},
        alpha=1.0 if node.credit is not None or node.name.isupper() else 0.4,
        zorder=2,
    )
