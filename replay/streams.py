"""Named random streams: every draw is keyed by what it is for, never by when it happens.

``stream(seed, purpose, t, j)`` is ``Philox(SeedSequence(seed, spawn_key=(code(purpose), t, j)))``, so an
interrupted run and its replay draw the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

PURPOSES = {
    "batch": 1,
    "pipeline": 2,
    "implementation": 3,
    "evaluation": 4,
    "policy": 5,
    "proposal": 6,
    "validation": 7,
    "test": 8,
    "smoke": 9,
    "rate": 10,
    "reference": 11,
    "race": 12,
    "race-evaluation": 13,
    "edit": 14,
    "gate": 15,
    "model": 16,
    "method": 17,
    "kernel": 18,
}
"""Purpose → first element of the spawn key. Numbers are never reused: logs depend on them."""


def spawn_key(purpose: str, *keys: int) -> tuple[int, ...]:
    """Return the spawn key of a stream; `keys` are non-negative.

    Raises
    ------
    KeyError
        The purpose has no number.
    """
    return (PURPOSES[purpose], *keys)


def stream(seed: int, purpose: str, *keys: int) -> np.random.Generator:
    """Return the random stream of an operation."""
    return np.random.Generator(
        np.random.Philox(np.random.SeedSequence(seed, spawn_key=spawn_key(purpose, *keys)))
    )


def choose(probabilities: Sequence[float], u: float) -> int:
    """Return the index drawn by the inverse distribution function at `u` in [0, 1).

    The probabilities are summed in order in double precision; a final sum a little below 1 gives the last
    index of positive probability.
    """
    total = 0.0
    last = 0
    for index, probability in enumerate(probabilities):
        if probability > 0.0:
            last = index
        total += probability
        if u < total:
            return index
    return last
