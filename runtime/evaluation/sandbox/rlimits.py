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


def _own_bytes() -> int:
    """Return the bytes of address space this process already uses; 0 if the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return 0
    return pages * resource.getpagesize()


def _own_tasks() -> int:
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


Limits = tuple[tuple[int, tuple[int, int]], ...]
"""Resources and their soft and hard limits."""


def limits_of_child(limits: EvaluationLimits) -> Limits:
    """Return the limits of a child of this process, all but processor time (:func:`limit_cpu`).

    What this process uses now, before any candidate has come, is added where it counts.
    """
    own_tasks = _own_tasks() + 1 if limits.processes else 0
    wanted = {
        "RLIMIT_CORE": 0,
        "RLIMIT_FSIZE": 0,  # there is no file a child should write
        "RLIMIT_NOFILE": limits.open_files,
        "RLIMIT_NPROC": own_tasks + limits.processes,
        "RLIMIT_MEMLOCK": 0,
        "RLIMIT_MSGQUEUE": 0,
        "RLIMIT_SIGPENDING": 16,
        "RLIMIT_STACK": _STACK_BYTES,
    }
    if sys.platform == "linux":  # elsewhere what is in use is unknown, and macOS ignores these two
        wanted |= dict.fromkeys(("RLIMIT_AS", "RLIMIT_DATA"), _own_bytes() + limits.memory_bytes)
    kinds = {getattr(resource, name): value for name, value in wanted.items() if hasattr(resource, name)}
    hard = {kind: resource.getrlimit(kind)[1] for kind in kinds}
    return tuple((kind, (_within(value, hard[kind]),) * 2) for kind, value in kinds.items())


def apply(limits: Limits) -> None:
    """Set the limits of the calling process."""
    for kind, values in limits:
        resource.setrlimit(kind, values)


def limit_cpu(cpu_s: float, pid: int = 0) -> None:
    """Limit the processor time of this process, or on Linux of another, in seconds rounded up.

    Then comes SIGXCPU, and a second later SIGKILL.
    """
    seconds = math.ceil(cpu_s)
    if sys.platform == "linux":
        _, hard = resource.prlimit(pid, resource.RLIMIT_CPU)
        resource.prlimit(pid, resource.RLIMIT_CPU, (_within(seconds, hard), _within(seconds + 1, hard)))
    else:
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (_within(seconds, hard), _within(seconds + 1, hard)))


def _within(value: int, hard: int) -> int:
    return value if hard == resource.RLIM_INFINITY else min(value, hard)
