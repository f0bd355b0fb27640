"""What a candidate's process has of a root-finding problem: ways to ask, and when an iteration has ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import Decoder, State
from dga2d.domains.core.oracle import Ask

INVALID_SCORE = 1e100


class RootFindingDecoder:
    """Scores a state by the residual that it holds itself, free of charge; a hint for the trace."""

    repeats = True

    def __init__(self, environment: Mapping[str, Any]) -> None:
        self._n = int(environment["dimension"])
        self._tolerance = float(environment["tolerance"])
        self.helpers: dict[str, Callable[..., Any]] = {}

    def connect(self, ask: Ask) -> None:
        """Let operators ask by the functions on the card."""
        n = self._n

        def f(x: Any) -> NDArray[np.float64]:
            value: NDArray[np.float64] = f_many(np.reshape(x, (1, n)))[0]
            return value

        def f_many(points: Any) -> NDArray[np.float64]:
            rows = np.reshape(np.asarray(points, dtype=np.float64), (-1, n))
            return ask(np.hstack([np.zeros((len(rows), 1)), rows]))

        def f_derivatives(x: Any, order: int) -> NDArray[np.float64]:
            rows = np.empty((int(order) + 1, 2))
            rows[:, 0] = np.arange(int(order) + 1)
            rows[:, 1] = np.reshape(x, 1)
            return ask(rows)[:, 0]

        def f_jacobian(x: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            rows = np.empty((n + 1, n + 1))
            rows[:, 0] = np.arange(n + 1)
            rows[:, 1:] = np.reshape(x, (1, n))
            answers = ask(rows)
            return answers[0], np.ascontiguousarray(answers[1:].T)

        self.helpers.update(f=f, f_many=f_many, f_derivatives=f_derivatives, f_jacobian=f_jacobian)

    def __call__(self, state: State) -> float:
        fx = state.metadata.get("fx")
        if type(fx) is not np.ndarray or fx.shape != (self._n,) or fx.dtype.kind != "f":
            return INVALID_SCORE
        residual = float(np.abs(fx).max())
        return residual if residual < INVALID_SCORE else INVALID_SCORE

    def is_done(self, state: State) -> bool:
        """Return whether the residual of `state` is small enough, or it says itself that it is done."""
        return self(state) <= self._tolerance or bool(state.metadata.get("done") is True)


def make_decoder(environment: Mapping[str, Any]) -> Decoder:
    """Return the decoder of an environment."""
    return RootFindingDecoder(environment)
