"""Resource limits of a child (setrlimit(2)); works on every Unix, to differing depth."""

from __future__ import annotations

import math
import os
import resource
import sys
from contextlib import suppress
from pathlib import Path

from dga2d.runtime.evaluation.limits import MIB, EvaluationLimits

_STACK_BYTES = 64 * MIB


def baseline_bytes() -> int:
    """Return the bytes of address space this process already uses; 0 if the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return 0
    return pages * resource.getpagesize()


def baseline_tasks() -> int:
    """Return the number of processes and threads that the kernel counts for this user beside a child's own.

    In a user namespace of its own (PID 1) these are the zygote and its launcher, else all of the user's.
    """
    if os.getpid() == 1:
        return 2
    tasks = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # processes come and go
            if folder.stat().st_uid == os.geteuid():
                tasks += sum(1 for _ in (folder / "task").iterdir())
    return tasks


def apply(limits: EvaluationLimits, baseline_bytes: int, baseline_tasks: int, cpu_s: float) -> None:
    """Set the limits of the calling process.

    The baselines are what was there before the candidate came. `cpu_s` are its seconds of processor time,
    rounded up: then comes SIGXCPU, and a second later SIGKILL.
    """
    seconds = math.ceil(cpu_s)
    _limit("RLIMIT_CPU", seconds, seconds + 1)
    _limit("RLIMIT_CORE", 0)
    _limit("RLIMIT_FSIZE", 0)  # there is no file a child should write
    _limit("RLIMIT_NOFILE", limits.open_files)
    own = baseline_tasks + 1 if limits.processes else 0
    _limit("RLIMIT_NPROC", own + limits.processes)
    _limit("RLIMIT_MEMLOCK", 0)
    _limit("RLIMIT_MSGQUEUE", 0)
    _limit("RLIMIT_SIGPENDING", 16)
    if sys.platform == "linux":  # elsewhere the baseline is unknown, and macOS ignores these two
        _limit("RLIMIT_AS", baseline_bytes + limits.memory_bytes)
        _limit("RLIMIT_DATA", baseline_bytes + limits.memory_bytes)
    _limit("RLIMIT_STACK", _STACK_BYTES)


def _limit(name: str, value: int, hard_value: int | None = None) -> None:
    kind = getattr(resource, name, None)
    if kind is None:
        return
    hard_value = value if hard_value is None else hard_value
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        value, hard_value = min(value, hard), min(hard_value, hard)
    resource.setrlimit(kind, (value, hard_value))
