"""The entries that an order arranges."""

import numpy as np


def entries_of(env_data):
    """Entries in rising order, int64 (n,): 0, …, n - 1, or each value as often as the counts say."""
    if "solution_counts" in env_data:
        counts = env_data["solution_counts"]
        return np.repeat(np.arange(counts.size), counts)
    return np.arange(env_data["solution_size"])
