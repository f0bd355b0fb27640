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
_EXECUTE = 1 << 0
_REFER, _TRUNCATE, _IOCTL_DEVICE = 1 << 13, 1 << 14, 1 << 15
_ABI_1_RIGHTS = (1 << 13) - 1
_WRITE_FILE, _REMOVE_FILE, _MAKE_REGULAR = 1 << 1, 1 << 5, 1 << 8
_BIND_AND_CONNECT_TCP = 0b11
_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def abi() -> int:
    """Version of the kernel's Landlock interface.

    Raises
    ------
    OSError
        The kernel has none, or it is switched off.
    """
    return call(
        "syscall", _CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_CREATE_RULESET_VERSION)
    )


def restrict(version: int, readable: Sequence[int], writable: Sequence[int]) -> None:
    """Confine this process to reading below `readable` and to files below the folders `writable`.

    Both are descriptors opened with ``O_PATH``. From ABI 4 on, TCP is closed; from
    ABI 6 on, abstract Unix sockets and signals to processes outside are too. Needs no-new-privileges.
    """
    handled = _handled(version)
    attributes = struct.pack(
        "=QQQ",
        handled,
        _BIND_AND_CONNECT_TCP if version >= 4 else 0,
        _ABSTRACT_SOCKETS_AND_SIGNALS if version >= 6 else 0,
    )
    size = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = call("syscall", _CREATE_RULESET, attributes, ctypes.c_size_t(size), ctypes.c_uint32(0))
    try:
        for descriptor in readable:
            is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
            _allow(ruleset, descriptor, _READ_FILE | _EXECUTE | (_READ_DIR if is_folder else 0))
        for descriptor in writable:
            writing = _READ_FILE | _READ_DIR | _WRITE_FILE | _REMOVE_FILE | _MAKE_REGULAR
            _allow(ruleset, descriptor, (writing | _TRUNCATE) & handled)
        call("syscall", _RESTRICT_SELF, ruleset, ctypes.c_uint32(0))
    finally:
        os.close(ruleset)


def _handled(version: int) -> int:
    rights = _ABI_1_RIGHTS
    if version >= 2:
        rights |= _REFER
    if version >= 3:
        rights |= _TRUNCATE
    if version >= 5:
        rights |= _IOCTL_DEVICE
    return rights


def _allow(ruleset: int, descriptor: int, rights: int) -> None:
    rule = _PathBeneath(rights, descriptor)
    call("syscall", _ADD_RULE, ruleset, _RULE_PATH_BENEATH, ctypes.byref(rule), ctypes.c_uint32(0))
