"""Looks of categories in pictures: colours that colour-blind readers can tell apart, then patterns."""

from __future__ import annotations

from typing import Final, NamedTuple

FILLS: Final = (
    *("#77aadd", "#ee8866", "#eedd88", "#ffaabb", "#99ddff"),
    *("#44bb99", "#bbcc33", "#aaaa00", "#dddddd"),
)
"""Paul Tol, "Colour schemes", SRON/EPS/TN/09-002, 2021: the light scheme, for fields with dark labels, and
for lines on dark paper."""
STROKES: Final = (
    *("#332288", "#cc6677", "#117733", "#882255", "#88ccee"),
    *("#999933", "#aa4499", "#44aa99", "#ddcc77"),
)
"""The same, the muted scheme: for lines and dots on light paper."""
HATCHES: Final = ("", "////", "....", "\\\\\\\\", "xxxx", "oo", "--", "++")
"""Patterns by the names that matplotlib has for them, from the second round of colours on."""
DASHES: Final = ((), (7, 3), (2, 3), (9, 3, 2, 3))
"""Lengths of strokes and gaps of lines, from the second round of colours on."""
EDGE: Final = "#404a58"
"""Colour of outlines and patterns."""


class Look(NamedTuple):
    """Places of a category's colour and pattern, in `FILLS` and `HATCHES` or in `STROKES` and `DASHES`."""

    colour: int
    pattern: int


def look_of(category: int, n_patterns: int = len(HATCHES)) -> Look:
    """Return the look of a category, counted from 0; the first `9 * n_patterns` are all different."""
    turn, place = divmod(category, len(FILLS))
    return Look(place, turn % n_patterns)
