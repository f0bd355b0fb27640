"""Which process this is, and whether another one on this host still lives."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from pathlib import Path

import psutil

_PID_NAMESPACE = Path("/proc/self/ns/pid")
_START_TOLERANCE_MS = 5000
"""Starts are told relative to the boot, whose time on the clock moves when the clock is set."""


@dataclass(frozen=True)
class ProcessIdentity:
    """A process, told apart from any later one with the same number by its start."""

    host: str
    """Host name and, on Linux, the pid namespace: containers may share a name but not their numbers."""
    pid: int
    started: int
    """Milliseconds since 1970-01-01 UTC."""

    def is_gone(self) -> bool:
        """True when the process certainly does not run any more; only this host's processes can be told."""
        if self.host != host_name():
            return False
        try:
            process = psutil.Process(self.pid)
            is_another = abs(_started(process) - self.started) > _START_TOLERANCE_MS
            return is_another or process.status() == psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return True


def host_name() -> str:
    """Name under which process numbers are unique."""
    try:
        return f"{platform.node()}/{_PID_NAMESPACE.stat().st_ino}"
    except FileNotFoundError:
        return platform.node()


def this_process() -> ProcessIdentity:
    """The process that asks."""
    return ProcessIdentity(host_name(), os.getpid(), _started(psutil.Process()))


def _started(process: psutil.Process) -> int:
    return round(process.create_time() * 1000)
