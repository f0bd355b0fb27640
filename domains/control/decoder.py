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
        self._weight = float(environment["input_weight"])
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
        """Apply ``u``, one input or several, and measure.

        Raises
        ------
        ValueError
            There is no input among the state's metadata.
        """
        data = state.metadata
        try:
            inputs = np.array(data["u"], dtype=np.float64).reshape(-1)[: self._steps - self._t]
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"metadata['u'] is {data.get('u')!r:.60}, no input") from None
        if not inputs.size:
            raise ValueError("metadata['u'] holds no input")
        states = np.vstack([np.reshape(data["x"], (1, -1)), self._ask(inputs[:, None])])
        applied = np.clip(inputs, -self._bound, self._bound)
        self._count(states[:-1], applied)
        self._t += inputs.size
        data["x_last"], data["x"] = states[-2].copy(), states[-1].copy()
        data["u_last"], data["u"], data["t"] = float(applied[-1]), 0.0, self._t

    def _count(self, states: NDArray[np.float64], inputs: NDArray[np.float64]) -> None:
        errors = states - self._target
        errors[:, self._angles] = (errors[:, self._angles] + np.pi) % (2.0 * np.pi) - np.pi
        self._cost += float((errors * errors).sum() + self._weight * (inputs * inputs).sum())

    def __call__(self, state: State) -> float:
        """Return what the episode cost so far, free of charge; a hint for the trace."""
        return self._cost if self._cost < INVALID_SCORE else INVALID_SCORE

    def is_done(self, state: State) -> bool:
        """Return whether the episode is over."""
        return self._t >= self._steps


def make_decoder(environment: Mapping[str, Any]) -> Decoder:
    """Return the decoder of an environment."""
    return EpisodeDecoder(environment)
