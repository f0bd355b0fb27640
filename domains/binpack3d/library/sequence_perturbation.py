"""Perturbation of the sequence: a few windows are shuffled.

Method: windows of consecutive entries at random places are put in random order. Every permutation stands
for a packing, so the result is always valid; items far from the windows keep their order.

Source: H. R. Lourenço, O. C. Martin, T. Stützle, Iterated local search, 2003 (perturbation by local
rearrangement).

Complexity: O(length of the windows).
"""

import numpy as np

WINDOWS = 2  # tunable: int 1..20
WINDOW_SHARE = 0.1  # tunable: float 0.01..1.0


# exchangeable: window-change
def changed(window, rng):
    """The entries of one window in a new order."""
    return rng.permutation(window)


def run(env_data, state, calc_makespan_fn):
    """Shuffle WINDOWS windows of `state`; the result may be worse."""
    rng = env_data["rng"]
    sequence = np.array(state.sequence, dtype=np.int32)
    length = min(sequence.size, max(2, int(WINDOW_SHARE * sequence.size)))
    for _ in range(WINDOWS):
        start = int(rng.integers(sequence.size - length + 1))
        sequence[start : start + length] = changed(sequence[start : start + length], rng)
    env_data["budget"].charge(WINDOWS)
    state.sequence = sequence
    return state
