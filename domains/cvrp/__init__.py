"""The capacitated vehicle routing problem: CVRPLIB instances, Uchoa's generator, route operators."""

from __future__ import annotations

from dga2d.domains.core.contract import Domain
from dga2d.domains.cvrp.domain import VehicleRouting

DOMAIN: Domain = VehicleRouting()

__all__ = ["DOMAIN", "VehicleRouting"]
