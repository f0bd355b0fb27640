"""Solution files: the vertices of the set, one per line, in the manner of DIMACS' output format.

The text starts with ``c`` comment lines that name the instance, then ``s mis <size>``, then one line
``v <vertex>`` per vertex of the set, ascending. Vertices count from 1 as in the instance file. For a ``.clq``
instance the set is at the same time a clique of the graph in that file.
"""

from __future__ import annotations

from collections.abc import Sequence


def set_text(key: str, chosen: Sequence[int]) -> str:
    """Text for the vertices `chosen`, which count from 0 and ascend."""
    head = [
        f"c instance {key}",
        "c a set of mutually non-adjacent vertices (a clique of the graph of a .clq file)",
        f"s mis {len(chosen)}",
    ]
    return "\n".join([*head, *(f"v {vertex + 1}" for vertex in chosen), ""])
