"""Pictures of solutions as data: what is drawn where; renderers make SVG or figures of matplotlib of it."""

from dga2d.domains.drawing.frames import aligned
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
from dga2d.domains.drawing.shapes import Task, boxes_panel, even_part, gantt_panel, stepped

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
    "aligned",
    "boxes_panel",
    "even_part",
    "gantt_panel",
    "look_of",
    "stepped",
]
