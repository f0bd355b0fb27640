"""What a process and those that it started use: processor time and memory."""

from __future__ import annotations

import resource
import sys

import psutil

from dga2d.events.payloads import ProcessUse

_UNIT_BYTES = 1 if sys.platform == "darwin" else 1024
"""Unit of ``ru_maxrss`` (getrusage(2))."""


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
