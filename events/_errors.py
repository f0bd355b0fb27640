"""Errors of the event vocabulary.

Dga2dError
└── EventError
    ├── CanonicalEncodingError   a value has no canonical form (NaN, infinity, integer over 64 bits, …)
    ├── DeclarationError         a payload class lacks part of its declaration; raised at import
    ├── UnknownEventTypeError    a type or version this program does not know
    ├── PayloadError             a payload does not fit its type
    ├── OwnershipError           an agent wrote a type it does not own
    └── ChainError               an event does not link to its predecessor
"""

from __future__ import annotations


class Dga2dError(Exception):
    """Root of the program's own errors; its message is one clear line for the user."""


class EventError(Dga2dError):
    """Root of the errors about events."""


class CanonicalEncodingError(EventError, ValueError):
    """A value cannot be written canonically. `path` names the place, e.g. ``payload.rewards[2]``."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        super().__init__(f"{path}: {reason}")


class DeclarationError(EventError, ImportError):
    """Event type `type_name` is declared incompletely or twice: a mistake in the program, found at import."""

    def __init__(self, type_name: str, reason: str) -> None:
        self.type_name = type_name
        super().__init__(f"event type {type_name} {reason}")


class UnknownEventTypeError(EventError, LookupError):
    """The log holds an event type or version that this program does not know."""

    def __init__(self, type_name: str, version: int) -> None:
        self.type_name = type_name
        self.version = version
        super().__init__(
            f"event type {type_name!r} version {version} is unknown to this program; "
            "the log was written by a newer one"
        )


class PayloadError(EventError, ValueError):
    """The bytes of a payload do not fit the model of their type."""

    def __init__(self, type_name: str, reason: str) -> None:
        self.type_name = type_name
        super().__init__(f"payload of {type_name}: {reason}")


class OwnershipError(EventError, PermissionError):
    """`agent` tried to write an event type that belongs to somebody else."""

    def __init__(self, agent: str, type_name: str, owners: tuple[str, ...]) -> None:
        self.agent = agent
        self.type_name = type_name
        super().__init__(f"{agent} may not write {type_name}; it belongs to {', '.join(owners)}")


class ChainError(EventError):
    """An event's hash, or its link to the event before, is wrong."""

    def __init__(self, run_id: str, seq: int, reason: str) -> None:
        self.run_id = run_id
        self.seq = seq
        self.reason = reason
        super().__init__(f"run {run_id}, event {seq}: {reason}")
