"""Simple assembly line balancing, type 1: fewest stations for a given cycle time."""

from dga2d.domains.salbp1.domain import AssemblyLine

DOMAIN = AssemblyLine()
"""The one instance the registry hands out."""
