"""Starts zygotes. Loads the standard library only, so that a command can start one before all else."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import dga2d
from dga2d.runtime.evaluation.limits import SandboxMode

Zygote = subprocess.Popen[bytes]
_LOCATORS = (
    "dga2d.runtime.evaluation.numba_cache.ImplementationCacheLocator,InTreeCacheLocator,UserWideCacheLocator"
)
"""Value of ``NUMBA_CACHE_LOCATOR_CLASSES``; to import the class here would load numba."""
_THREADS = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA", "VECLIB_MAXIMUM", "BLIS")


def zygote_command(mode: SandboxMode) -> list[str]:
    """Return the command of a zygote: safe path and no user site, so that nothing shadows our modules."""
    return [sys.executable, "-P", "-s", "-m", "dga2d.runtime.evaluation.zygote", mode]


def zygote_environment(cache: Path) -> dict[str, str]:
    """Return a clean environment: what the interpreter needs and nothing of the caller's, such as keys."""
    return {
        "PYTHONPATH": str(Path(dga2d.__file__).parent.parent),
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "LANG": "C.UTF-8",
        "PATH": os.defpath,
        "HOME": str(cache),
        "XDG_CACHE_HOME": str(cache),
        "NUMBA_CACHE_LOCATOR_CLASSES": _LOCATORS,
        **{f"{library}_NUM_THREADS": "1" for library in _THREADS},
    }


def launch(mode: SandboxMode, cache: Path) -> Zygote:
    """Start a zygote, which loads what it can until it is told its settings.

    Raises
    ------
    OSError
        It cannot be started; `cache` is no folder, say.
    """
    process = subprocess.Popen(
        zygote_command(mode),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        env=zygote_environment(cache),
        cwd=cache,
        start_new_session=True,
    )
    for pipe in (process.stdin, process.stdout, process.stderr):
        assert pipe is not None
        os.set_blocking(pipe.fileno(), False)
    return process


def dismiss(process: Zygote) -> None:
    """End a zygote that has no settings yet, or has ended already."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        with suppress(OSError):
            if pipe is not None:
                pipe.close()
