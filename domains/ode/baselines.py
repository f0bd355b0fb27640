"""Classical integrators outside of the sandbox, for tables and pictures: Euler, RK4 and SciPy's."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dga2d.domains.ode.card import MOST_EVALUATIONS
from dga2d.domains.ode.systems import Vector


@dataclass(frozen=True)
class Integrated:
    """What an integrator came to."""

    y: Vector
    """Final state, float64 `(n,)`; NaN where the integrator gave up."""
    evaluations: int
    """Of the right-hand side, those for Jacobians included."""
    course: Vector | None = None
    """States at the times asked for, float64 `(n, k)`."""


class _TooManyError(Exception):
    """More evaluations than are answered."""


class _Counted:
    def __init__(self, f: Callable[[float, Vector], Vector], most: int) -> None:
        self._f = f
        self._most = most
        self.evaluations = 0

    def __call__(self, t: float, y: Vector) -> Vector:
        if self.evaluations == self._most:
            raise _TooManyError
        self.evaluations += 1
        return self._f(t, y)


def by_euler(f: Callable[[float, Vector], Vector], initial: Vector, end: float, step: float) -> Integrated:
    """Return what the explicit Euler method gives with equal steps of about `step`."""
    steps = round(end / step)
    h, y = end / steps, initial
    with np.errstate(all="ignore"):
        for i in range(steps):
            y = y + h * f(i * h, y)
    return Integrated(y, steps)


def by_rk4(f: Callable[[float, Vector], Vector], initial: Vector, end: float, step: float) -> Integrated:
    """Return what the classical Runge-Kutta method gives with equal steps of about `step`."""
    steps = round(end / step)
    h, y = end / steps, initial
    with np.errstate(all="ignore"):
        for i in range(steps):
            t = i * h
            k1 = f(t, y)
            k2 = f(t + h / 2, y + h / 2 * k1)
            k3 = f(t + h / 2, y + h / 2 * k2)
            k4 = f(t + h, y + h * k3)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return Integrated(y, 4 * steps)


def by_scipy(
    method: str,
    f: Callable[[float, Vector], Vector],
    initial: Vector,
    end: float,
    relative: float,
    absolute: float,
    times: Vector | None = None,
    most: int = MOST_EVALUATIONS,
) -> Integrated:
    """Return what a method of SciPy's ``solve_ivp`` gives, NaN where it asks for more than `most`
    evaluations, as the oracle answers no more to operators.

    Evaluations are counted here: SciPy leaves those of its difference quotients out of its ``nfev``.
    """
    from scipy.integrate import solve_ivp  # slow to import

    counted = _Counted(f, most)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = solve_ivp(
                counted, (0.0, end), initial, method=method, rtol=relative, atol=absolute, t_eval=times
            )
    except _TooManyError:
        return Integrated(np.full(len(initial), np.nan), counted.evaluations)
    final = found.y[:, -1] if found.success else np.full(len(initial), np.nan)
    return Integrated(final, counted.evaluations, found.y if times is not None else None)
