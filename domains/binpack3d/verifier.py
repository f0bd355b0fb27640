"""Independent verifier: rebuilds the packing and checks it as geometry; shares no code with the decoder."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.binpack3d.card import LAST_BIN_WEIGHT
from dga2d.domains.contract import State, Verdict
from dga2d.domains.encoding import permutation_violation
from dga2d.domains.packing.geometry import Packing, Sides, packing_violation, rebuild


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
    """The packing a permutation of the items stands for."""
    size: Sides = tuple(bin_size.tolist())
    return rebuild(sequence, _orientations(item_sizes), size, one_bin=False)


def packing_objective(packing: Packing, bin_size: NDArray[np.int32]) -> float:
    """Number of bins plus 0.1 times the empty share of the last one."""
    last = int(packing.bins.max())
    volumes = (packing.high - packing.low).prod(axis=1)
    capacity = int(bin_size.prod(dtype=np.int64))
    empty = capacity - int(volumes[packing.bins == last].sum())
    return float(last + 1 + LAST_BIN_WEIGHT * (empty / capacity))


def _orientations(item_sizes: NDArray[np.int32]) -> list[list[Sides]]:
    return [[(int(dx), int(dy), int(dz))] for dx, dy, dz in item_sizes.tolist()]
