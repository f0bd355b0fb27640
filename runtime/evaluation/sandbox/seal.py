"""Puts the layers together: how a freshly forked child is sealed before untrusted code runs in it."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dga2d.runtime.evaluation.limits import EvaluationLimits
from dga2d.runtime.evaluation.sandbox import landlock, privileges, rlimits, seccomp

LAYERS = (
    "namespaces",
    "parent_death",
    "no_new_privileges",
    "no_inspection",
    "landlock",
    "closed_descriptors",
    "resource_limits",
    "capabilities",
    "seccomp",
)
"""All layers, in the order in which they close."""
ALWAYS = ("resource_limits", "closed_descriptors", "parent_death")
"""Layers that ``off`` keeps: limits, and that nothing is left behind."""

ANSWER_FD = 3
_SHARED_LIBRARIES = (
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/etc/ld.so.cache",
    "/dev/null",
    "/dev/urandom",
)


@dataclass(frozen=True)
class Seal:
    """What a zygote holds ready for its children."""

    limits: EvaluationLimits
    layers: frozenset[str]
    """Layers to close; the namespaces are the zygote's own."""
    landlock_abi: int = 0
    filters: Mapping[str, bytes] = field(default_factory=dict)
    """Seccomp programs: ``evaluate`` and ``prepare``."""
    readable: tuple[int, ...] = ()
    """``O_PATH`` descriptors of the interpreter's own folders."""
    baseline_bytes: int = 0
    """Address space the zygote had before any candidate."""
    baseline_tasks: int = 0
    """Processes and threads the kernel counts for the zygote's user before any candidate."""

    def close(
        self,
        answer: int,
        cpu_s: float,
        readable: Iterable[Path] = (),
        writable: Iterable[Path] = (),
        purpose: str = "evaluate",
    ) -> None:
        """Seal the calling process. `answer` continues as descriptor 3, all others are closed; of the file
        tree only the interpreter, `readable` and `writable` stay.

        Raises
        ------
        OSError
            A layer that is to be closed cannot be.
        """
        null = os.open(os.devnull, os.O_RDWR)
        if "parent_death" in self.layers:
            privileges.die_with_parent()
        if "no_new_privileges" in self.layers:
            privileges.forbid_new_privileges()
        if "no_inspection" in self.layers:
            privileges.forbid_inspection()
        if "landlock" in self.layers:
            own = [open_path(path) for path in readable]
            landlock.restrict(
                self.landlock_abi, [*self.readable, *own], [open_path(path) for path in writable]
            )
        keep_only(answer, null)
        rlimits.apply(self.limits, self.baseline_bytes, self.baseline_tasks, cpu_s)
        if "capabilities" in self.layers:
            privileges.drop_capabilities()
        if "seccomp" in self.layers:
            seccomp.install(self.filters[purpose])


def open_path(path: Path | str) -> int:
    """Descriptor that names `path` without opening it."""
    return os.open(path, os.O_PATH | os.O_CLOEXEC)


def keep_only(answer: int, null: int) -> None:
    """Point 0–2 at `null`, `answer` at :data:`ANSWER_FD` and close every other descriptor."""
    answer = os.dup(answer) if answer < ANSWER_FD else answer
    for standard in range(ANSWER_FD):
        os.dup2(null, standard)
    if answer != ANSWER_FD:
        os.dup2(answer, ANSWER_FD)
    os.closerange(ANSWER_FD + 1, 65536)


def interpreter_paths() -> tuple[str, ...]:
    """What a running interpreter reads: its library, site-packages, shared libraries. Sorted, existing."""
    libraries = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    libraries.add(os.path.join(sys.base_prefix, "lib"))
    return tuple(sorted(path for path in {*libraries, *_SHARED_LIBRARIES} if path and os.path.exists(path)))
