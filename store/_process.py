"""Processes, told apart also after their numbers were given to others."""

from __future__ import annotations

import os
import platform
import signal
from dataclasses import dataclass
from pathlib import Path

import psutil

_PID_NAMESPACE = Path("/proc/self/ns/pid")
_START_TOLERANCE_MS = 5000
"""Starts are measured from the boot, and the time of the boot moves when the clock is set."""


@dataclass(frozen=True)
class ProcessIdentity:
    """A process; its start tells it from any later one with the same number."""

    host: str
    """Host name and, on Linux, the pid namespace: containers may share a name but not their numbers."""
    pid: int
    started: int
    """Milliseconds since 1970-01-01 UTC."""

    @property
    def is_here(self) -> bool:
        """Whether it is a process of this host, whose numbers mean something here."""
        return self.host == host_name()

    def is_gone(self) -> bool:
        """Return true when the process certainly does not run any more; only processes of this host can be
        told."""
        return self.is_here and self._process() is None

    def interrupt(self) -> bool:
        """Send SIGINT to the process, as Ctrl-C does; return whether there was one of this host to get it."""
        process = self._process() if self.is_here else None
        if process is None:
            return False
        try:
            process.send_signal(signal.SIGINT)
        except psutil.NoSuchProcess:
            return False
        return True

    def _process(self) -> psutil.Process | None:
        try:
            process = psutil.Process(self.pid)
            is_another = abs(_start_time(process) - self.started) > _START_TOLERANCE_MS
            return None if is_another or process.status() == psutil.STATUS_ZOMBIE else process
        except psutil.NoSuchProcess:
            return None


def host_name() -> str:
    """Return the name under which process numbers are unique."""
    try:
        return f"{platform.node()}/{_PID_NAMESPACE.stat().st_ino}"
    except FileNotFoundError:
        return platform.node()


def this_process() -> ProcessIdentity:
    """Return the process that asks."""
    return ProcessIdentity(host_name(), os.getpid(), _start_time(psutil.Process()))


def _start_time(process: psutil.Process) -> int:
    return round(process.create_time() * 1000)
