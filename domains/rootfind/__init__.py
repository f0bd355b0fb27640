"""Root finding: four families of equations, scored by how often their function is evaluated."""

from __future__ import annotations

from dga2d.domains.core.contract import Domain
from dga2d.domains.rootfind.domain import RootFindingDomain

DOMAIN: Domain = RootFindingDomain()

__all__ = ["DOMAIN", "RootFindingDomain"]
