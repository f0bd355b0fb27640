"""How busy evaluators and models were, from the times in a log."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, pairwise
from typing import NamedTuple

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
    changes = sorted(
        chain(
            (change for begin, end in evaluations for change in ((begin, 1, 0), (end, -1, 0))),
            (change for begin, end in calls for change in ((begin, 0, 1), (end, 0, -1))),
        )
    )
    busy = evaluated = called = alone = 0.0
    running = flying = 0
    for (at, more_running, more_flying), (until, _, _) in pairwise(changes):
        running, flying, length = running + more_running, flying + more_flying, until - at
        busy += length if running or flying else 0.0
        alone += length if flying and not running else 0.0
        evaluated += running * length
        called += flying * length
    return Utilisation(busy, evaluated / busy, called / busy, alone) if busy > 0.0 else None


def utilisation_of(state: RunState, notes: Notes) -> Utilisation | None:
    """Return how busy evaluators and models were in a run; an event stands where what it records ended."""

    def span(seq: int, elapsed_s: float) -> Span:
        end = (notes.times[seq - 1] - notes.times[0]) / 1e6
        return end - elapsed_s, end

    ended = [call for call in state.ledger.calls.values() if call.ended_seq and call.elapsed_s is not None]
    return utilisation(
        (span(seq, evaluation.elapsed_s) for seq, evaluation in notes.evaluations),
        (span(call.ended_seq or 1, call.elapsed_s or 0.0) for call in ended),
    )
