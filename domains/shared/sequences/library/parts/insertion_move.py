"""Neighbours of a sequence by insertions."""

import numpy as np


# exchangeable: sequence-move
def moved(sequence, reach, rng):
    """A copy of `sequence` with one entry moved at most `reach` (a fraction of the length) away."""
    size = sequence.size
    source = int(rng.integers(size))
    span = max(1, int(reach * size))
    target = int(np.clip(source + rng.integers(-span, span + 1), 0, size - 1))
    return np.insert(np.delete(sequence, source), target, sequence[source])
