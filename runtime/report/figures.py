"""Figures of a run for a paper, drawn by matplotlib and written as PNG and SVG."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dga2d.events import RunId
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.errors import OutputFileError
from dga2d.runtime.inspection.measures import GAP, Measure, measure_in
from dga2d.runtime.report.data import ReportData, ReportPart, gather_report_data, read_run
from dga2d.runtime.report.evaluations import HeatMap
from dga2d.runtime.report.graph_drawing import DrawnEdge, DrawnNode, GraphDrawing, draw_graph
from dga2d.runtime.report.solution_pictures import NoPictureError, save_figure, solution_figure
from dga2d.store import open_store

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


def convergence_figure(
    history: Sequence[Mapping[str, Any]], against: str = "the reference", measure: Measure = GAP
) -> Figure | None:
    """Return the gaps in percent to what `against` says, or the scores, over generations; ``None`` while
    every candidate has failed.
    """
    from matplotlib.figure import Figure  # slow to import, and optional
    from matplotlib.ticker import MaxNLocator

    if all(row["best_so_far_percent"] is None for row in history):
        return None
    figure = Figure(figsize=(5.0, 3.2), layout="constrained")
    label = f"gap to {against} (%)" if measure is GAP else measure.axis
    axes = figure.add_subplot(xlabel="generation", ylabel=label)
    for key, (name, style) in SERIES.items():
        reached = [(row["generation"], measure.value(row[key])) for row in history if row[key] is not None]
        if reached:
            axes.plot(*zip(*reached, strict=True), label=name, markersize=4, **style)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    return figure


def credit_figure(credit: HeatMap) -> Figure | None:
    """Return the credit of every operator when each generation closed; ``None`` before the first."""
    from matplotlib.figure import Figure

    if not credit.values:
        return None
    credit = credit.joined()
    values = np.full((len(credit.operators), len(credit.generations)), np.nan)
    for (operator, generation), value in credit.values.items():
        values[credit.operators.index(operator), credit.generations.index(generation)] = value
    most = float(np.nanmax(np.abs(values))) or 1.0
    figure = Figure(figsize=(6.0, 0.22 * len(credit.operators) + 1.2), layout="constrained")
    axes = figure.add_subplot(xlabel="generation")
    image = axes.imshow(values, cmap=DIVERGING, vmin=-most, vmax=most, aspect="auto", interpolation="nearest")
    axes.set_yticks(range(len(credit.operators)), credit.operators)
    step = -(-len(credit.generations) // 20)
    axes.set_xticks(range(0, len(credit.generations), step), [str(g) for g in credit.generations[::step]])
    figure.colorbar(image, label="credit")
    return figure


def graph_figure(picture: GraphDrawing) -> Figure:
    """Return the operator graph where the page draws it: nodes by credit, edges by credit and use."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(picture.width / INCH, picture.height / INCH), layout="constrained")
    axes = figure.add_subplot()
    axes.set(xlim=(0, picture.width), ylim=(picture.height, 0), aspect="equal")
    axes.set_axis_off()
    most = max((abs(link.credit) for link in picture.links), default=0.0) or 1.0
    for link in picture.links:
        if link.change != "removed":
            _draw_link(axes, link, most)
    for node in picture.nodes:
        _draw_node(axes, node, picture)
    return figure


def _draw_link(axes: Axes, link: DrawnEdge, most: float) -> None:
    from matplotlib import colormaps
    from matplotlib.patches import PathPatch, Polygon
    from matplotlib.path import Path as Curve

    colour = colormaps[DIVERGING](0.5 + 0.5 * link.credit / most) if link.activations else "darkgray"
    width, order = (1.8, 2) if link.is_incumbent else (0.3 * link.width, 1)
    codes = [Curve.MOVETO, *[Curve.CURVE4] * (len(link.route.points) - 1)]
    curve = Curve(link.route.points, codes)
    axes.add_patch(PathPatch(curve, facecolor="none", edgecolor=colour, linewidth=width, zorder=order))
    axes.add_patch(Polygon(link.route.arrow, facecolor=colour, edgecolor=colour, linewidth=0.3, zorder=order))


def _draw_node(axes: Axes, node: DrawnNode, picture: GraphDrawing) -> None:
    from matplotlib import colormaps
    from matplotlib.patches import FancyBboxPatch

    sign = 0.0 if node.credit is None else float(np.sign(node.credit))
    shade = colormaps[DIVERGING](0.5 + 0.3 * sign * node.intensity)
    is_there = node.credit is not None or node.name.isupper()
    corner = (node.x - picture.node_width / 2, node.y - picture.node_height / 2)
    axes.add_patch(
        FancyBboxPatch(
            corner,
            picture.node_width,
            picture.node_height,
            boxstyle="round,pad=0,rounding_size=6",
            facecolor=shade,
            edgecolor="black",
            linewidth=1.4 if node.is_incumbent else 0.5,
            alpha=1.0 if is_there else 0.4,
            zorder=3,
        )
    )
    axes.text(node.x, node.y, node.name, ha="center", va="center", size=5.5, zorder=4)


FORMATS = ("png", "svg")


class Drawable(NamedTuple):
    """What the figures show."""

    state: RunState
    data: ReportData
    solution: bytes | None
    """The best program's solution of its first training instance; ``None`` while there is none."""


class Drawn(NamedTuple):
    """What was written, and what could not be."""

    files: list[Path]
    head_hash: str
    faults: list[str]


async def read_drawable(url: str, run_id: str) -> Drawable:
    """Read, check and fold the log of a run.

    Raises
    ------
    UnknownRunError, RunStateError, CorruptEventError, InvariantError
        As `read_report_data`.
    """
    async with open_store(url, create=False, read_only=True) as store:
        state, notes = await read_run(store, run_id)
        head = (await store.head(RunId(run_id))).hash.hex()
        parts = frozenset[ReportPart]({"edges", "credit", "incumbents"})
        data = await gather_report_data(store, run_id, state, notes, head, parts)
        first = data.incumbents[:1]
        return Drawable(state, data, await store.get_blob(first[0].solution) if first else None)


def write_figures(drawable: Drawable, folder: Path) -> Drawn:
    """Write ``convergence``, ``graph``, ``credit`` and ``incumbent`` into `folder`, which need not exist.

    A figure with nothing to draw yet is left out; an incumbent that cannot be drawn is a fault.

    Raises
    ------
    OutputFileError
        The system refused.
    """
    files: list[Path] = []
    faults: list[str] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, figure in _figures(drawable, faults):
            for kind in FORMATS:
                files.append(folder / f"{name}.{kind}")
                save_figure(figure, files[-1], kind)
    except OSError as error:
        raise OutputFileError(files[-1] if files else folder, error.strerror or str(error)) from error
    return Drawn(files, drawable.data.head_hash, faults)


def _figures(drawable: Drawable, faults: list[str]) -> Iterator[tuple[str, Figure]]:
    state, data, solution = drawable
    convergence = convergence_figure(data.view["history"], data.view["gaps_against"], measure_in(data.view))
    if convergence is not None:
        yield "convergence", convergence
    if state.graph is not None:
        credits = {(source, target): credit for source, target, credit in data.edges}
        yield "graph", graph_figure(draw_graph(state.header, state, state, credits, data.first_edges))
    credit = credit_figure(data.credit)
    if credit is not None:
        yield "credit", credit
    if solution is not None:
        try:
            yield "incumbent", solution_figure(state.header, data.incumbents[0].instance, solution)
        except NoPictureError as error:
            faults.append(f"no picture of the incumbent: {error}")
