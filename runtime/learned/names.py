"""The learned solvers by name; loads nothing, so that command lines can list them."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

DOMAINS: Final = MappingProxyType({"pomo": "tsp", "resched": "fjsp", "sdds": "mis", "bpp-drl": "clp3d"})
"""Learned solver → the domain it solves."""
PACKAGES: Final = ("torch", "safetensors")
"""What the optional extra ``learned`` brings."""


class Weights(NamedTuple):
    """What a learned solver needs besides its name."""

    weights: Path | None = None
    """File of weights; needed."""
    device: str = "cpu"
