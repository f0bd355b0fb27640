"""Shuffles of short stretches of a sequence."""

import numpy as np


# exchangeable: window-change
def changed(window, rng):
    """The entries of one window in a new order."""
    return rng.permutation(window)


def shuffle_windows(env_data, state, windows, share):
    """Shuffle so many `windows` of `state`, each the given `share` of it; the result may be worse."""
    rng = env_data["rng"]
    sequence = np.array(state.sequence, dtype=np.int32)
    length = min(sequence.size, max(2, int(share * sequence.size)))
    for _ in range(windows):
        start = int(rng.integers(sequence.size - length + 1))
        sequence[start : start + length] = changed(sequence[start : start + length], rng)
    env_data["budget"].charge(windows)
    state.sequence = sequence
    return state
