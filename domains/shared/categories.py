"""Looks of categories in pictures: colours that colour-blind readers can tell apart, then patterns."""

from __future__ import annotations

from typing import Final, NamedTuple

COLOURS: Final = (
    *("#77aadd", "#ee8866", "#eedd88", "#ffaabb", "#99ddff"),
    *("#44bb99", "#bbcc33", "#aaaa00", "#dddddd"),
)
"""Paul Tol, "Colour schemes", SRON/EPS/TN/09-002, 2021: the light scheme, for fields with dark labels."""
PATTERNS: Final = ("", "////", "....", "\\\\\\\\", "xxxx", "oo", "--", "++")
"""Hatches of matplotlib, from the second round of colours on."""
EDGE: Final = "#404a58"
"""Colour of outlines and patterns."""


class Look(NamedTuple):
    """Colour and hatch of a category."""

    colour: str
    pattern: str


def look_of(category: int) -> Look:
    """Return the look of a category, counted from 0; the first 72 are all different."""
    turn, place = divmod(category, len(COLOURS))
    return Look(COLOURS[place], PATTERNS[turn % len(PATTERNS)])
