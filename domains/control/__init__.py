"""Feedback control: three plants, scored by the cost of an episode of 100 seconds."""

from __future__ import annotations

from dga2d.domains.control.domain import Control
from dga2d.domains.core.contract import Domain

DOMAIN: Domain = Control()

__all__ = ["DOMAIN", "Control"]
