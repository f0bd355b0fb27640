"""Open shop scheduling with the makespan objective: instances, decoder, verifier, operators."""

from dga2d.domains.ossp.domain import OpenShop

DOMAIN = OpenShop()
"""The one instance the registry hands out."""
