"""Solution files of Max-Cut.

Comment lines begin with ``#``. Then follow a line ``n cut``, the number of vertices and the weight of the
cut, and one line per vertex in rising order, ``i s``: the vertex, counted from 1 as in rudy's files, and its
side, 1 or 2 as in the solution files that accompany the results of Benlic and Hao (2013).
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray


def sides_text(key: str, sides: NDArray[Any], cut: int) -> str:
    """Text of the solution of instance `key` with 0/1 `sides`."""
    lines = [f"# {key}: number of vertices and weight of the cut; then each vertex and its side"]
    lines.append(f"{len(sides)} {cut}")
    lines += [f"{vertex} {side + 1}" for vertex, side in enumerate(sides.tolist(), start=1)]
    return "\n".join(lines) + "\n"
