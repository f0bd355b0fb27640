"""Perturbation of the sequence: a few windows are shuffled.

Method: windows of consecutive entries at random places are put in random order. Every permutation stands
for a packing, so the result is always valid; items far from the windows keep their order.

Source: H. R. Lourenço, O. C. Martin, T. Stützle, Iterated local search, 2003 (perturbation by local
rearrangement).

Complexity: O(length of the windows).
"""

from parts.sequences.window_shuffle import shuffle_windows

WINDOWS = 2  # tunable: int 1..20
WINDOW_SHARE = 0.1  # tunable: float 0.01..1.0


def run(env_data, state, calc_makespan_fn):
    """Shuffle WINDOWS windows of `state`; the result may be worse."""
    return shuffle_windows(env_data, state, WINDOWS, WINDOW_SHARE)
