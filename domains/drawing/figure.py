"""Drawings as figures of matplotlib, for PNG and PDF; it is optional and imported when it is needed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from dga2d.domains.drawing.frames import spans_of
from dga2d.domains.drawing.layout import LINE, MOST_NAMED, WIDTH
from dga2d.domains.drawing.looks import DASHES, EDGE, FILLS, HATCHES, STROKES, look_of
from dga2d.domains.drawing.model import Bar, Dots, Drawing, Line, Panel, Picture, Role, Segments, Shape, Solid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INCH = 76.0
"""Pixels of a drawing to an inch of a figure."""
ROLES: dict[Role, str] = {"ink": "#1d2430", "soft": "#8d9aab", "limit": "#b4450b"}
MARKERS = {"dot": "o", "ring": "o", "square": "s"}


def figure_of(picture: Picture) -> Figure:
    """Return a picture as a figure; what is one already stays as it is.

    Raises
    ------
    ImportError
        There is no matplotlib.
    """
    if not isinstance(picture, Drawing):
        return picture
    from matplotlib.figure import Figure

    heights = [max((_height(panel, len(row)) for panel in row), default=LINE) for row in picture.rows]
    columns = math.lcm(*(max(len(row), 1) for row in picture.rows))
    figure = Figure(figsize=(WIDTH / INCH, (sum(heights) + 60) / INCH), layout="constrained")
    grid = figure.add_gridspec(len(heights), columns, height_ratios=heights)
    for i, row in enumerate(picture.rows):
        width = columns // max(len(row), 1)
        for j, panel in enumerate(row):
            _draw(figure.add_subplot(grid[i, width * j : width * (j + 1)]), panel)
    figure.suptitle(picture.title)
    if picture.notes:
        figure.supxlabel("\n".join(picture.notes), fontsize="small")
    return figure


def _height(panel: Panel, n_columns: int) -> float:
    room = 44.0 if panel.has_frame else LINE
    return room + (max(panel.height, 0.8 * WIDTH / n_columns) if panel.is_equal else panel.height)


def _draw(axes: Axes, panel: Panel) -> None:
    across, upwards = spans_of(panel)
    _draw_bars(axes, panel, [shape for shape in panel.shapes if isinstance(shape, Bar)])
    for shape in panel.shapes:
        _draw_shape(axes, panel, shape)
    axes.set(xlabel=panel.x.words, ylabel=panel.y.words, title=panel.title)
    axes.set(xscale="log" if panel.x.is_log else "linear", yscale="log" if panel.y.is_log else "linear")
    axes.set(xlim=across, ylim=upwards[::-1] if panel.is_downward else upwards)
    if panel.is_equal:
        axes.set_aspect("equal", adjustable="box")
    for axis, ticks in ((axes.xaxis, panel.x.ticks), (axes.yaxis, panel.y.ticks)):
        if ticks is not None:
            shown = ticks[:: max(1, len(ticks) // 40)]
            axis.set_ticks([place for place, _ in shown], [text for _, text in shown], fontsize=7)
    if not panel.has_frame:
        axes.set_axis_off()
    if axes.get_legend_handles_labels()[1]:
        axes.legend(fontsize="x-small", loc="best")


def _draw_bars(axes: Axes, panel: Panel, bars: list[Bar]) -> None:
    unnamed = set(range(len(panel.categories))) if len(panel.categories) <= MOST_NAMED else set()
    for category in sorted({bar.category for bar in bars}):
        own, look = [bar for bar in bars if bar.category == category], look_of(category)
        axes.barh(
            [(bar.low + bar.high) / 2 for bar in own],
            [bar.right - bar.left for bar in own],
            left=[bar.left for bar in own],
            height=[bar.high - bar.low for bar in own],
            color=FILLS[look.colour],
            hatch=HATCHES[look.pattern],
            edgecolor=EDGE,
            linewidth=0.3,
            label=panel.categories[category] if category in unnamed else None,
        )


def _colour(look: int | Role) -> str:
    return ROLES[look] if isinstance(look, str) else STROKES[look_of(look, len(DASHES)).colour]


def _draw_shape(axes: Axes, panel: Panel, shape: Shape) -> None:
    if isinstance(shape, Line):
        axes.plot(*shape.points.T, label=shape.name or None, **_line_style(shape))
    elif isinstance(shape, Segments):
        _draw_segments(axes, shape)
    elif isinstance(shape, Dots):
        _draw_dots(axes, shape)
    elif isinstance(shape, Solid):
        look = look_of(shape.category)
        style: dict[str, Any] = {"edgecolor": EDGE, "linewidth": 0.4}
        axes.fill(*shape.top.T, facecolor=FILLS[look.colour], hatch=HATCHES[look.pattern], **style)
        for side, shade in ((shape.left, 0.14), (shape.right, 0.28)):
            axes.fill(*side.T, facecolor=FILLS[look.colour], hatch=HATCHES[look.pattern], **style)
            axes.fill(*side.T, facecolor="black", alpha=shade)


def _line_style(shape: Line) -> dict[str, Any]:
    dashes: tuple[float, ...] = (6.0, 4.0) if shape.is_dashed else ()
    if not isinstance(shape.look, str):
        dashes = dashes or DASHES[look_of(shape.look, len(DASHES)).pattern]
    return {
        "color": _colour(shape.look),
        "linewidth": 1.2,
        "alpha": 0.35 if shape.is_faint else 1.0,
        "linestyle": (0, dashes) if dashes else "solid",
    }


def _draw_segments(axes: Axes, shape: Segments) -> None:
    from matplotlib.collections import LineCollection

    alpha = 0.35 if len(shape.ends) > 400 else 1.0
    lines = LineCollection(list(shape.ends), colors=_colour(shape.look), linewidths=0.6, alpha=alpha)
    lines.set_label(shape.name)
    axes.add_collection(lines)


def _draw_dots(axes: Axes, shape: Dots) -> None:
    colour = _colour(shape.look)
    axes.scatter(
        shape.points[:, 0],
        shape.points[:, 1],
        s=(1.6 * shape.radius) ** 2,
        c="none" if shape.shape == "ring" else colour,
        edgecolors=colour,
        marker=MARKERS[shape.shape],
        label=shape.name or None,
        zorder=3,
    )
    for (x, y), label in zip(shape.points.tolist(), shape.labels, strict=bool(shape.labels)):
        axes.annotate(label, (x, y), (3, 3), textcoords="offset points", fontsize=7)
