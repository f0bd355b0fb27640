"""What a candidate's process has of an episode: it applies inputs, and knows when the episode is over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.contract import Decoder, State
from dga2d.domains.core.oracle import Ask

INVALID_SCORE = 1e100


class EpisodeDecoder:
    """The walk is a control law; after each pass the input that it left is applied."""

    repeats = True

    def __init__(self, environment: Mapping[str, Any]) -> None:
        self._steps = int(environment["steps"])
        self._bound = float(environment["bound"])
        self._target = np.array(environment["target"])
        self._angles = [int(index) for index in environment["angles"]]
        self._t = 0
        self._cost = 0.0
        self.helpers: dict[str, Callable[..., Any]] = {}

    def connect(self, ask: Ask) -> None:
        """Start an episode whose inputs go to `ask`."""
        self._ask = ask
        self._t, self._cost = 0, 0.0

    def after_pass(self, state: State) -> None:
        """Apply ``u``, one input or several, or a law that ``gain`` and ``hold`` say, and measure.

        Raises
        ------
        ValueError
            There is no input among the state's metadata, or what is beside it does not fit.
        """
        data, left = state.metadata, self._steps - self._t
        try:
            inputs = np.array(data["u"], dtype=np.float64).reshape(-1)[:left]
            gain = np.array(data.pop("gain", ()), dtype=np.float64).reshape(-1)
            hold = min(int(data.pop("hold", 1)), left)
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"metadata['u'] is {data.get('u')!r:.60}, no input") from None
        if not inputs.size:
            raise ValueError("metadata['u'] holds no input")
        if gain.size and (inputs.size != 1 or gain.size != self._target.size or hold < 1):
            raise ValueError(f"metadata['gain'] must be {self._target.size} numbers beside one input")
        rows = np.array([[inputs[0], hold, *gain]]) if gain.size else inputs[:, None]
        answers = self._ask(rows)
        applied = inputs[-1] - float(gain @ self._error(data["x"])) if gain.size else inputs[-1]
        data["x_last"] = np.array(data["x"] if len(rows) == 1 else answers[-2, :-1])
        data["x"], self._cost = answers[-1, :-1].copy(), float(answers[-1, -1])
        self._t += hold if gain.size else inputs.size
        data["u_last"] = float(min(max(applied, -self._bound), self._bound))
        data["u"], data["t"] = 0.0, self._t

    def _error(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        error: NDArray[np.float64] = x - self._target
        error[self._angles] = (error[self._angles] + np.pi) % (2.0 * np.pi) - np.pi
        return error

    def __call__(self, state: State) -> float:
        """Return what the episode cost so far, a hint for the trace; `INVALID_SCORE` for a state of no
        episode."""
        if "x" not in state.metadata:
            return INVALID_SCORE
        return self._cost if self._cost < INVALID_SCORE else INVALID_SCORE

    def is_done(self, state: State) -> bool:
        """Return whether the episode is over."""
        return self._t >= self._steps


def make_decoder(environment: Mapping[str, Any]) -> Decoder:
    """Return the decoder of an environment."""
    return EpisodeDecoder(environment)
