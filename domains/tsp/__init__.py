"""The travelling salesman problem: TSPLIB and DIMACS instances, EUC_2D distances, tour operators."""

from __future__ import annotations

from dga2d.domains.core.contract import Domain
from dga2d.domains.tsp.domain import TspDomain

DOMAIN: Domain = TspDomain()

__all__ = ["DOMAIN", "TspDomain"]
