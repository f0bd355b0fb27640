"""Sequences of items by priority.

The file brings the rule, ``priorities``.
"""

import numpy as np
from parts.taker import priorities


def order_by_priority(env_data, state, noise):
    """Order all items by priority, each blurred by up to `noise` of its value."""
    rng = env_data["rng"]
    keys = priorities(np.asarray(env_data["item_sizes"]), np.asarray(env_data["bin_size"]))
    keys = keys * (1.0 + noise * rng.random(keys.size))
    env_data["budget"].charge(1)
    state.sequence = np.argsort(-keys, kind="stable").astype(np.int32)
    return state
