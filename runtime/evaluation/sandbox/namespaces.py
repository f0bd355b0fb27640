"""New user, network, mount, IPC, UTS and PID namespaces (unshare(2)). Linux only."""

from __future__ import annotations

import os
import signal
import sys

from dga2d.runtime.evaluation.sandbox import privileges
from dga2d.runtime.evaluation.sandbox.libc import call

_CLONE_NEWNS = 0x00020000
_CLONE_NEWUTS = 0x04000000
_CLONE_NEWIPC = 0x08000000
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWPID = 0x20000000
_CLONE_NEWNET = 0x40000000
_ALL = _CLONE_NEWUSER | _CLONE_NEWNS | _CLONE_NEWUTS | _CLONE_NEWIPC | _CLONE_NEWPID | _CLONE_NEWNET
_NOBODY = 65534


def enter() -> None:
    """Leave the host's namespaces; the next fork becomes PID 1 of the new PID namespace.

    Inside, the user is ``nobody``. The network has no interface that is up.

    Raises
    ------
    OSError
        The kernel or its policy refuses.
    """
    user, group = os.geteuid(), os.getegid()
    call("unshare", _ALL)
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{_NOBODY} {user} 1")
    _write("/proc/self/gid_map", f"{_NOBODY} {group} 1")


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def refusal() -> str | None:
    """Return why :func:`enter` would fail here, tried in a throw-away child; ``None`` if it works."""
    if sys.platform != "linux":
        return f"needs Linux, this is {sys.platform}"
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            enter()
        except OSError as error:
            os.write(writer, (error.strerror or str(error)).encode())
        os._exit(0)
    os.close(writer)
    try:
        reason = os.read(reader, 400).decode()
    finally:
        os.close(reader)
        os.waitpid(child, 0)
    return reason or None


def become_init() -> None:
    """Continue as PID 1 of fresh namespaces; the calling process only waits and passes on its exit code.

    The death of either process ends the other, and with PID 1 everything it started.
    """
    enter()
    child = os.fork()
    if child == 0:
        privileges.die_with_parent()
        return
    os.closerange(0, 3)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)


def kill_all_others() -> None:
    """Kill every other process of the namespace. Called by its PID 1."""
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        return
