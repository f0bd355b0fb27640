"""The seven initial-value problems of the DGA2D paper's Appendix G, drawn within stated ranges.

The paper names the systems, the length of time and the numbers of unknowns, but neither parameters nor
initial states. The ranges here are the textbook values with some room around them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
RightHandSide = Callable[[float, Vector], Vector]
"""f of y' = f(t, y): float64 `(n,)` to a new float64 `(n,)`."""
Draw = Callable[[np.random.Generator], tuple[dict[str, Any], Vector]]

NOMINAL_STEP = 0.05
"""The paper's h, with which the methods of fixed step run."""


@dataclass(frozen=True)
class System:
    """One family of initial-value problems."""

    name: str
    """Its group of instances."""
    title: str
    dimension: int
    """Number of unknowns."""
    end: float
    """The problem is solved on [0, end]."""
    cost_weight: float
    """λ of the score: what a factor of ten in evaluations costs."""
    draw: Draw
    """Parameters, floats and arrays, and the initial state of a random instance."""
    bind: Callable[[Mapping[str, Any]], RightHandSide]
    """The right-hand side for parameters."""


def lotka_volterra(parameters: Mapping[str, Any]) -> RightHandSide:
    """x' = αx - βxy, y' = δxy - γy: prey and predators (Lotka 1920, Volterra 1926)."""
    alpha, beta, delta, gamma = (float(parameters[k]) for k in ("alpha", "beta", "delta", "gamma"))

    def f(t: float, y: Vector) -> Vector:
        xy = y[0] * y[1]
        return np.array([alpha * y[0] - beta * xy, delta * xy - gamma * y[1]])

    return f


def _draw_lotka_volterra(rng: np.random.Generator) -> tuple[dict[str, Any], Vector]:
    ranges = {"alpha": (1.0, 1.2), "beta": (0.36, 0.44), "delta": (0.09, 0.11), "gamma": (0.36, 0.44)}
    return _uniform(rng, ranges), rng.uniform((4.5, 2.7), (5.5, 3.3))


def van_der_pol(parameters: Mapping[str, Any]) -> RightHandSide:
    """x'' = μ(1 - x²)x' - x as a system of first order: a relaxation oscillator (van der Pol 1926)."""
    mu = float(parameters["mu"])

    def f(t: float, y: Vector) -> Vector:
        return np.array([y[1], mu * (1.0 - y[0] * y[0]) * y[1] - y[0]])

    return f


def _draw_van_der_pol(rng: np.random.Generator) -> tuple[dict[str, Any], Vector]:
    return _uniform(rng, {"mu": (2.0, 3.0)}), rng.uniform((1.0, -0.5), (2.5, 0.5))


def robertson(parameters: Mapping[str, Any]) -> RightHandSide:
    """Robertson's three reactions (1966), with rates k₁ ≈ 0.04, k₂ ≈ 3·10⁷, k₃ ≈ 10⁴."""
    k1, k2, k3 = (float(parameters[k]) for k in ("k1", "k2", "k3"))

    def f(t: float, y: Vector) -> Vector:
        slow, fast, back = k1 * y[0], k2 * y[1] * y[1], k3 * y[1] * y[2]
        return np.array([back - slow, slow - back - fast, fast])

    return f


def _draw_robertson(rng: np.random.Generator) -> tuple[dict[str, Any], Vector]:
    ranges = {"k1": (0.032, 0.048), "k2": (2.4e7, 3.6e7), "k3": (0.8e4, 1.2e4)}
    return _uniform(rng, ranges), np.array([1.0, 0.0, 0.0])


def lorenz(parameters: Mapping[str, Any]) -> RightHandSide:
    """Lorenz's convection (1963), chaotic around σ = 10, ρ = 28, β = 8/3."""
    sigma, rho, beta = (float(parameters[k]) for k in ("sigma", "rho", "beta"))

    def f(t: float, y: Vector) -> Vector:
        return np.array([sigma * (y[1] - y[0]), y[0] * (rho - y[2]) - y[1], y[0] * y[1] - beta * y[2]])

    return f


def _draw_lorenz(rng: np.random.Generator) -> tuple[dict[str, Any], Vector]:
    ranges = {"sigma": (9.0, 11.0), "rho": (26.0, 30.0), "beta": (2.4, 2.9)}
    return _uniform(rng, ranges), rng.uniform(0.5, 1.5, 3)


def linear(parameters: Mapping[str, Any]) -> RightHandSide:
    """y' = Ay with a full matrix."""
    matrix = np.array(parameters["matrix"], dtype=np.float64)

    def f(t: float, y: Vector) -> Vector:
        return matrix @ y

    return f


