"""The right-hand side behind the candidate's questions; it counts them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.errors import OracleRefusedError
from dga2d.domains.ode.card import MOST_EVALUATIONS
from dga2d.domains.ode.systems import SYSTEMS, RightHandSide, Vector

PREFIX = "parameter_"
"""What the names of parameters begin with in an oracle's data."""


class CountedRightHandSide:
    """f of y' = f(t, y). A question is a row ``t, y``, of 1 + n numbers; the answer the n numbers of f."""

    def __init__(self, function: Callable[[float, Vector], Any], dimension: int) -> None:
        self._function = function
        self._dimension = dimension
        self._evaluations = 0
        self._undefined = 0

    def answer(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Evaluate f at each row. Where it is no number the answer is NaN, and the record says how often."""
        if rows.ndim != 2 or rows.shape[1] != 1 + self._dimension:
            raise OracleRefusedError(
                f"a question is t and {self._dimension} unknowns, got shape {rows.shape}"
            )
        if self._evaluations + len(rows) > MOST_EVALUATIONS:
            raise OracleRefusedError(f"more than {MOST_EVALUATIONS} evaluations")
        self._evaluations += len(rows)
        answers = np.empty((len(rows), self._dimension))
        with np.errstate(all="ignore"):
            for i, row in enumerate(rows):
                answers[i] = self._function(float(row[0]), row[1:])
        self._undefined += int(np.count_nonzero(~np.isfinite(answers).all(axis=1)))
        return answers

    def record(self) -> dict[str, Any]:
        """Return ``evaluations`` and how many of them gave ``undefined`` numbers."""
        return {"evaluations": self._evaluations, "undefined": self._undefined}


def make_oracle(data: Mapping[str, Any]) -> CountedRightHandSide:
    """Return the oracle of what `Ode.oracle_data` gave."""
    system = SYSTEMS[data["system"]]
    parameters = {name.removeprefix(PREFIX): v for name, v in data.items() if name.startswith(PREFIX)}
    function: RightHandSide = system.bind(parameters)
    return CountedRightHandSide(function, system.dimension)


def own_environment(initial: Any, end: float, step: float = 0.05, autonomous: bool = False) -> dict[str, Any]:
    """Return the card's keys for a problem of one's own on [0, `end`]; `step` is for methods that choose
    none.

    Raises
    ------
    ValueError
        The initial state is no vector of finite numbers, or `end` or `step` is not above 0.
    """
    y0 = np.array(initial, dtype=np.float64)
    if y0.ndim != 1 or not y0.size or not np.isfinite(y0).all():
        raise ValueError(f"initial must be a vector of finite numbers, got {initial!r}")
    if not 0.0 < end < np.inf or not 0.0 < step < np.inf:
        raise ValueError(f"end and step must be above 0, got {end!r} and {step!r}")
    return {
        "y0": y0,
        "t_end": float(end),
        "dimension": int(y0.size),
        "nominal_step": float(step),
        "autonomous": int(autonomous),
    }


def own_oracle(
    environment: Mapping[str, Any], function: Callable[[float, Vector], Any]
) -> CountedRightHandSide:
    """Return the oracle of a right-hand side of one's own, ``function(t, y)`` of ``dimension`` unknowns.

    Where it overflows or divides by zero its value is NaN.
    """
    n = int(environment["dimension"])

    def checked(t: float, y: Vector) -> Any:
        try:
            value = np.asarray(function(t, y.copy()), dtype=np.float64)
        except ArithmeticError:
            return np.full(n, np.nan)
        if value.shape != (n,):
            raise ValueError(f"function(t, y) must return {n} numbers, got shape {value.shape}")
        return value

    return CountedRightHandSide(checked, n)
