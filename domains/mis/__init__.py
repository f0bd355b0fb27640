"""Maximum independent set: instances, decoder, verifier, operators."""

from dga2d.domains.mis.domain import IndependentSet

DOMAIN = IndependentSet()
"""The one instance the registry hands out."""
