"""A problem's score as the decoder that operators ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from dga2d.domains.core.contract import State
from dga2d.domains.own.encodings import Encoding
from dga2d.domains.own.problem import Problem
from dga2d.domains.own.readers import reader_of
from dga2d.domains.own.scoring import INVALID_SCORE, PENALTY, ProblemFaultError, Scorer, fields_of


class OwnDecoder:
    """Decoder of one environment; its hooks and helpers are further functions that operators find in
    ``env_data``; a call of a hook costs a unit of work.
    """

    def __init__(self, problem: Problem, environment: Mapping[str, Any]) -> None:
        fields = {key: np.copy(v) if isinstance(v, np.ndarray) else v for key, v in environment.items()}
        self._scorer = Scorer(problem, fields_of(fields))
        self._encoding: Encoding = self._scorer.encoding
        self._read = reader_of(self._encoding)
        self.hooks: dict[str, Callable[..., Any]] = {"score_of_move": self.score_of_move}
        self.helpers = self._encoding.helpers()

    def __call__(self, state: State) -> float:
        solution = self._read(state)
        return INVALID_SCORE if solution is None else self._scorer.minimised(solution)

    def warm_up(self) -> None:
        """Score a random solution, so that all that the score compiles is compiled."""
        solution = self._encoding.random(np.random.default_rng(0))
        self(self._encoding.state(solution))
        with suppress(ProblemFaultError):  # a score need not stand a solution that breaks constraints
            self._scorer.objective(solution)

    def score_of_move(self, state: State, score: float, *move: Any) -> float:
        """Return the score `state` would have after an elementary move; its own is `score`."""
        solution = self._encoding.solution(state)
        scorer = self._scorer
        if not scorer.has_delta or abs(score) >= PENALTY:
            self._encoding.move_on(solution, *move)
            return scorer.minimised(solution)
        if scorer.has_check:  # before the delta, which need not know what breaks constraints
            moved = solution.copy()
            self._encoding.move_on(moved, *move)
            amount = scorer.amount(moved)
            if isinstance(amount, str) or amount > 0.0:
                return INVALID_SCORE if isinstance(amount, str) else PENALTY * (1.0 + amount)
        return score + scorer.delta(solution, *move)
