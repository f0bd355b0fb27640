"""Neighbours of a sequence by moves of blocks."""

import numpy as np


# exchangeable: sequence-move
def moved(sequence, reach, rng):
    """A copy of `sequence` with a block of up to `reach` (a fraction of the length) entries moved
    elsewhere.
    """
    size = sequence.size
    length = int(rng.integers(1, max(1, int(reach * size)) + 1))
    start = int(rng.integers(size - length + 1))
    rest = np.delete(sequence, np.arange(start, start + length))
    return np.insert(rest, int(rng.integers(rest.size + 1)), sequence[start : start + length])
