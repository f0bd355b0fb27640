"""Independent verifier: rebuilds the packing and checks it as geometry; shares no code with the decoder.

A solution file says where each item lies. There is no common format: the text starts with comment lines
(``#``: the instance, the meaning of the lines), then a line ``items bins score``, then one line per item in
the order of the instance: item, bin (from 0), lowest corner x y z, sides dx dy dz.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.binpack3d.card import LAST_BIN_WEIGHT
from dga2d.domains.core.contract import State, Verdict
from dga2d.domains.core.encoding import permutation_violation
from dga2d.domains.shared.packing.geometry import Packing, Sides, packing_text, packing_violation, rebuild


def verify_sequence(bin_size: NDArray[np.int32], item_sizes: NDArray[np.int32], state: State) -> Verdict:
    """Check `state` against an instance and compute bins + 0.1 · (empty share of the last bin)."""
    sequence: Any = getattr(state, "sequence", None)
    violation = permutation_violation(sequence, len(item_sizes), "item")
    if violation is not None:
        return Verdict(None, violation)
    packing = packing_of(bin_size, item_sizes, sequence)
    size: Sides = tuple(bin_size.tolist())
    violation = packing_violation(packing, _orientations(item_sizes), size, one_bin=False)
    if violation is not None:
        return Verdict(None, violation)
    return Verdict(packing_objective(packing, bin_size), None)


def packing_of(bin_size: NDArray[np.int32], item_sizes: NDArray[np.int32], sequence: NDArray[Any]) -> Packing:
    """Return the packing a permutation of the items stands for."""
    size: Sides = tuple(bin_size.tolist())
    return rebuild(sequence, _orientations(item_sizes), size, one_bin=False)


def packing_objective(packing: Packing, bin_size: NDArray[np.int32]) -> float:
    """Return the number of bins plus 0.1 times the empty share of the last one."""
    last = int(packing.bins.max())
    volumes = (packing.high - packing.low).prod(axis=1)
    capacity = int(bin_size.prod(dtype=np.int64))
    empty = capacity - int(volumes[packing.bins == last].sum())
    return float(last + 1 + LAST_BIN_WEIGHT * (empty / capacity))


def _orientations(item_sizes: NDArray[np.int32]) -> list[list[Sides]]:
    return [[(int(dx), int(dy), int(dz))] for dx, dy, dz in item_sizes.tolist()]


def solution_text_of(
    key: str,
    bin_size: NDArray[np.int32],
    item_sizes: NDArray[np.int32],
    sequence: NDArray[Any],
    objective: float,
) -> str:
    """Return the text of a verified solution."""
    packing = packing_of(bin_size, item_sizes, sequence)
    first = f"{len(item_sizes)} {int(packing.bins.max()) + 1} {objective!r}"
    return packing_text(key, "items bins score", first, packing)


def verified_objective(environment: Mapping[str, Any], state: State) -> Verdict:
    """Return the bins plus 0.1 times the empty share of the last, by the independent verifier, or the first
    fault.
    """
    return verify_sequence(environment["bin_size"], environment["item_sizes"], state)


def solution_text(name: str, environment: Mapping[str, Any], state: State, objective: float) -> str:
    """Return the text of a verified solution."""
    sizes = environment["bin_size"], environment["item_sizes"]
    return solution_text_of(f"file/{name}", *sizes, state.sequence, objective)
