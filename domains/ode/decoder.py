"""What candidates ask the right-hand side through, and when a walk has come to the end."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import State
from dga2d.domains.core.oracle import Ask
from dga2d.domains.ode.card import INVALID_SCORE


class Integration:
    """The walk is one step, repeated until t has come to the end."""

    repeats = True

    def __init__(self, environment: Mapping[str, Any]) -> None:
        self._end = float(environment["t_end"])
        self._dimension = int(environment["dimension"])
        self.helpers: dict[str, Callable[..., NDArray[np.float64]]] = {}

    def connect(self, ask: Ask) -> None:
        """Make ``rhs`` and ``rhs_many`` out of questions to the oracle."""
        n = self._dimension

        def rhs_many(t: Any, points: Any) -> NDArray[np.float64]:
            rows = np.empty((len(points), n + 1))
            rows[:, 0] = t
            rows[:, 1:] = points
            answers: NDArray[np.float64] = ask(rows)
            return answers

        def rhs(t: Any, y: Any) -> NDArray[np.float64]:
            row = np.empty((1, n + 1))
            row[0, 0] = t
            row[0, 1:] = y
            slope: NDArray[np.float64] = ask(row)[0]
            return slope

        self.helpers = {"rhs": rhs, "rhs_many": rhs_many}

    def __call__(self, state: State) -> float:
        """Return how far t is from the end; `INVALID_SCORE` without a t."""
        t = state.metadata.get("t")
        left = self._end - float(t) if isinstance(t, float | int) else INVALID_SCORE
        return left if math.isfinite(left) else INVALID_SCORE

    def is_done(self, state: State) -> bool:
        """Return whether t is at the end, or an operator gave up."""
        return self(state) <= 0.0 or state.metadata.get("failed") is True


def make_decoder(environment: Mapping[str, Any]) -> Integration:
    """Return the decoder of one environment."""
    return Integration(environment)
