"""Finds out which layers hold here, by trying in a throw-away child what each must prevent."""

from __future__ import annotations

import errno
import mmap
import os
import select
import socket
import sys
import time
from collections.abc import Callable, Mapping

from dga2d.runtime.evaluation.sandbox import file_tree, landlock, privileges, rlimits
from dga2d.runtime.evaluation.sandbox.file_tree import UNREADABLE
from dga2d.runtime.evaluation.sandbox.libc import call
from dga2d.runtime.evaluation.sandbox.seal import ALWAYS, ANSWER_FD, LAYERS, ORDER_FD, Seal, keep_only

ACTIVE = "active"
_CLONE_NEWUTS = 0x04000000
_PR_GET_DUMPABLE, _PR_GET_NO_NEW_PRIVS = 3, 39
_SELF_TEST_S = 5.0


class _HoleError(Exception):
    """A layer let through what it must prevent."""


def self_test(seal: Seal, missing: Mapping[str, str]) -> dict[str, str]:
    """Return, for each layer of :data:`LAYERS`, ``active`` or the reason why it is not.

    `seal` has all that could be prepared; `missing` tells of layers that could not be.
    """
    probes: dict[str, Callable[[], None]] = {
        "resource_limits": lambda: _resource_limits(seal),
        "closed_descriptors": _closed_descriptors,
        "namespaces": _namespaces,
        "empty_root": _empty_root,
        "no_new_privileges": _no_new_privileges,
        "parent_death": _parent_death,
        "no_inspection": _no_inspection,
        "landlock": lambda: _landlock(seal),
        "capabilities": _capabilities,
        "seccomp": lambda: _seccomp(seal),
    }
    status = {}
    for layer in LAYERS:
        if layer in missing:
            status[layer] = missing[layer]
        elif sys.platform != "linux" and layer not in ALWAYS:
            status[layer] = f"needs Linux, this is {sys.platform}"
        else:
            status[layer] = _in_a_child(probes[layer])
    return status


def _in_a_child(probe: Callable[[], None]) -> str:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            if writer != ANSWER_FD:
                os.dup2(writer, ANSWER_FD)
            os.write(ANSWER_FD, _verdict(probe).encode()[:500])
        finally:
            os._exit(0)
    os.close(writer)
    try:
        if not select.select([reader], [], [], _SELF_TEST_S)[0]:
            os.kill(child, 9)
            return "the self-test hung"
        return os.read(reader, 500).decode() or "the self-test crashed"
    finally:
        os.close(reader)
        os.waitpid(child, 0)


def _verdict(probe: Callable[[], None]) -> str:
    try:
        probe()
    except (OSError, _HoleError) as error:
        return str(error) or type(error).__name__
    return ACTIVE


def _must_fail(what: str, action: Callable[[], object], *codes: int) -> None:
    """Raise unless `action` fails with one of the errno `codes`."""
    try:
        action()
    except OSError as error:
        if error.errno in codes:
            return
        raise _HoleError(f"{what} failed for another reason: {error.strerror}") from error
    raise _HoleError(f"{what} was possible")


def _resource_limits(seal: Seal) -> None:
    rlimits.apply(seal.resource_limits)
    null = os.open(os.devnull, os.O_RDWR)
    keep_only(ANSWER_FD, null, null)

    def open_many() -> None:
        for _ in range(seal.limits.open_files + 1):
            os.open(os.devnull, os.O_RDONLY)

    _must_fail("opening too many files", open_many, errno.EMFILE)
    if sys.platform == "linux":
        size = seal.limits.memory_bytes + 1
        _must_fail("too large a mapping", lambda: mmap.mmap(-1, size, prot=mmap.PROT_READ), errno.ENOMEM)


def _closed_descriptors() -> None:
    null = os.open(os.devnull, os.O_RDWR)
    keep_only(ANSWER_FD, null, null)
    for descriptor in range(ORDER_FD + 1, 64):
        _must_fail(f"use of descriptor {descriptor}", lambda fd=descriptor: os.fstat(fd), errno.EBADF)  # type: ignore[misc]


def _namespaces() -> None:
    if os.getppid() not in (0, 1):
        raise _HoleError("the zygote is not PID 1 of its namespace")
    for _, name in socket.if_nameindex():
        if name != "lo":
            raise _HoleError(f"the network interface {name} is visible")
    with socket.socket() as client:
        client.settimeout(1.0)
        _must_fail("a connection to the host", lambda: client.connect(("127.0.0.1", 9)), errno.ENETUNREACH)


def _empty_root() -> None:
    visible = {path.split("/")[1] for path in (*file_tree.interpreter_paths(), UNREADABLE)}
    if not visible.issuperset(os.listdir("/")):
        raise _HoleError("the root holds what no solver needs")
    _must_fail("seeing /etc/passwd", lambda: os.stat("/etc/passwd"), errno.ENOENT)
    _must_fail("making a folder", lambda: os.mkdir("/folder"), errno.EROFS)


def _no_new_privileges() -> None:
    privileges.forbid_new_privileges()
    if call("prctl", _PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1:
        raise _HoleError("the bit did not stick")


def _no_inspection() -> None:
    privileges.forbid_inspection()
    if call("prctl", _PR_GET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise _HoleError("the process stays dumpable")


def _parent_death() -> None:
    """Check that a grandchild that would sleep dies with its parent."""
    reader, writer = os.pipe()
    middle = os.fork()
    if middle == 0:
        ready, tell = os.pipe()
        if os.fork() == 0:
            privileges.die_with_parent()
            os.write(tell, b"r")
            time.sleep(4 * _SELF_TEST_S)
            os._exit(0)
        os.read(ready, 1)
        os._exit(0)
    os.close(writer)
    os.waitpid(middle, 0)
    if not select.select([reader], [], [], _SELF_TEST_S / 2)[0]:
        raise _HoleError("a child outlived its parent")


def _landlock(seal: Seal) -> None:
    privileges.forbid_new_privileges()
    hidden = UNREADABLE if os.path.exists(UNREADABLE) else "/etc/passwd"
    landlock.restrict(seal.landlock_ruleset)
    denied = (errno.EACCES, errno.EPERM)
    _must_fail(f"reading {hidden}", lambda: os.open(hidden, os.O_RDONLY), *denied)
    _must_fail("listing /", lambda: os.listdir("/"), *denied)
    name, flags = f"/tmp/landlock-{os.getpid()}", os.O_CREAT | os.O_WRONLY | os.O_EXCL
    _must_fail("creating a file", lambda: os.open(name, flags), *denied, errno.ENOENT, errno.EROFS)


def _capabilities() -> None:
    privileges.drop_capabilities()
    _must_fail("unshare", lambda: call("unshare", _CLONE_NEWUTS), errno.EPERM)


def _seccomp(seal: Seal) -> None:
    privileges.forbid_new_privileges()
    assert seal.seccomp_filter is not None
    seal.seccomp_filter.install()
    _must_fail("a socket", lambda: socket.socket(), errno.EPERM)
    _must_fail("exec", lambda: os.execv("/bin/true", ["true"]), errno.EPERM)
    _must_fail("a signal", lambda: os.kill(os.getppid(), 0), errno.EPERM)
    if seal.limits.processes == 0:
        _must_fail("fork", os.fork, errno.EPERM)
