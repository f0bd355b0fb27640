"""Pictures of solutions as data: what is drawn where; renderers make SVG or figures of matplotlib of it."""

from dga2d.domains.drawing.frames import align_axes
from dga2d.domains.drawing.looks import EDGE, FILLS, Look, look_of
from dga2d.domains.drawing.model import (
    Axis,
    Bar,
    Dots,
    Drawing,
    Line,
    Panel,
    Picture,
    Role,
    Segments,
    Shape,
    Solid,
)
from dga2d.domains.drawing.shapes import Task, boxes_panel, even_part, gantt_panel, step_line

__all__ = [
    "EDGE",
    "FILLS",
    "Axis",
    "Bar",
    "Dots",
    "Drawing",
    "Line",
    "Look",
    "Panel",
    "Picture",
    "Role",
    "Segments",
    "Shape",
    "Solid",
    "Task",
    "align_axes",
    "boxes_panel",
    "even_part",
    "gantt_panel",
    "look_of",
    "step_line",
]
