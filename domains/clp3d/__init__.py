"""Three-dimensional container loading: instances, Extreme-Point First-Fit decoder, verifier, operators."""

from dga2d.domains.clp3d.domain import ContainerLoading

DOMAIN = ContainerLoading()
"""The one instance the registry hands out."""
