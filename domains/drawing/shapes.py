"""Panels that several domains share: bars on rows over time, and boxes seen from above a corner."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.drawing.model import Axis, Bar, Line, Panel, Points, Segments, Solid

ROW_HEIGHT = 17.0
TALLEST = 760.0
BAR = 0.84
"""Share of its row that a bar fills."""


class Task(NamedTuple):
    """What occupies a row, counted from 0, from `start` to `end`."""

    row: int
    start: float
    end: float
    category: int
    words: str
    label: str = ""


def gantt_panel(
    tasks: Iterable[Task],
    rows: Sequence[str],
    x: str,
    y: str,
    *,
    limit: tuple[float, str] | None = None,
    categories: Sequence[str] = (),
) -> Panel:
    """Return a chart of bars over time; row 0 is on top. Tasks that take no time have no bar.

    `limit` is a time that is marked, with its name.
    """
    bars = [
        Bar(t.start, t.end, t.row - BAR / 2, t.row + BAR / 2, t.category, t.words, t.label)
        for t in tasks
        if t.end > t.start
    ]
    right = max([bar.right for bar in bars] + [1.0] + ([] if limit is None else [limit[0]]))
    marks: tuple[Line, ...] = ()
    if limit is not None:
        place = np.array([[limit[0], -0.5], [limit[0], len(rows) - 0.5]])
        marks = (Line(place, "limit", f"{limit[1]} {limit[0]:g}", limit[1], is_dashed=True),)
    return Panel(
        (*bars, *marks),
        Axis(x, (0.0, 1.004 * right)),
        Axis(y, (-0.5, len(rows) - 0.5), tuple((float(i), name) for i, name in enumerate(rows))),
        height=min(max(ROW_HEIGHT * len(rows), 48.0), TALLEST),
        is_downward=True,
        categories=tuple(categories),
    )


Number = TypeVar("Number", bound=np.generic)


def even_part(items: NDArray[Number], most: int) -> NDArray[Number]:
    """Return at most `most` rows of an array, evenly spaced; all of them if they are no more."""
    return items[:: max(1, -(-len(items) // most))]


def step_line(times: NDArray[Any], values: NDArray[Any]) -> Points:
    """Return the points of a line that keeps each value until the next time."""
    return np.stack((np.repeat(times, 2)[1:], np.repeat(values, 2)[:-1]), axis=1).astype(np.float64)


ACROSS, DOWN = math.cos(math.pi / 6), math.sin(math.pi / 6)


def project(corners: NDArray[Any]) -> Points:
    """Return points of space, `(n, 3)`, in the plane, isometrically: x to the lower left, y to the lower
    right, z upwards.
    """
    x, y, z = np.asarray(corners, dtype=np.float64).T
    return np.stack(((y - x) * ACROSS, z - (x + y) * DOWN), axis=1)


def boxes_panel(
    low: NDArray[Any],
    high: NDArray[Any],
    size: Sequence[float],
    categories: Sequence[int],
    words: Sequence[str],
    title: str,
) -> Panel:
    """Return a container of `size` with boxes that do not overlap, corners `(n, 3)`; nearer ones hide farther
    ones.
    """
    solids = tuple(
        _solid(low[item], high[item], categories[item], words[item]) for item in back_to_front(low, high)
    )
    a, b, c = (float(side) for side in size)
    corner = (0.0, 0.0, 0.0)
    edges = [(corner, (a, 0, 0)), (corner, (0, b, 0)), (corner, (0, 0, c))]
    edges += [((a, 0, 0), (a, b, 0)), ((0, b, 0), (a, b, 0)), ((a, 0, 0), (a, 0, c)), ((0, b, 0), (0, b, c))]
    edges += [((0, 0, c), (a, 0, c)), ((0, 0, c), (0, b, c))]
    walls = project(np.array(edges).reshape(-1, 3)).reshape(-1, 2, 2)
    return Panel(
        (Segments(walls, "soft", f"container of {a:g} × {b:g} × {c:g}"), *solids),
        title=title,
        is_equal=True,
        has_frame=False,
    )


def _solid(low: NDArray[Any], high: NDArray[Any], category: int, words: str) -> Solid:
    (x0, y0, z0), (x1, y1, z1) = low, high
    top = [(x0, y0, z1), (x1, y0, z1), (x1, y1, z1), (x0, y1, z1)]
    left = [(x1, y0, z1), (x1, y1, z1), (x1, y1, z0), (x1, y0, z0)]
    right = [(x0, y1, z1), (x1, y1, z1), (x1, y1, z0), (x0, y1, z0)]
    return Solid(project(np.array(top)), project(np.array(left)), project(np.array(right)), category, words)


def back_to_front(low: NDArray[Any], high: NDArray[Any]) -> list[int]:
    """Return an order in which boxes can be painted, seen from far out on the diagonal of x, y and z.

    A box is behind another if it ends before the other begins along one axis, the reverse holds along none,
    and their outlines overlap: outlines are hexagons, so they do if the intervals of x − y, y − z and x − z
    do. Where boxes hide each other in a circle, the one whose centre is farthest comes first.
    """
    n = len(low)
    before = (high[:, None, :] <= low[None, :, :]).any(axis=2)
    overlap = np.ones((n, n), dtype=bool)
    for one, other in ((0, 1), (1, 2), (0, 2)):
        least, most = low[:, one] - high[:, other], high[:, one] - low[:, other]
        overlap &= (least[:, None] < most[None, :]) & (least[None, :] < most[:, None])
    behind = before & ~before.T & overlap
    depth = (low + high).sum(axis=1)
    waiting = behind.sum(axis=0)
    ready = [(float(depth[i]), i) for i in range(n) if not waiting[i]]
    heapq.heapify(ready)
    order: list[int] = []
    left = set(range(n))
    while left:
        if not ready:  # a circle: open it where it is deepest
            heapq.heappush(ready, min((float(depth[i]), i) for i in left))
        _, item = heapq.heappop(ready)
        if item not in left:
            continue
        left.remove(item)
        order.append(item)
        for nearer in np.flatnonzero(behind[item]).tolist():
            waiting[nearer] -= 1
            if not waiting[nearer] and nearer in left:
                heapq.heappush(ready, (float(depth[nearer]), nearer))
    return order
