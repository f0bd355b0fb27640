"""How busy evaluators and models were, from the times in a log."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dga2d.replay.state.run_state import RunState
from dga2d.runtime.report.notes import Notes

Span = tuple[float, float]
"""Beginning and end, seconds from any origin."""


class Utilisation(NamedTuple):
    """Average number of tasks under way at once, without pauses and work that nobody waited for."""

    busy_s: float
    """Seconds in which an evaluation or a model call was under way."""
    evaluations: float
    """Evaluations at a time."""
    calls: float
    """Model calls at a time."""
    model_alone_s: float
    """Seconds in which a call was under way and no evaluation."""

    @property
    def sentence(self) -> str:
        """What a person should know."""
        share = 100 * self.model_alone_s / self.busy_s
        return (
            f"{self.evaluations:.1f} evaluations and {self.calls:.1f} model calls under way at a time; "
            f"no evaluation while the model was waited for: {share:.0f} % of {self.busy_s / 60:.1f} minutes"
        )


def utilisation(evaluations: Iterable[Span], calls: Iterable[Span]) -> Utilisation | None:
    """Return what was under way on average; ``None`` where nothing took any time."""
    evaluated, called = _spans(evaluations), _spans(calls)
    times = np.concatenate([evaluated.ravel(), called.ravel()])
    begin_and_end = np.array([1, -1])
    evaluations_more = np.concatenate([np.tile(begin_and_end, len(evaluated)), np.zeros(called.size, int)])
    calls_more = np.concatenate([np.zeros(evaluated.size, int), np.tile(begin_and_end, len(called))])
    order = np.argsort(times, kind="stable")
    lengths = np.diff(times[order])
    running = np.cumsum(evaluations_more[order])[:-1]
    flying = np.cumsum(calls_more[order])[:-1]
    busy = float(lengths[(running > 0) | (flying > 0)].sum())
    if busy <= 0.0:
        return None
    alone = float(lengths[(flying > 0) & (running == 0)].sum())
    return Utilisation(busy, float(running @ lengths) / busy, float(flying @ lengths) / busy, alone)


def _spans(spans: Iterable[Span]) -> npt.NDArray[np.float64]:
    """Return spans as an array ``(n, 2)``."""
    return np.array(list(spans), dtype=np.float64).reshape(-1, 2)


def utilisation_of(state: RunState, notes: Notes) -> Utilisation | None:
    """Return how busy evaluators and models were in a run; an event stands where what it records ended."""
    times, first = notes.times, notes.times[0] if notes.times else 0

    def span(seq: int, elapsed_s: float) -> Span:
        end = (times[seq - 1] - first) / 1e6
        return end - elapsed_s, end

    ended = [call for call in state.ledger.calls.values() if call.ended_seq and call.elapsed_s is not None]
    return utilisation(
        (span(seq, evaluation.elapsed_s) for seq, evaluation in notes.evaluations),
        (span(call.ended_seq or 1, call.elapsed_s or 0.0) for call in ended),
    )
