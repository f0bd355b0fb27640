"""What a zygote compiles before it serves, so that no child pays for it."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numba
import numpy as np

from dga2d.domains.core.contract import Decoder, State

_LONGEST = 1 << 20


@numba.njit
def _seed_generators(word: Any) -> None:  # pragma: no cover - compiled
    np.random.seed(word)
    random.seed(word)


def seed_compiled_code(word: int) -> None:
    """Seed the generators that ``np.random`` and ``random`` use inside compiled code (0 ≤ `word` < 2³²)."""
    _seed_generators(np.uint32(word))


def warm_decoder(environment: Mapping[str, Any], decoder: Decoder) -> None:
    """Have `decoder` compile, or load, its machine code here instead of in every child.

    It is called with sequences of every length that the environment's numbers and shapes suggest, since
    decoders refuse a wrong length before they reach compiled code.
    """
    lengths = {0}
    for value in environment.values():
        lengths.update(value.shape if isinstance(value, np.ndarray) else ())
        lengths.update([value] if isinstance(value, int) else ())
    for length in sorted(lengths):
        if 0 <= length <= _LONGEST:
            decoder(State(np.arange(length, dtype=np.int32)))
            decoder(State(np.zeros(length, dtype=np.int32)))


def warm_compiler() -> None:
    """Bring numba's compiler and runtime into memory (0.1 s)."""
    seed_compiled_code(0)
