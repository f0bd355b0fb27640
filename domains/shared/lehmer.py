"""The multiplicative congruential generator behind several published benchmark generators.

References
----------
P. Bratley, B. L. Fox, L. E. Schrage, A Guide to Simulation, Springer 1983; used by E. Taillard, Benchmarks
for basic scheduling problems, European Journal of Operational Research 64(2), 1993, and by E. E. Bischoff
and M. S. W. Ratcliff, Issues in the development of approaches to container loading, Omega 23(4), 1995.
"""

from __future__ import annotations

MODULUS = 2**31 - 1
MULTIPLIER = 16_807


class LehmerGenerator:
    """x ← 16807·x mod (2³¹ − 1)."""

    def __init__(self, seed: int) -> None:
        if not 0 < seed < MODULUS:
            raise ValueError(f"expected a seed in 1..{MODULUS - 1}, got {seed}")
        self._state = seed

    def uniform(self, low: int, high: int) -> int:
        """Return the next integer of U[low, high], both ends included."""
        self._state = MULTIPLIER * self._state % MODULUS
        return low + self._state * (high - low + 1) // MODULUS
