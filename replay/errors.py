"""Errors of replay.

Dga2dError
└── ReplayError
    ├── InvariantError          an event contradicts the state before it
    ├── DigestMismatchError     a recorded state digest differs from the folded one
    └── DecisionMismatchError   a decision made again differs from the recorded one
"""

from __future__ import annotations

from dga2d.events import Dga2dError


class ReplayError(Dga2dError):
    """Root of the errors found while folding a log."""


class InvariantError(ReplayError):
    """An event that cannot follow the state it was appended to."""

    def __init__(self, seq: int, event_type: str, reason: str) -> None:
        self.seq = seq
        self.event_type = event_type
        super().__init__(f"event {seq} ({event_type}): {reason}")


class DigestMismatchError(ReplayError):
    """The state folded from the log is not the state the run recorded."""

    def __init__(self, seq: int, event_type: str, generation: int, recorded: str, folded: str) -> None:
        self.seq = seq
        self.event_type = event_type
        self.generation = generation
        super().__init__(
            f"event {seq} ({event_type}): generation {generation} recorded state digest "
            f"{recorded[:16]}…, the log folds to {folded[:16]}…"
        )


class DecisionMismatchError(ReplayError):
    """A decision made again from its recorded inputs is not the one in the log.

    Attributes
    ----------
    field
        Path of the first difference within the event, e.g. ``payload.rewards[2]`` or ``caused_by``.
    expected, got
        What the decision gives, and what the log holds, as short JSON.
    """

    def __init__(self, seq: int, event_type: str, agent: str, field: str, expected: str, got: str) -> None:
        self.seq = seq
        self.event_type = event_type
        self.agent = agent
        self.field = field
        self.expected = expected
        self.got = got
        super().__init__(f"event {seq} ({event_type}) of {agent}: {field}: expected {expected}, got {got}")
