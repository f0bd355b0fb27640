"""Independent verifier: rebuilds the loading and checks it as geometry; shares no code with the decoder.

A solution file says where each item lies. There is no common format: the text starts with comment lines
(``#``: the instance, the meaning of the lines), then a line ``items packed fill-rate-in-percent``, then one
line per item in the order of the instance: item, 0 if packed and -1 if left out, lowest corner x y z, sides
dx dy dz as packed (zeros where left out).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import State, Verdict
from dga2d.domains.core.encoding import permutation_violation
from dga2d.domains.shared.packing.geometry import Packing, Sides, packing_text, packing_violation, rebuild

Array = NDArray[np.int32]


def verify_sequence(bin_size: Array, item_sizes: Array, allowed: Array, state: State) -> Verdict:
    """Check `state` against an instance and compute the fill rate in percent."""
    sequence: Any = getattr(state, "sequence", None)
    violation = permutation_violation(sequence, len(item_sizes), "item")
    if violation is not None:
        return Verdict(None, violation)
    packing = packing_of(bin_size, item_sizes, allowed, sequence)
    size: Sides = tuple(bin_size.tolist())
    violation = packing_violation(packing, _orientations(item_sizes, allowed), size, one_bin=True)
    if violation is not None:
        return Verdict(None, violation)
    return Verdict(fill_rate(packing, bin_size), None)


def packing_of(bin_size: Array, item_sizes: Array, allowed: Array, sequence: NDArray[Any]) -> Packing:
    """Return the loading a permutation of the items stands for."""
    size: Sides = tuple(bin_size.tolist())
    return rebuild(sequence, _orientations(item_sizes, allowed), size, one_bin=True)


def fill_rate(packing: Packing, bin_size: Array) -> float:
    """Return the packed volume in percent of the container's."""
    packed = int((packing.high - packing.low).prod(axis=1)[packing.bins >= 0].sum())
    return 100.0 * (packed / int(bin_size.prod(dtype=np.int64)))


def _orientations(item_sizes: Array, allowed: Array) -> list[list[Sides]]:
    orders = list(permutations(range(3)))
    return [
        [(sides[a], sides[b], sides[c]) for (a, b, c), flag in zip(orders, flags, strict=True) if flag]
        for sides, flags in zip(item_sizes.tolist(), allowed.tolist(), strict=True)
    ]


def solution_text_of(
    key: str,
    bin_size: NDArray[np.int32],
    item_sizes: NDArray[np.int32],
    allowed: NDArray[np.int32],
    sequence: NDArray[Any],
    objective: float,
) -> str:
    """Return the text of a verified solution."""
    packing = packing_of(bin_size, item_sizes, allowed, sequence)
    first = f"{len(item_sizes)} {int((packing.bins >= 0).sum())} {objective!r}"
    return packing_text(key, "items packed fill-rate-in-percent", first, packing)


def verified_objective(environment: Mapping[str, Any], state: State) -> Verdict:
    """Fill rate in percent by the independent verifier, or the first broken constraint."""
    sizes, allowed = environment["item_sizes"], environment["orientation_allowed"]
    return verify_sequence(environment["bin_size"], sizes, allowed, state)


def solution_text(name: str, environment: Mapping[str, Any], state: State, objective: float) -> str:
    """Return the text of a verified solution."""
    sizes, allowed = environment["item_sizes"], environment["orientation_allowed"]
    key, sequence = f"file/{name}", state.sequence
    return solution_text_of(key, environment["bin_size"], sizes, allowed, sequence, objective)
