"""What a zygote compiles before it serves, so that no child pays for it."""

from __future__ import annotations

import random
from typing import Any

import numba
import numpy as np


@numba.njit
def _seed_generators(word: Any) -> None:  # pragma: no cover - compiled
    np.random.seed(word)
    random.seed(word)


def seed_compiled_code(word: int) -> None:
    """Seed the generators that ``np.random`` and ``random`` use inside compiled code (0 ≤ `word` < 2³²)."""
    _seed_generators(np.uint32(word))


def warm_up() -> None:
    """Bring numba's compiler and runtime into memory (0.1 s)."""
    seed_compiled_code(0)
