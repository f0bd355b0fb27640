"""The program's own processes: how it starts commands of itself, and what it and they use."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Sequence

import psutil

from dga2d.events.payloads import ProcessUse

_UNIT_BYTES = 1 if sys.platform == "darwin" else 1024
"""Unit of ``ru_maxrss`` (getrusage(2))."""


def own_command(arguments: Sequence[str]) -> list[str]:
    """Return the command line of ``dga2d`` with `arguments`.

    `arguments` name no database: every user of a machine can read them, and its URL may hold a password.
    """
    return [sys.executable, "-P", "-m", "dga2d", *arguments]


def own_environment(url: str) -> dict[str, str]:
    """Return the environment of such a command, which names the database at `url`; only the user can read
    it."""
    return {**os.environ, "DGA2D_STORE": url}


class ProcessMeter:
    """Measures from its creation on; a process that has ended counts once a running one has waited for it."""

    def __init__(self) -> None:
        self._before_s = _cpu_seconds()

    def __call__(self) -> ProcessUse:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return ProcessUse(cpu_s=max(_cpu_seconds() - self._before_s, 0.0), peak_bytes=peak * _UNIT_BYTES)


def _cpu_seconds() -> float:
    own = psutil.Process()
    total = 0.0
    for process in (own, *own.children(recursive=True)):
        try:
            times = process.cpu_times()
        except psutil.Error:  # it ended meanwhile, and counts with the one that waits for it
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total
