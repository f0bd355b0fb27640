"""Job shop scheduling with the makespan objective: instances, decoder, verifier, operators."""

from dga2d.domains.jsp.domain import JobShop

DOMAIN = JobShop()
"""The one instance the registry hands out."""
