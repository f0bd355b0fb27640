"""The instance on which new implementations are tried: a container of 12 × 10 × 10 and 24 boxes of 5
types.
"""

from __future__ import annotations

from dga2d.domains.clp3d.reader import BoxType, ContainerData, container_data

_TYPES = (
    BoxType((6, 5, 5), (1, 1, 1), 6),
    BoxType((4, 3, 2), (0, 1, 1), 6),
    BoxType((8, 4, 3), (0, 0, 1), 4),
    BoxType((5, 4, 4), (1, 0, 1), 5),
    BoxType((10, 3, 2), (0, 1, 1), 3),
)


def small_load() -> ContainerData:
    """Container and items."""
    return container_data((12, 10, 10), _TYPES)
