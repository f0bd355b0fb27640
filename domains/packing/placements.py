"""Text of a packing, row by row the counterpart of an instance file."""

from __future__ import annotations

from dga2d.domains.packing.geometry import Packing


def packing_text(key: str, header: str, first_line: str, packing: Packing) -> str:
    """Comment lines (``#``: the instance, the meaning of the lines), `first_line`, then a line per item.

    An item's line holds its number and bin (from 0, bin −1: left out), its lowest corner x y z and its sides
    along x, y, z as packed.
    """
    lines = [f"# instance {key}", f"# {header}, then per item: item bin x y z dx dy dz", first_line]
    sides = packing.high - packing.low
    for item, number in enumerate(packing.bins.tolist()):
        lines.append(" ".join(map(str, [item, number, *packing.low[item].tolist(), *sides[item].tolist()])))
    return "\n".join(lines) + "\n"
