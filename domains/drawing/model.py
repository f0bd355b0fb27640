"""What a picture consists of: panels with axes, and bars, lines, dots, segments and solids in them.

A domain says what is drawn, in its own units, and what each item is called; how it looks on paper, on a page
in the dark or in a file is the renderers' part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Points: TypeAlias = NDArray[np.float64]
"""float64 `(n, 2)`; a row of NaN interrupts a line."""
Role: TypeAlias = Literal["ink", "soft", "limit"]
"""What has no category: the main thing, what lies behind it, and a bound that is kept."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A rectangle from `left` to `right` and `low` to `high`, of a category counted from 0."""

    left: float
    right: float
    low: float
    high: float
    category: int
    words: str
    """What it is, shown where one points at it."""
    label: str = ""
    """Written into it where there is room."""


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A polyline through `points`."""

    points: Points
    look: int | Role
    words: str
    name: str = ""
    """Its name in the legend; none if empty."""
    is_dashed: bool = False
    is_faint: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """Many straight lines of one kind: `ends`, float64 `(n, 2, 2)`."""

    ends: NDArray[np.float64]
    look: int | Role
    words: str
    name: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Dots:
    """Points of one kind, each with its words."""

    points: Points
    look: int | Role
    words: Sequence[str]
    name: str = ""
    labels: Sequence[str] = ()
    """A short text beside each, or none at all."""
    radius: float = 3.0
    """In pixels of a drawing of the usual width."""
    shape: Literal["dot", "ring", "square"] = "dot"


@dataclass(frozen=True, slots=True, eq=False)
class Solid:
    """A box seen from above a corner: its three visible sides in the plane, drawn over what came before."""

    top: Points
    left: Points
    right: Points
    category: int
    words: str


Shape: TypeAlias = Bar | Line | Segments | Dots | Solid


@dataclass(frozen=True, slots=True)
class Axis:
    """Words below or beside an axis, and what it covers."""

    words: str = ""
    limits: tuple[float, float] | None = None
    """Taken from the shapes if ``None``."""
    ticks: tuple[tuple[float, str], ...] | None = None
    """Places with their texts; round numbers if ``None``."""
    is_log: bool = False
    is_whole: bool = False
    """Only whole numbers are ticks."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One system of axes. Shapes are drawn in their order."""

    shapes: tuple[Shape, ...] = ()
    x: Axis = field(default_factory=Axis)
    y: Axis = field(default_factory=Axis)
    title: str = ""
    height: float = 240.0
    """In pixels of a drawing of the usual width; of a panel `is_equal` it is the least."""
    is_equal: bool = False
    """One unit is as long across as upwards."""
    is_downward: bool = False
    """The y axis begins at the top."""
    has_frame: bool = True
    """False for what has no axes."""
    categories: tuple[str, ...] = ()
    """Names of the bars' and solids' categories, for the legend; none if empty."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture: rows of panels below a title, and what there is to say of what was left out."""

    title: str
    rows: tuple[tuple[Panel, ...], ...]
    notes: tuple[str, ...] = ()

    @property
    def panels(self) -> tuple[Panel, ...]:
        """The panels, row by row."""
        return tuple(panel for row in self.rows for panel in row)

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The shapes of all panels."""
        return tuple(shape for panel in self.panels for shape in panel.shapes)


Picture: TypeAlias = "Drawing | Figure"
"""What a domain's `picture` returns."""
