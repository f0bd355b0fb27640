"""Privileges a child gives up, through prctl(2) and capset(2). Linux only."""

from __future__ import annotations

import ctypes
import signal

from dga2d.runtime.evaluation.sandbox.libc import call

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_CAPBSET_DROP = 24
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_CAPABILITY_VERSION_3 = 0x20080522
_LAST_CAPABILITY = 63
_EINVAL = 22


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent thread ends."""
    call("prctl", _PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent dies."""
    call("prctl", _PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def forbid_new_privileges() -> None:
    """Keep any later exec from gaining privileges, as Landlock and seccomp demand without root."""
    call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def forbid_inspection() -> None:
    """Forbid core dumps, ptrace and ``/proc/<pid>/mem`` to other processes of the same user."""
    call("prctl", _PR_SET_DUMPABLE, 0, 0, 0, 0)


def drop_capabilities() -> None:
    """Give up every capability, for good."""
    for capability in range(_LAST_CAPABILITY + 1):
        try:
            call("prctl", _PR_CAPBSET_DROP, capability, 0, 0, 0)
        except OSError as error:
            if error.errno == _EINVAL:  # past the last one this kernel knows
                break
            if error.errno == 1:  # without CAP_SETPCAP the bounding set is out of reach, and harmless
                break
            raise
    call("prctl", _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    call("capset", ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)()))
