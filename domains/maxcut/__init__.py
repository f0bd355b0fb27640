"""Maximum cut in weighted graphs: rudy files, the G-set, decoder, verifier, operators."""

from dga2d.domains.maxcut.domain import MaxCut

DOMAIN = MaxCut()
"""The one instance the registry hands out."""
