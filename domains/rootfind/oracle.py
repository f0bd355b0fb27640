"""Functions and their derivatives, evaluated and counted where candidates cannot reach."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.errors import OracleRefusedError
from dga2d.domains.core.oracle import Oracle

MOST_EVALUATIONS = 1000
"""Rows that are answered; a method that needs more has failed."""
MOST_ORDER = 2
"""Highest derivative of a function of one variable."""
Function = Callable[[int, NDArray[np.float64]], NDArray[np.float64]]
"""Value for kind 0; for one variable kind d is the d-th derivative, for several the column ∂F/∂x_d, from
1."""


class CountingOracle:
    """Answers rows ``(kind, x_1 … x_n)`` by rows of n numbers, and counts rows and rounds.

    Every row is an evaluation, a derivative or a column of a Jacobian too. All rows asked at once are a
    round: none could be chosen by what another one of them gave.
    """

    def __init__(self, function: Function, dimension: int) -> None:
        self._function = function
        self._dimension = dimension
        self._rounds = 0
        self._rows: list[NDArray[np.float64]] = []
        self._answers: list[NDArray[np.float64]] = []

    def answer(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        n = self._dimension
        if rows.ndim != 2 or rows.shape[1] != n + 1:
            raise OracleRefusedError(f"a question is a kind and {n} coordinates, not an array {rows.shape}")
        most = MOST_ORDER if n == 1 else n
        if not np.isin(rows[:, 0], np.arange(most + 1)).all():
            raise OracleRefusedError(f"the kind of a question is one of 0 to {most}")
        if len(self._rows) + len(rows) > MOST_EVALUATIONS:
            raise OracleRefusedError(f"more than {MOST_EVALUATIONS} evaluations")
        self._rounds += 1
        answers = np.empty((len(rows), n))
        for row, answer in zip(rows, answers, strict=True):
            answer[:] = self._value(int(row[0]), row[1:])
            self._rows.append(row.copy())
            self._answers.append(answer)
        return answers

    def _value(self, kind: int, x: NDArray[np.float64]) -> NDArray[np.float64]:
        try:
            return self._function(kind, x)
        except (
            OverflowError,
            ValueError,
            ZeroDivisionError,
        ):  # what Python's floats raise, arrays make inf or NaN
            return np.full(self._dimension, math.nan)

    def record(self) -> dict[str, Any]:
        asked = np.array(self._rows).reshape(-1, self._dimension + 1)
        answers = np.array(self._answers).reshape(-1, self._dimension)
        is_value = asked[:, 0] == 0.0
        residuals = np.abs(answers[is_value]).max(axis=1, initial=0.0)
        return {
            "evaluations": len(asked),
            "rounds": self._rounds,
            "points": np.nan_to_num(asked[is_value][:, 1:], posinf=1e300, neginf=-1e300),
            "residuals": np.nan_to_num(residuals, nan=1e300, posinf=1e300),
        }


def own_environment(x0: Any, radius: float = 1.0, tolerance: float = 1e-8) -> dict[str, Any]:
    """Return the problem of a user's own function: guess, how far from it a root may be, and largest
    residual.

    Raises
    ------
    ValueError
        The guess is empty or not finite, or another one is not above 0.
    """
    start = np.array(x0, dtype=np.float64).reshape(-1)
    if not start.size or not np.isfinite(start).all():
        raise ValueError(f"expected a finite initial guess, got {x0!r}")
    if not (radius > 0.0 and tolerance > 0.0):
        raise ValueError(f"expected radius > 0 and tolerance > 0, got {radius} and {tolerance}")
    return {"dimension": start.size, "x0": start, "radius": float(radius), "tolerance": float(tolerance)}


def own_oracle(environment: Mapping[str, Any], function: Callable[..., Any]) -> CountingOracle:
    """Return the oracle of a user's function: of a float, or of an array `(n,)` to n values.

    Derivatives are central differences.
    """
    n = int(environment["dimension"])

    def at(x: NDArray[np.float64]) -> NDArray[np.float64]:
        value = np.asarray(function(x.copy() if n > 1 else float(x[0])), dtype=np.float64).reshape(-1)
        if value.shape != (n,):
            raise TypeError(f"the function gave {value.size} values for {n} variables")
        return value

    def value(kind: int, x: NDArray[np.float64]) -> NDArray[np.float64]:
        if kind == 0:
            return at(x)
        h = np.zeros(n)
        place = kind - 1 if n > 1 else 0
        h[place] = (6e-6 if n > 1 or kind == 1 else 1e-4) * max(1.0, abs(float(x[place])))
        if n == 1 and kind == 2:
            return (at(x + h) - 2.0 * at(x) + at(x - h)) / float(h[0]) ** 2
        return (at(x + h) - at(x - h)) / (2.0 * float(h[place]))

    return CountingOracle(value, n)


def make_oracle(data: Mapping[str, Any]) -> Oracle:
    """Return the oracle of an equation of one of the families."""
    parameters = [float(value) for value in data["parameters"]]
    family = data["family"]
    if family == "system2d":
        return CountingOracle(_system(*parameters), 2)
    scalar = _oscillatory(*parameters) if family == "osc" else _polynomial(*_with_multiplicity(parameters))
    return CountingOracle(lambda kind, x: np.array([scalar(kind, float(x[0]))]), 1)


def _with_multiplicity(parameters: list[float]) -> list[float]:
    return parameters if len(parameters) == 5 else [parameters[0], 1.0, *parameters[1:]]


def _polynomial(r: float, m: float, a0: float, a1: float, a2: float) -> Callable[[int, float], float]:
    """Return (x - r)^m (a0 + a1 x + a2 x²) and its derivatives, by Leibniz' rule."""

    def value(order: int, x: float) -> float:
        q = (a0 + x * (a1 + x * a2), a1 + 2.0 * a2 * x, 2.0 * a2)
        u = [math.perm(int(m), k) * (x - r) ** (int(m) - k) if k <= m else 0.0 for k in range(order + 1)]
        return math.fsum(math.comb(order, k) * u[k] * q[order - k] for k in range(order + 1))

    return value


def _oscillatory(r: float, omega: float, alpha: float) -> Callable[[int, float], float]:
    """Return sin(ω (x - r)) + α (x - r) and its derivatives."""

    def value(order: int, x: float) -> float:
        phase = omega * (x - r)
        if order == 0:
            return math.sin(phase) + alpha * (x - r)
        return omega * math.cos(phase) + alpha if order == 1 else -omega * omega * math.sin(phase)

    return value


def _system(r1: float, r2: float) -> Function:
    """Return (x1² + x2 - r1, x1 + x2² - r2) and the columns of its Jacobian."""

    def value(kind: int, x: NDArray[np.float64]) -> NDArray[np.float64]:
        x1, x2 = float(x[0]), float(x[1])
        if kind == 0:
            return np.array([x1 * x1 + x2 - r1, x1 + x2 * x2 - r2])
        return np.array([2.0 * x1, 1.0]) if kind == 1 else np.array([1.0, 2.0 * x2])

    return value
