"""Perturbations by double bridges.

The file brings ``bridged``, which makes one.
"""

import numpy as np
from parts.taker import bridged


def bridge_repeatedly(env_data, state, bridges):
    """Make `bridges` double bridges on the tour of `state`; the result may be longer."""
    if env_data["num_nodes"] < 8:
        return state
    tour = state.sequence
    for _ in range(bridges):
        tour = bridged(tour, env_data["rng"])
        env_data["budget"].charge(1)
    state.sequence = np.ascontiguousarray(tour, dtype=np.int32)
    return state
