"""Three-dimensional bin packing: instances, Extreme-Point First-Fit decoder, verifier, operators."""

from dga2d.domains.binpack3d.domain import BinPacking

DOMAIN = BinPacking()
"""The one instance the registry hands out."""
