"""Independent verifier: packs the items again in plain Python; shares no code with the decoder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dga2d.domains.contract import State, Verdict
from dga2d.domains.encoding import permutation_violation


def verify_packing(environment: Mapping[str, Any], state: State) -> Verdict:
    """Check that `state` is a permutation and add up what is packed; never raises on a broken one."""
    sequence: Any = getattr(state, "sequence", None)
    violation = permutation_violation(sequence, environment["num_items"], "item")
    if violation is not None:
        return Verdict(None, violation)
    chosen = packed_items(environment, sequence.tolist())
    values = environment["values"].tolist()
    return Verdict(float(sum(values[item] for item in chosen)), None)


def packed_items(environment: Mapping[str, Any], order: list[int]) -> list[int]:
    """The items that get into the knapsack, in the order in which they do."""
    weights, left = environment["weights"].tolist(), environment["capacity"]
    chosen = []
    for item in order:
        if weights[item] <= left:
            chosen.append(item)
            left -= weights[item]
    return chosen
