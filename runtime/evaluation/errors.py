"""Errors of the evaluator pool itself. What a *candidate* does wrong is a result, never an exception.

EvaluationError
├── SandboxUnavailableError   ``strict`` was asked for and a layer is missing
├── WorkerStartError          a worker did not come up
├── CacheFolderError          machine code cannot be kept where it should be
├── PoolClosedError           the pool was left while a task waited
└── WireError                 bytes that are no valid message (a hostile answer, a dead worker)
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


class EvaluationError(Exception):
    """Root of the errors raised by :mod:`dga2d.runtime.evaluation`."""


class SandboxUnavailableError(EvaluationError):
    """Layers of the strict sandbox are missing; `missing` maps each to the reason."""

    def __init__(self, missing: Mapping[str, str]) -> None:
        self.missing = dict(missing)
        listed = "; ".join(f"{layer}: {reason}" for layer, reason in self.missing.items())
        super().__init__(f"the strict sandbox is not available here ({listed})")


class WorkerStartError(EvaluationError):
    """An evaluation worker ended, or stayed silent, before it was ready."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"an evaluation worker did not start: {reason}")


class CacheFolderError(EvaluationError):
    """The folder for machine code cannot be made or written to."""

    def __init__(self, folder: Path, reason: str) -> None:
        self.folder = folder
        self.reason = reason
        super().__init__(
            f"compiled code cannot be kept in {folder}: {reason}; name another folder with the environment "
            "variable DGA2D_CACHE"
        )


class PoolClosedError(EvaluationError):
    """The pool was left, or failed, while a task waited for it."""

    def __init__(self) -> None:
        super().__init__("the evaluator pool is closed")


class WireError(EvaluationError, ValueError):
    """A message between parent, zygote and child is malformed."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)
