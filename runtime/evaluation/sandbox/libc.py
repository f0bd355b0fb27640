"""Thin access to libc calls that Python does not offer."""

from __future__ import annotations

import ctypes
import os

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def call(name: str, *arguments: object) -> int:
    """Call the libc function `name`.

    Raises
    ------
    OSError
        The call failed, or this libc has no such function.
    """
    try:
        function = getattr(_libc, name)
    except AttributeError:
        raise OSError(f"this system has no {name}") from None
    result = int(function(*arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return result
