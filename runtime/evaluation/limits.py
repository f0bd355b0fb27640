"""Limits of one evaluation."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

SandboxMode = Literal["strict", "best-effort", "off"]
"""``strict`` refuses to start when a layer is missing, ``best-effort`` uses what there is, ``off`` keeps only
the resource limits and the deadline."""

MIB = 1 << 20


@dataclass(frozen=True)
class EvaluationLimits:
    """Limits of one evaluation; a breach ends it with a failure kind of its own.

    All values are positive, except `processes` (≥ 0).
    """

    wall_grace_s: float = 1.0
    """Seconds past a wall-clock budget before the child is killed."""
    work_wall_s: float = 300.0
    """Seconds an evaluation under a work budget may take."""
    cpu_s: float | None = None
    """Seconds of processor time an evaluation may take; ``None`` for as many as it has wall-clock seconds."""
    load_s: float = 20.0
    """Seconds for importing the implementations, before the budget starts."""
    prepare_s: float = 120.0
    """Seconds for the first compilation of an implementation."""
    prepare_run_s: float = 20.0
    """Seconds of that which may be spent outside the compiler: the trial run on the smoke instance."""
    rehearsal_s: float = 1.0
    """Seconds of the run after it on an instance of ordinary size, compilation excluded."""
    prepare_work: int = 20_000
    """Work units of the trial run."""
    prepare_questions: int = 1_000
    """The same where work is questions to an oracle, which wait for another process."""
    memory_bytes: int = 2048 * MIB
    """Address space a candidate may add to that of its zygote."""
    open_files: int = 32
    file_bytes: int = 64 * MIB
    """Most compiled code of one implementation. Candidates write no files at all."""
    answer_bytes: int = 8 * MIB
    """Largest answer."""
    processes: int = 0
    """Processes and threads a candidate may start. With 0 the kernel refuses every fork; above, it counts
    them for ordinary users only: root's are not counted."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "processes":
                if value < 0:
                    raise ValueError(f"expected processes >= 0, got {value}")
            elif value is not None and not value > 0:
                raise ValueError(f"expected {field.name} > 0, got {value}")
