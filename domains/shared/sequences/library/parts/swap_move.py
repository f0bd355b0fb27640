"""Neighbours of a sequence by swaps."""

import numpy as np


# exchangeable: sequence-move
def moved(sequence, reach, rng):
    """A copy of `sequence` with two entries exchanged that stand at most `reach` (a fraction of the length)
    apart.
    """
    size = sequence.size
    source = int(rng.integers(size))
    span = max(1, int(reach * size))
    target = int(np.clip(source + rng.integers(-span, span + 1), 0, size - 1))
    changed = sequence.copy()
    changed[source], changed[target] = sequence[target], sequence[source]
    return changed
