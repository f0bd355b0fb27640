"""The problem card of three-dimensional bin packing (facts: DGA2D paper, Appendices A.2 and C.5)."""

from __future__ import annotations

from dga2d.domains.core.contract import Card

INVALID_SCORE = 999_999_999.0
"""Score of a sequence that breaks a constraint."""
LAST_BIN_WEIGHT = 0.1
"""Weight λ of the empty share of the last bin."""

CARD = Card(
    title="Three-dimensional bin packing (3D-BPP)",
    objective=(
        "Pack all n boxes, none of which may be turned, into as few equal bins as possible. The score is "
        "bins + 0.1 * (1 - u), where u is the share of the last bin's volume in use: fewer bins always come "
        "first, and among equal numbers of bins the one with the fuller last bin is better."
    ),
    encoding=(
        "state.sequence is an int32 array of length n, a permutation of the items 0..n-1: the order in which "
        "they are handed to the packing rule."
    ),
    decoder=(
        "Extreme-Point First-Fit. For each item in turn, the open bins are scanned in the order of their "
        "opening. The candidate points of a bin are its origin and, for every box in it at (x, y, z) with "
        "sides (dx, dy, dz), the points (x+dx, y, z), (x, y+dy, z) and (x, y, z+dz); they are tried in the "
        "order of z, then y, then x. The item goes to the first point at which it stays inside the bin and "
        "meets no other box; if no bin has such a point, it opens a new bin at the origin."
    ),
    environment={
        "num_activities": "int: number of items n",
        "bin_size": "int32 (3,): sides of a bin along x, y, z",
        "item_sizes": "int32 (n, 3): sides of the items along x, y, z, each from 1 to the bin's",
        "item_volumes": "int64 (n,): product of the sides",
        "upper_bound": "int: n, as many bins as no packing needs more than",
    },
    constraints=(
        "Every item exactly once. Items do not rotate, do not overlap and lie inside one "
        "bin; an array that is "
        f"no permutation scores {INVALID_SCORE:.0f}."
    ),
)
