"""Permutation flow shop scheduling with the makespan objective: instances, decoder, verifier, operators."""

from dga2d.domains.fssp.domain import FlowShop

DOMAIN = FlowShop()
"""The one instance the registry hands out."""
