"""What the compiled decoders of both packing domains check."""

from __future__ import annotations

from numba import njit


@njit(cache=True)
def is_permutation(sequence, seen):  # type: ignore[no-untyped-def]
    """Return whether an int32 `sequence` holds each of 0 .. n - 1 once; `seen`, bool `(n,)`, is for work."""
    seen[:] = False
    for item in sequence:
        if item < 0 or item >= seen.size or seen[item]:
            return False
        seen[item] = True
    return True
