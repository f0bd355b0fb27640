"""Plants that run, and what an episode costs, where candidates cannot reach."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.control.plants import (
    ANGLES,
    DT,
    INPUT_WEIGHT,
    LARGEST,
    MODELS,
    STEPS,
    SUBSTEPS,
    SYSTEMS,
    Point,
    Rates,
    dimension_of_linear,
)
from dga2d.domains.core.errors import OracleRefusedError

Advance = Callable[[Point, float], Point]
"""The state after an input that is held for one step."""
SHOWN_STEPS = 500
"""Steps of an episode that are kept for pictures."""


class RunningPlant:
    """Answers an input by the next measured state and the cost so far; rows are applied one after another.

    A row is an input u, or u, a number of steps and a gain, `(n,)`: in each of these steps the input is then
    u less the gain times the error. A law that is linear for a while needs no question for each step.

    An input is cut to the bound. The episode ends with its last step, with an input that is no number and
    with a plant that diverged; then there are no answers any more.
    """

    def __init__(self, advance: Advance, x0: Sequence[float], task: Mapping[str, Any]) -> None:
        self._advance = advance
        self._x = tuple(float(value) for value in x0)
        self._bound = float(task["bound"])
        self._steps = int(task["steps"])
        self._weight = float(task["input_weight"])
        self._target = tuple(float(value) for value in task["target"])
        self._angles = frozenset(int(index) for index in task["angles"])
        self._t = 0
        self._cost = 0.0
        self._fault = ""
        self._course: list[Point] = []

    def answer(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        n = len(self._x)
        if rows.ndim != 2 or rows.shape[1] not in (1, 2 + n) or not len(rows):
            raise OracleRefusedError(
                f"a question is an input a row, or an input, steps and {n} gains, not of shape {rows.shape}"
            )
        return np.array([self._held(row.tolist()) for row in rows])

    def _held(self, row: list[float]) -> Point:
        u, gain = row[0], row[2:]
        steps = row[1] if gain else 1.0
        if not 1.0 <= steps <= self._steps:
            raise OracleRefusedError(f"an input is held for 1 to {self._steps} steps, not {steps}")
        for _ in range(int(steps)):
            error = self._error() if gain else ()
            after = self._after(u - sum(k * e for k, e in zip(gain, error, strict=True)))
        return (*after, self._cost)

    def _after(self, u: float) -> Point:
        if not self._fault and self._t == self._steps:
            raise OracleRefusedError(f"the episode of {self._steps} steps is over")
        if not self._fault and not math.isfinite(u):
            self._fault = f"the input of step {self._t} is {u}"
        if self._fault:
            raise OracleRefusedError(self._fault)
        u = min(max(u, -self._bound), self._bound)
        self._cost += sum(e * e for e in self._error()) + self._weight * u * u
        if self._t < SHOWN_STEPS:
            self._course.append((*self._x, u))
        try:
            self._x = self._advance(self._x, u)
        except ArithmeticError:
            self._x = (math.inf,) * len(self._x)
        if not all(abs(value) <= LARGEST for value in self._x):
            self._fault = f"the plant diverged in step {self._t}"
            raise OracleRefusedError(self._fault)
        self._t += 1
        return tuple(_wrap_angle(v) if i in self._angles else v for i, v in enumerate(self._x))

    def _error(self) -> Point:
        return tuple(
            _wrap_angle(value - goal) if i in self._angles else value - goal
            for i, (value, goal) in enumerate(zip(self._x, self._target, strict=True))
        )

    def record(self) -> dict[str, Any]:
        """Return ``steps`` and ``cost`` so far, ``fault`` in words, and ``course``, `(k, n + 1)`: states and
        inputs of the first steps."""
        course = np.array(self._course).reshape(-1, len(self._x) + 1)
        return {"steps": self._t, "cost": self._cost, "fault": self._fault, "course": course}


def _wrap_angle(angle: float) -> float:
    return (angle + math.pi) % (2.0 * math.pi) - math.pi


def runge_kutta(rates: Rates, dt: float = DT, substeps: int = SUBSTEPS) -> Advance:
    """Return the classical Runge-Kutta method for an input that is held, in `substeps` steps."""
    h = dt / substeps

    def advance(x: Point, u: float) -> Point:
        for _ in range(substeps):
            a = rates(x, u)
            b = rates(tuple([v + 0.5 * h * k for v, k in zip(x, a, strict=True)]), u)
            c = rates(tuple([v + 0.5 * h * k for v, k in zip(x, b, strict=True)]), u)
            d = rates(tuple([v + h * k for v, k in zip(x, c, strict=True)]), u)
            x = tuple(
                [
                    v + h / 6.0 * (k1 + 2.0 * (k2 + k3) + k4)
                    for v, k1, k2, k3, k4 in zip(x, a, b, c, d, strict=True)
                ]
            )
        return x

    return advance


def make_oracle(data: Mapping[str, Any]) -> RunningPlant:
    """Return the plant of an episode at its initial state."""
    rates = MODELS[SYSTEMS[data["system"]].model]([float(value) for value in data["parameters"]])
    return RunningPlant(runge_kutta(rates), data["x0"], public_environment(data["system"], data["x0"]))


def public_environment(system: str, x0: Any) -> dict[str, Any]:
    """Return what operators are told: the model with its nominal parameters, the task, and where it
    starts."""
    known = SYSTEMS[system]
    return _environment(known.model, np.array(known.nominal), np.array(x0, dtype=np.float64), known.bound)


def _environment(
    model: str, parameters: NDArray[np.float64], x0: NDArray[np.float64], bound: float
) -> dict[str, Any]:
    return {
        "model": model,
        "parameters": parameters,
        "x0": x0,
        "dimension": int(x0.size),
        "angles": np.array(ANGLES[model], dtype=np.int64),
        "target": np.zeros(x0.size),
        "bound": float(bound),
        "dt": DT,
        "steps": STEPS,
        "input_weight": INPUT_WEIGHT,
    }


def own_environment(
    x0: Any,
    bound: float,
    model: str = "linear",
    parameters: Any = (),
    target: Any = None,
    dt: float = DT,
    steps: int = STEPS,
    input_weight: float = INPUT_WEIGHT,
) -> dict[str, Any]:
    """Return the task of a plant of one's own.

    `model` is what is known of it: ``"pendulum"`` with mass, length and gravity, ``"cart_pole"`` with the
    masses of cart and pole, length and gravity, or ``"linear"`` with A, row by row, and b of x' = A x + b u.

    Raises
    ------
    ValueError
        A number is not finite or not above 0 where it must be, or numbers of coordinates do not fit.
    """
    start, known = (np.array(value, dtype=np.float64).reshape(-1) for value in (x0, parameters))
    if model not in MODELS:
        raise ValueError(f"model must be one of {', '.join(MODELS)}, not {model!r}")
    count = {"pendulum": 3, "cart_pole": 4}.get(model, known.size)
    if known.size != count:
        raise ValueError(f"the model {model} has {count} parameters, not {known.size}")
    n = {"pendulum": 2, "cart_pole": 4}.get(model) or dimension_of_linear(known.tolist())
    goal = np.zeros(n) if target is None else np.array(target, dtype=np.float64).reshape(-1)
    if (start.size, goal.size) != (n, n):
        raise ValueError(f"the model {model} has {n} coordinates, x0 {start.size} and target {goal.size}")
    if not all(np.isfinite(values).all() for values in (start, goal, known)):
        raise ValueError("x0, target and parameters must be finite numbers")
    if model != "linear" and not (known > 0.0).all():
        raise ValueError(f"the parameters of {model} must be above 0")
    if not (0.0 < bound < math.inf and 0.0 < dt < math.inf and 0.0 < input_weight < math.inf and steps > 0):
        raise ValueError("bound, dt, steps and input_weight must be above 0")
    task = _environment(model, known, start, bound)
    return task | {"target": goal, "dt": float(dt), "steps": int(steps), "input_weight": float(input_weight)}


def own_oracle(environment: Mapping[str, Any], function: Callable[..., Any]) -> RunningPlant:
    """Return a plant of one's own: ``function(x, u)`` gives the next measured state, `(n,)`, after `dt`.

    A simulation computes it from `x`; a real plant applies `u`, waits and measures.
    """
    n = int(environment["dimension"])

    def advance(x: Point, u: float) -> Point:
        after = np.asarray(function(np.array(x), u), dtype=np.float64)
        if after.shape != (n,):
            raise ValueError(f"function(x, u) must return {n} numbers, got shape {after.shape}")
        return tuple(after.tolist())

    return RunningPlant(advance, environment["x0"], environment)
