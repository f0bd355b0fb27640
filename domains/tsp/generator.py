"""The random Euclidean generators of the 8th DIMACS Implementation Challenge (TSP), in own code.

References
----------
D. S. Johnson, L. A. McGeoch, "Experimental Analysis of Heuristics for the STSP", in: The Traveling Salesman
Problem and its Variations, Kluwer 2002: instance classes E (uniform) and C (clustered).
D. E. Knuth, The Art of Computer Programming 2: Sections 3.2.2 (subtractive generator), 3.4.1 (polar method).
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

SIDE: Final = 1_000_000
"""Side of the square the cities (uniform) or the cluster centres (clustered) lie in."""
CITIES_PER_CLUSTER: Final = 100
_MODULUS: Final = 1_000_000_000
_LAG, _SHORT_LAG = 55, 24


class SubtractiveGenerator:
    """Knuth's lagged subtractive generator X[k] = X[k-55] - X[k-24] modulo 10^9.

    `seed` is in 0 … 10^9 - 1; the first 165 numbers are thrown away, as in the challenge's programs.
    """

    def __init__(self, seed: int) -> None:
        if not 0 <= seed < _MODULUS:
            raise ValueError(f"expected 0 <= seed < {_MODULUS}, got {seed}")
        self._lagged = [seed] * _LAG
        previous, value = seed, 1
        for i in range(1, _LAG):
            slot = 21 * i % _LAG
            self._lagged[slot] = value
            previous, value = value, (previous - value) % _MODULUS
        self._oldest, self._newer = 0, _SHORT_LAG
        self._spare_normal: float | None = None
        for _ in range(3 * _LAG):
            self.integer()

    def integer(self) -> int:
        """Return the next number, uniform on 0 … 10^9 - 1."""
        self._oldest = (self._oldest - 1) % _LAG
        self._newer = (self._newer - 1) % _LAG
        value = (self._lagged[self._oldest] - self._lagged[self._newer]) % _MODULUS
        self._lagged[self._oldest] = value
        return value

    def unit(self) -> float:
        """Return the next number in [0, 1)."""
        return self.integer() / _MODULUS

    def normal(self) -> float:
        """Return the next standard normal variate, two at a time by the polar method."""
        if self._spare_normal is not None:
            spare, self._spare_normal = self._spare_normal, None
            return spare
        while True:
            u = 2.0 * self.unit() - 1.0
            v = 2.0 * self.unit() - 1.0
            square = u * u + v * v
            if 0.0 < square < 1.0:
                break
        stretch = math.sqrt(-2.0 * math.log(square) / square)
        self._spare_normal = u * stretch
        return v * stretch


def uniform_cities(size: int, seed: int) -> NDArray[np.float64]:
    """Integer points uniform in the square (class E, ``portgen``): float64 `(size, 2)`."""
    rng = SubtractiveGenerator(seed)
    scale = _MODULUS // SIDE
    return np.array([[rng.integer() // scale for _ in range(2)] for _ in range(size)], dtype=np.float64)


def clustered_cities(size: int, seed: int) -> NDArray[np.float64]:
    """Integer points around uniform centres (class C, ``portcgen``): float64 `(size, 2)`.

    There are max(1, ``size // 100``) centres. Each city picks one and adds to both coordinates a normal
    variate times ``SIDE / sqrt(size)``, truncated towards zero; coordinates may leave the square.
    """
    rng = SubtractiveGenerator(seed)
    n_centres = max(1, size // CITIES_PER_CLUSTER)
    centres = [[int(rng.unit() * SIDE) for _ in range(2)] for _ in range(n_centres)]
    spread = SIDE / math.sqrt(size)
    cities = []
    for _ in range(size):
        centre = centres[int(rng.unit() * n_centres)]
        cities.append([coordinate + int(rng.normal() * spread) for coordinate in centre])
    return np.array(cities, dtype=np.float64)
