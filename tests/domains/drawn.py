"""Pictures as data, of which every renderer can make its own."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ElementTree

from dga2d.domains.core.contract import Domain, Instance, State
from dga2d.domains.drawing import Drawing
from dga2d.domains.drawing.figure import figure_of
from dga2d.domains.drawing.svg import svg_file

LARGEST_BYTES = 1_000_000


def drawing_of(domain: Domain, instance: Instance, state: State) -> Drawing:
    """Return the domain's drawing, after it was made an SVG and a figure."""
    drawing = domain.picture(instance, state)
    assert isinstance(drawing, Drawing)
    assert instance.key in drawing.title
    text = svg_file(drawing)
    assert len(text) < LARGEST_BYTES
    ElementTree.fromstring(text)
    figure_of(drawing).savefig(io.BytesIO(), format="png", dpi=30)
    return drawing