def _draw_stiff_linear(rng: np.random.Generator) -> tuple[dict[str, Any], Vector]:
    """A = -QDQᵀ, Q random orthogonal; the rates D lie evenly in their logarithms."""
    n = 15
    q, _ = np.linalg.qr(rng.standard_normal((n, n)))
    rates = np.logspace(np.log10(rng.uniform(0.3, 0.6)), np.log10(rng.uniform(300.0, 1000.0)), n)
    return {"matrix": _coarse(-(q * rates) @ q.T)}, rng.uniform(-1.0, 1.0, n)


def heat(parameters: Mapping[str, Any]) -> RightHandSide:
    """u_t = D(u_xx + u_yy) on the unit square, u = 0 at its border: central differences on 10 × 10 points."""
    k = float(parameters["diffusivity"]) * 11.0**2

    def f(t: float, y: Vector) -> Vector:
        u = np.zeros((12, 12))
        u[1:-1, 1:-1] = y.reshape(10, 10)
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        return (k * (around - 4.0 * u[1:-1, 1:-1])).ravel()

    return f


def _draw_heat(rng: np.random.Generator) -> tuple[dict[str, Any], Vector]:
    """A Gaussian bump somewhere in the middle."""
    parameters = _uniform(rng, {"diffusivity": (0.08, 0.12)})
    grid = np.arange(1, 11) / 11.0
    x, y = rng.uniform(0.3, 0.7, 2)
    width = rng.uniform(0.1, 0.2)
    bump = np.exp(-((grid[:, None] - x) ** 2 + (grid[None, :] - y) ** 2) / (2.0 * width**2))
    return parameters, _coarse(bump.ravel())


def convection_diffusion(parameters: Mapping[str, Any]) -> RightHandSide:
    """u_t + c u_x = ν u_xx on the unit interval, u = 0 at its ends: central differences on 100 points."""
    ahead, behind = coefficients_of(parameters)

    def f(t: float, y: Vector) -> Vector:
        u = np.zeros(102)
        u[1:-1] = y
        return ahead * u[2:] + behind * u[:-2] - (ahead + behind) * y

    return f


def coefficients_of(parameters: Mapping[str, Any]) -> tuple[float, float]:
    """Return what the neighbours to the right and to the left weigh in `convection_diffusion`."""
    diffusion = float(parameters["diffusivity"]) * 101.0**2
    convection = float(parameters["speed"]) * 101.0 / 2.0
    return diffusion - convection, diffusion + convection


def _draw_convection_diffusion(rng: np.random.Generator) -> tuple[dict[str, Any], Vector]:
    parameters = _uniform(rng, {"speed": (0.1, 0.3), "diffusivity": (0.008, 0.012)})
    grid = np.arange(1, 101) / 101.0
    centre, width = rng.uniform(0.2, 0.4), rng.uniform(0.05, 0.1)
    return parameters, _coarse(np.exp(-((grid - centre) ** 2) / (2.0 * width**2)))


def _coarse(numbers: Vector) -> Vector:
    """Round to multiples of 2⁻²⁰: the last bits of exponentials and matrix products differ between machines,
    and the stored references are those of one problem."""
    return np.asarray(np.round(numbers * 2.0**20) / 2.0**20, dtype=np.float64)


def _uniform(rng: np.random.Generator, ranges: Mapping[str, tuple[float, float]]) -> dict[str, Any]:
    return {name: float(rng.uniform(*bounds)) for name, bounds in ranges.items()}


SYSTEMS: Mapping[str, System] = {
    system.name: system
    for system in (
        System("lotka_volterra", "Lotka-Volterra", 2, 10.0, 0.1, _draw_lotka_volterra, lotka_volterra),
        System("van_der_pol", "Van der Pol", 2, 10.0, 0.1, _draw_van_der_pol, van_der_pol),
        System("robertson", "Robertson", 3, 10.0, 0.1, _draw_robertson, robertson),
        System("lorenz", "Lorenz", 3, 10.0, 0.1, _draw_lorenz, lorenz),
        System("stiff_linear", "Stiff linear", 15, 10.0, 0.1, _draw_stiff_linear, linear),
        System("heat2d", "Heat equation, 10 × 10", 100, 2.0, 0.05, _draw_heat, heat),
        System(
            "convdiff",
            "Convection-diffusion, 100 points",
            100,
            2.0,
            0.05,
            _draw_convection_diffusion,
            convection_diffusion,
        ),
    )
}
