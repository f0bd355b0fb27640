"""Figures of matplotlib as files and bytes that are the same every time."""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def save_figure(figure: Figure, target: Path | IO[bytes], kind: str) -> None:
    """Write `figure` in the format `kind` (``svg``, ``png``, ``pdf``), without date and with steady names."""
    import matplotlib  # slow to import, and optional

    with matplotlib.rc_context({"svg.hashsalt": "dga2d", "svg.fonttype": "none", "savefig.dpi": 200}):
        figure.savefig(target, format=kind, metadata={"Date": None} if kind == "svg" else None)
