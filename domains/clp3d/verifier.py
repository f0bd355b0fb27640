"""Independent verifier: rebuilds the loading and checks it as geometry; shares no code with the decoder."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.contract import State, Verdict
from dga2d.domains.encoding import permutation_violation
from dga2d.domains.packing.geometry import Packing, Sides, packing_violation, rebuild

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
    """The loading a permutation of the items stands for."""
    size: Sides = tuple(bin_size.tolist())
    return rebuild(sequence, _orientations(item_sizes, allowed), size, one_bin=True)


def fill_rate(packing: Packing, bin_size: Array) -> float:
    """Packed volume in percent of the container's."""
    packed = int((packing.high - packing.low).prod(axis=1)[packing.bins >= 0].sum())
    return 100.0 * (packed / int(bin_size.prod(dtype=np.int64)))


def _orientations(item_sizes: Array, allowed: Array) -> list[list[Sides]]:
    orders = list(permutations(range(3)))
    return [
        [(sides[a], sides[b], sides[c]) for (a, b, c), flag in zip(orders, flags, strict=True) if flag]
        for sides, flags in zip(item_sizes.tolist(), allowed.tolist(), strict=True)
    ]
