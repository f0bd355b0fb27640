"""Flexible job shop scheduling with the makespan objective: instances, decoder, verifier, operators."""

from dga2d.domains.fjsp.domain import FlexibleJobShop

DOMAIN = FlexibleJobShop()
"""The one instance the registry hands out."""
