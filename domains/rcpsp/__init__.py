"""Resource-constrained project scheduling with the makespan objective: instances, decoder, operators."""

from dga2d.domains.rcpsp.domain import ProjectScheduling

DOMAIN = ProjectScheduling()
"""The one instance the registry hands out."""
