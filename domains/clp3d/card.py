"""The problem card of container loading (facts: DGA2D paper, Appendices A.2 and C.5)."""

from __future__ import annotations

from dga2d.domains.core.contract import Card

INVALID_SCORE = 999_999_999.0
"""Score of a sequence that breaks a constraint."""

CARD = Card(
    title="Three-dimensional container loading (3D-CLP)",
    objective=(
        "Load one container with some of n boxes so that as much of its volume as possible is filled. The "
        "objective is the fill rate in percent; the minimised score is 100 minus the "
        "fill rate, so that 0 is a "
        "full container."
    ),
    encoding=(
        "state.sequence is an int32 array of length n, a permutation of the items 0..n-1: the order in which "
        "they are handed to the packing rule. All items are in it; those without a place are left out."
    ),
    decoder=(
        "Extreme-Point First-Fit. The candidate points are the container's origin and, "
        "for every box in it at "
        "(x, y, z) with sides (dx, dy, dz) as placed, the points (x+dx, y, z), (x, y+dy, "
        "z) and (x, y, z+dz). "
        "For each item in turn they are tried in the order of z, then y, then x, and at "
        "each point the item's "
        "permitted orientations in the order of the columns of orientation_allowed. The "
        "item goes to the first "
        "point and orientation at which it stays inside the container and meets no other "
        "box; if there is none "
        "it is skipped."
    ),
    environment={
        "num_activities": "int: number of items n",
        "bin_size": "int32 (3,): sides of the container along x, y, z; z is vertical",
        "item_sizes": "int32 (n, 3): the three sides of each item in the order of the instance file",
        "item_volumes": "int64 (n,): product of the sides",
        "orientation_allowed": (
            "int32 (n, 6): 1 where an orientation is permitted; columns: the sides (0,1,2), "
            "(0,2,1), (1,0,2), "
            "(1,2,0), (2,0,1), (2,1,0) lie along x, y, z"
        ),
        "fill_upper_bound": "float: fill rate in percent that no loading exceeds (all items, at most 100)",
        "upper_bound": "float: 100, the score of an empty container",
        "lower_bound": "float: 100 - fill_upper_bound, a score that no loading falls below",
    },
    constraints=(
        "Every item index exactly once. Packed boxes lie inside the one container in a "
        "permitted orientation and "
        f"do not overlap; an array that is no permutation scores {INVALID_SCORE:.0f}."
    ),
)
