"""What the evaluation workers say of themselves while a run is watched."""

from __future__ import annotations

from typing import Protocol


class Workload(Protocol):
    """How busy the evaluation workers are."""

    @property
    def workers(self) -> int:
        """Number of evaluation workers."""

    @property
    def busy(self) -> int:
        """How many of them evaluate at this moment."""

    @property
    def compiling(self) -> int:
        """How many implementations are compiled for the first time at this moment."""
