"""The four families of equations and their instances, drawn from seeds.

An instance's seed is its family's number below, 128 bits of chance, with its place in the family: who knows
this text but not those numbers knows ranges and no instance.

References
----------
DGA2D paper, Appendix G.3: the families and the ranges of their parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.splits import NumberedPart, place_of

TOLERANCE: Final = 1e-8
"""Largest residual of a root, in the maximum norm."""
RADIUS: Final = 0.5
"""An initial guess is at most so far from a root in each coordinate; the paper does not say how far."""
SEEDS: Final[Mapping[str, int]] = {
    "smooth": 0x0ED37C9A7EC4EF4762F1271B8F3A4438,
    "ill": 0xA3CF5A4DFF6A03A82FFE2C4E64E3CEDD,
    "osc": 0x5AED2707A7A44E3CB4A3DE28190544E0,
    "system2d": 0x40304E1B1FFE8DFCAB5ADC113132A175,
}
"""Family → what its instances are drawn from."""
PARTS: Final = (
    NumberedPart("design", "train", 1),
    NumberedPart("validation", "validation", 36),
    NumberedPart("test", "test", 40),
)
"""One to design on, as in the paper, and tenfold its four to test on."""
NAMES: Final = {
    "smooth": ("r", "a0", "a1", "a2"),
    "ill": ("r", "m", "a0", "a1", "a2"),
    "osc": ("r", "omega", "alpha"),
    "system2d": ("r1", "r2"),
}
"""Family → its parameters, in the order in which instances hold them."""


class Equation(NamedTuple):
    """An instance: f(x) = 0 from an initial guess."""

    family: str
    parameters: NDArray[np.float64]
    """As `NAMES` lists them."""
    x0: NDArray[np.float64]
    """Initial guess, `(n,)`."""

    def data(self) -> dict[str, Any]:
        """Return what an instance of the domain holds."""
        return self._asdict()


def generate(family: str, name: str) -> Equation | None:
    """Return the instance that a family has under `name`; ``None`` where neither is known."""
    place = place_of(name, PARTS)
    return draw(family, SEEDS[family], *place) if family in SEEDS and place is not None else None


def draw(family: str, seed: int, *place: int) -> Equation:
    """Return an equation of a family with parameters in the paper's ranges and a guess near one of its
    roots."""
    rng = np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=place)))
    if family == "system2d":
        parameters, root = _system(rng)
    else:
        parameters = np.array(_scalar(family, rng))
        root = parameters[:1]
    offset = RADIUS * rng.uniform(-1.0, 1.0, root.size)
    return Equation(family, parameters, root + offset)


def _scalar(family: str, rng: np.random.Generator) -> list[float]:
    if family == "osc":
        return [rng.uniform(-3.0, 3.0), rng.uniform(2.0, 10.0), rng.uniform(0.01, 0.5)]
    multiplicity = [float(rng.integers(2, 5))] if family == "ill" else []
    return [rng.uniform(-5.0, 5.0), *multiplicity, *rng.uniform(-2.0, 2.0, 3).tolist()]


def _system(rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return right-hand sides for which the system has a real root, and one of its real roots."""
    while True:
        r1, r2 = rng.uniform(-1.5, 1.5, 2)
        roots = np.roots([1.0, 0.0, -2.0 * r1, 1.0, r1 * r1 - r2])  # x1 + (r1 - x1²)² = r2
        real = np.sort(roots[np.abs(roots.imag) < 1e-9].real)
        if real.size:
            x1 = float(rng.choice(real))
            return np.array([r1, r2]), np.array([x1, r1 - x1 * x1])
