"""The problem card: all that a proposer of new code is told of the problem."""

from __future__ import annotations

from typing import Final

from dga2d.domains.core.contract import Card

NAME: Final = "skeleton"
"""Name of the domain and of its folder."""

INVALID_SCORE: Final = 999_999_999
"""Score of a broken state; every valid one is lower."""

CARD = Card(
    title="0/1 Knapsack Problem",
    objective=(
        "Choose items so that their values add up to as much as possible while their weights stay within the "
        "capacity. Scores are minimised: the score is minus the value of the chosen items."
    ),
    encoding=(
        "state.sequence: int32 array of length num_items, a permutation of 0..num_items-1: the "
        "order in which the decoder looks at the items. state.metadata is unused."
    ),
    decoder=(
        "Goes through the sequence and packs each item that still fits; the others are left out for good. "
        f"Returns minus the value packed, or {INVALID_SCORE} if the sequence is no permutation."
    ),
    environment={
        "num_items": "int: number of items n",
        "capacity": "int: most weight the knapsack holds",
        "values": "int32 (n,): value of each item, at least 1",
        "weights": "int32 (n,): weight of each item, at least 1",
    },
    constraints="Each item occurs exactly once in the sequence. Any permutation gives a valid packing.",
)
