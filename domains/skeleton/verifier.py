"""Independent verifier: packs the items again in plain Python; shares no code with the decoder.

Solution files: a comment, a line ``number value``, then the packed items, from 0, one per line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dga2d.domains.core.contract import State, Verdict
from dga2d.domains.core.encoding import permutation_violation


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
    """Return the items that get into the knapsack, in the order in which they do."""
    weights, left = environment["weights"].tolist(), environment["capacity"]
    chosen = []
    for item in order:
        if weights[item] <= left:
            chosen.append(item)
            left -= weights[item]
    return chosen


def packing_text(key: str, environment: Mapping[str, Any], state: State, value: int) -> str:
    """Return the text of a verified solution of instance `key`."""
    chosen = sorted(packed_items(environment, state.sequence.tolist()))
    lines = [f"# {key}: number of items and their value; then the items", f"{len(chosen)} {value}"]
    return "\n".join([*lines, *map(str, chosen)]) + "\n"


def verified_objective(environment: Mapping[str, Any], state: State) -> Verdict:
    """Return the objective by the independent verifier, or the first broken constraint."""
    return verify_packing(environment, state)


def solution_text(name: str, environment: Mapping[str, Any], state: State, objective: float) -> str:
    """Return the text of a verified solution."""
    return packing_text(f"file/{name}", environment, state, int(objective))
