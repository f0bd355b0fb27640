"""Landlock: what of the file system, of TCP and of other processes a child can reach (Linux ≥ 5.13).

Reference: Linux kernel documentation, "Landlock: unprivileged access control" (ABI 1–7).
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Sequence

from dga2d.runtime.evaluation.sandbox.libc import call

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_CREATE_RULESET_VERSION = 1
_RULE_PATH_BENEATH = 1
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_REFER, _TRUNCATE, _IOCTL_DEVICE = 1 << 13, 1 << 14, 1 << 15
_ABI_1_RIGHTS = (1 << 13) - 1
_BIND_AND_CONNECT_TCP = 0b11
_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def abi() -> int:
    """Return the version of the kernel's Landlock interface.

    Raises
    ------
    OSError
        The kernel has none, or it is switched off.
    """
    return call(
        "syscall", _CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_CREATE_RULESET_VERSION)
    )


def ruleset(readable: Sequence[str]) -> int:
    """Return a descriptor of rules that allow reading the files and folders `readable` and nothing else.

    From ABI 4 on, it closes TCP; from ABI 6 on, abstract Unix sockets and signals to processes outside too.

    Raises
    ------
    OSError
        The kernel has no Landlock, or it is switched off.
    """
    version = abi()
    attributes = struct.pack(
        "=QQQ",
        _handled_rights(version),
        _BIND_AND_CONNECT_TCP if version >= 4 else 0,
        _ABSTRACT_SOCKETS_AND_SIGNALS if version >= 6 else 0,
    )
    size = 8 if version < 4 else 16 if version < 6 else 24
    created = call("syscall", _CREATE_RULESET, attributes, ctypes.c_size_t(size), ctypes.c_uint32(0))
    for path in readable:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            _allow_reading(created, descriptor)
        finally:
            os.close(descriptor)
    return created


def restrict(ruleset: int) -> None:
    """Bind the calling process to a :func:`ruleset`, for good. Needs no-new-privileges."""
    call("syscall", _RESTRICT_SELF, ruleset, ctypes.c_uint32(0))


def _handled_rights(version: int) -> int:
    rights = _ABI_1_RIGHTS
    if version >= 2:
        rights |= _REFER
    if version >= 3:
        rights |= _TRUNCATE
    if version >= 5:
        rights |= _IOCTL_DEVICE
    return rights


def _allow_reading(ruleset: int, descriptor: int) -> None:
    is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
    rule = _PathBeneath(_READ_FILE | (_READ_DIR if is_folder else 0), descriptor)
    call("syscall", _ADD_RULE, ruleset, _RULE_PATH_BENEATH, ctypes.byref(rule), ctypes.c_uint32(0))
