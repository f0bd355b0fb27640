"""A worker's memory, kept small and in few pieces: what a fork costs follows it.

Each evaluation copies the page tables of its worker and takes the copies down again. So a worker loads no
packages that only stand by, and lays what it holds together in huge pages where the kernel does that.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import importlib.util
import re
import sys
from contextlib import suppress
from pathlib import Path
from types import ModuleType

from dga2d.runtime.evaluation.sandbox.libc import call

_HUGE_PAGE = 1 << 21
_MADV_COLLAPSE = 25
_PRIVATE_MEMORY = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) rw-p 0+ 00:00 0 *(?:\[heap\])?$", re.M)


def import_numba() -> None:
    """Import numba without what it would load only because it is installed.

    That is coverage, a reader of YAML, and of scipy's linear algebra all but the routines that compiled code
    calls.
    """
    unwanted = [name for name in ("coverage", "yaml") if name not in sys.modules]
    sys.modules.update(dict.fromkeys(unwanted))  # type: ignore[arg-type]
    scipy = None
    with suppress(ImportError):
        scipy = importlib.import_module("scipy")
    if scipy is not None and "scipy.linalg" not in sys.modules:
        stand_in = ModuleType("scipy.linalg")
        stand_in.__path__ = [f"{folder}/linalg" for folder in scipy.__path__]
        sys.modules["scipy.linalg"] = stand_in
        with suppress(ImportError):
            importlib.import_module("scipy.linalg.cython_blas")
            importlib.import_module("scipy.linalg.cython_lapack")
        del sys.modules["scipy.linalg"]  # who asks for it later gets the real one
    importlib.import_module("numba")
    for name in unwanted:
        del sys.modules[name]


def settle() -> None:
    """Exempt what is loaded from garbage collection and move it into huge pages; call once, at the end."""
    gc.collect()
    gc.freeze()
    if sys.platform == "linux":
        with suppress(OSError):  # /proc is not there
            for start, end in _PRIVATE_MEMORY.findall(Path("/proc/self/maps").read_text(encoding="ascii")):
                _collapse(int(start, 16), int(end, 16))


def _collapse(start: int, end: int) -> None:
    """Put the whole huge pages between two addresses into such pages, as far as the kernel (≥ 6.1) can."""
    for address in range(-(-start // _HUGE_PAGE) * _HUGE_PAGE, end - _HUGE_PAGE + 1, _HUGE_PAGE):
        with suppress(OSError):  # not supported, or none free: it stays as it is
            call("madvise", ctypes.c_void_p(address), ctypes.c_size_t(_HUGE_PAGE), _MADV_COLLAPSE)
