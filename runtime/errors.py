"""Errors a user can cause, and exit codes.

Dga2dError
└── UsageError            wrong arguments, settings or files, a missing optional package; exit code 2
    ├── SettingsError     an unknown or invalid setting
    ├── RunStateError     the run cannot do what was asked (not finished, tested already, …)
    ├── CodeChangedError  the run was written by another version of the program
    └── OutputFileError   a file cannot be written
"""

from __future__ import annotations

import importlib.util
from enum import IntEnum
from pathlib import Path

from dga2d.events import Dga2dError


class ExitCode(IntEnum):
    """What the process returns to the shell."""

    OK = 0
    DIFFERENCE = 1
    """A check found a difference."""
    USAGE = 2
    """Wrong arguments or input."""
    STOPPED = 3
    """The run stopped on its own limit or was interrupted."""


class UsageError(Dga2dError, ValueError):
    """What the user asked for cannot be done; the message says why and what to do."""


class SettingsError(UsageError):
    """A setting is unknown or has an invalid value."""


class RunStateError(UsageError):
    """The run is not in a state that allows what was asked."""


class CodeChangedError(UsageError):
    """A run would be continued by another version of the program."""

    def __init__(self, run_id: str, recorded: str, present: str) -> None:
        super().__init__(
            f"run {run_id} was written by dga2d {recorded}, this is {present}; its decisions may differ. "
            "Use the recorded version, or resume with --accept-code-change (the log will say so)"
        )


class OutputFileError(UsageError):
    """A result cannot be written where the user wants it."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"cannot write {path}: {reason}; name another file")


def require_package(package: str, extra: str, purpose: str) -> None:
    """Raise UsageError where an optional dependency is not installed."""
    if importlib.util.find_spec(package) is None:
        raise UsageError(f"{purpose} needs {package}: pip install 'dga2d[{extra}]'")
