"""The plants: their equations, nominal parameters, ranges of instances, and how they are drawn from seeds.

Coordinates come first, their velocities after them; angles are measured from the upright position, where the
target is. An instance's seed is its system's number below, 128 bits of chance, with its place: who knows this
text but not those numbers knows ranges and no instance.

References
----------
DGA2D paper, Appendix G.2: systems, bounds of the input, step, horizon and cost. It gives neither parameters
nor initial states; docs/explanation/numerical.md says by what these were chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import cos, sin, sqrt
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.splits import NumberedPart, place_of

DT: Final = 0.02
"""Seconds for which an input is held."""
STEPS: Final = 5000
"""Inputs of an episode: 100 seconds."""
INPUT_WEIGHT: Final = 0.01
"""What the square of an input costs; a coordinate's error costs its square."""
GRAVITY: Final = 9.81
SUBSTEPS: Final = 2
"""Steps of the classical Runge-Kutta method for each input."""
LARGEST: Final = 1e6
"""A plant with a larger coordinate has diverged."""
PARTS: Final = (
    NumberedPart("design", "train", 1),
    NumberedPart("validation", "validation", 12),
    NumberedPart("test", "test", 30),
)
"""One to design on and thirty to test on, as in the paper."""
Point = tuple[float, ...]
Rates = Callable[[Point, float], Point]
"""Derivatives of the state for a state and an input."""


def linear(parameters: Sequence[float]) -> Rates:
    """Return x' = A x + b u; the parameters are A, row by row, and b."""
    n = dimension_of_linear(parameters)
    rows = [tuple(parameters[i * n : (i + 1) * n]) for i in range(n)]
    inputs = tuple(parameters[n * n :])

    def rates(x: Point, u: float) -> Point:
        return tuple(
            sum(a * v for a, v in zip(row, x, strict=True)) + b * u
            for row, b in zip(rows, inputs, strict=True)
        )

    return rates


def dimension_of_linear(parameters: Sequence[float]) -> int:
    """Return n of n² + n parameters; raises ValueError for another number of them."""
    n = round(sqrt(len(parameters) + 0.25) - 0.5)
    if n < 1 or n * n + n != len(parameters):
        raise ValueError(f"a linear model of n coordinates has n * n + n parameters, not {len(parameters)}")
    return n


def pendulum(parameters: Sequence[float]) -> Rates:
    """Return θ'' = (g/l) sin θ + u / (m l²): a point mass on a rod, a torque at its pivot."""
    m, length, g = parameters
    fall, push = g / length, 1.0 / (m * length * length)

    def rates(x: Point, u: float) -> Point:
        return (x[1], fall * sin(x[0]) + push * u)

    return rates


def cart_pole(parameters: Sequence[float]) -> Rates:
    """Return a point mass m on a rod that turns freely on a cart of mass M, which a force pushes.

    s'' = (u + m sin θ (l θ'² - g cos θ)) / (M + m sin² θ), θ'' = (g sin θ - s'' cos θ) / l.
    """
    cart, m, length, g = parameters

    def rates(x: Point, u: float) -> Point:
        c, s, spin = cos(x[1]), sin(x[1]), x[3]
        acceleration = (u + m * s * (length * spin * spin - g * c)) / (cart + m * s * s)
        return (x[2], spin, acceleration, (g * s - acceleration * c) / length)

    return rates


MODELS: Final[Mapping[str, Callable[[Sequence[float]], Rates]]] = {
    "linear": linear,
    "pendulum": pendulum,
    "cart_pole": cart_pole,
}
"""Name of a model → its equations for parameters."""
ANGLES: Final[Mapping[str, tuple[int, ...]]] = {"linear": (), "pendulum": (0,), "cart_pole": (1,)}
"""Name of a model → its coordinates that are angles."""
PARAMETERS: Final[Mapping[str, tuple[str, ...]]] = {
    "pendulum": ("mass", "length", "gravity"),
    "cart_pole": ("cart", "mass", "length", "gravity"),
}
"""Model → names of its parameters."""


@dataclass(frozen=True)
class System:
    """A group of instances: a model, and what they are drawn from."""

    title: str
    model: str
    nominal: tuple[float, ...]
    """Parameters that everybody knows."""
    perturbed: tuple[int, ...]
    """Which of them instances have up to `PERTURBATION` larger or smaller."""
    bound: float
    """Largest input, either way."""
    initial: tuple[tuple[float, float], ...]
    """Range of each coordinate at the start."""
    seed: int


PERTURBATION: Final = 0.2
SYSTEMS: Final[Mapping[str, System]] = {
    "double_integrator": System(
        title="Double integrator",
        model="linear",
        nominal=(0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
        perturbed=(),
        bound=5.0,
        initial=((-2.75, 2.75), (-2.75, 2.75)),
        seed=0x9A1D5B7E0C3F42868E61D20F4B97A35C,
    ),
    "pendulum": System(
        title="Pendulum",
        model="pendulum",
        nominal=(1.0, 0.8, GRAVITY),
        perturbed=(0, 1),
        bound=8.0,
        initial=((np.pi - 0.5, np.pi + 0.5), (-0.5, 0.5)),
        seed=0x51C8E0A94D7B36F21F0E93C6A8B4D752,
    ),
    "cart_pole": System(
        title="Cart-pole",
        model="cart_pole",
        nominal=(1.0, 0.1, 0.5, GRAVITY),
        perturbed=(0, 1, 2),
        bound=20.0,
        initial=((-0.5, 0.5), (np.pi - 0.3, np.pi + 0.3), (-0.3, 0.3), (-0.3, 0.3)),
        seed=0xC47E1F3B9280D56A7BD3E40C95A1862F,
    ),
}


class Episode(NamedTuple):
    """An instance: a plant and where it starts."""

    system: str
    parameters: NDArray[np.float64]
    """The plant's own, which no candidate sees."""
    x0: NDArray[np.float64]
    """Initial state, angles from -π to π."""

    def data(self) -> dict[str, Any]:
        """Return what an instance of the domain holds."""
        return self._asdict()


def generate(system: str, name: str) -> Episode | None:
    """Return the instance that a system has under `name`; ``None`` where neither is known."""
    place = place_of(name, PARTS)
    return draw(system, SYSTEMS[system].seed, *place) if system in SYSTEMS and place is not None else None


def draw(system: str, seed: int, *place: int) -> Episode:
    """Return an episode of a system with parameters and an initial state within its ranges."""
    rng = np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=place)))
    ranges = SYSTEMS[system]
    parameters = np.array(ranges.nominal)
    for index in ranges.perturbed:
        parameters[index] *= 1.0 + PERTURBATION * rng.uniform(-1.0, 1.0)
    low, high = np.array(ranges.initial).T
    x0 = rng.uniform(low, high)
    angles = list(ANGLES[ranges.model])
    x0[angles] = wrap_angle(x0[angles])
    return Episode(system, parameters, x0)


def wrap_angle(angle: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the same angles from -π up to π."""
    return np.asarray((angle + np.pi) % (2.0 * np.pi) - np.pi)
