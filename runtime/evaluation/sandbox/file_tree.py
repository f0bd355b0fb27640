"""What a child sees of the file system: the interpreter, numpy, numba and what these need, and nothing else.

The list is short on purpose. It leaves out this program's own package, whose data hold references and
published instances, every other installed package and all of the user's files.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path

from dga2d.runtime.evaluation.sandbox.libc import call

_PACKAGES = ("numpy", "numba", "llvmlite", "scipy")
"""Packages that compiled code may load more of when it needs them; scipy holds numba's linear algebra."""
_NOT_NEEDED = frozenset(
    {"site-packages", "dist-packages", "test", "idlelib", "tkinter", "turtledemo", "lib2to3", "ensurepip"}
)
"""Folders of the standard library that no solver needs."""
_OTHER = ("/etc/ld.so.cache", "/dev/null", "/dev/urandom")
UNREADABLE = "/unreadable"
"""A file in the root that no rule allows to read: what Landlock is tested on."""

_MS_NOSUID, _MS_NODEV, _MS_BIND, _MS_REC, _MS_PRIVATE = 0x2, 0x4, 0x1000, 0x4000, 0x40000
_MNT_DETACH = 2
_PIVOT_ROOT, _MOUNT_SETATTR = 155, 442
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_MOUNT_ATTR_RDONLY = 0x1


class _MountAttributes(ctypes.Structure):
    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    )


def interpreter_paths() -> tuple[str, ...]:
    """Return the files and folders that a running solver may read, sorted; all exist."""
    found = {*_standard_library(), *_packages(), *_shared_libraries(), *_OTHER}
    return tuple(sorted(path for path in found if os.path.exists(path)))


def _standard_library() -> Iterator[str]:
    """Yield the entries of the standard library's folders, except site-packages and what no solver needs."""
    for name in ("stdlib", "platstdlib"):
        folder = sysconfig.get_path(name)
        for entry in os.listdir(folder) if os.path.isdir(folder) else ():
            if entry not in _NOT_NEEDED and not entry.startswith("config-"):
                yield os.path.join(folder, entry)


def _packages() -> Iterator[str]:
    for name in _PACKAGES:
        spec = importlib.util.find_spec(name)
        for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
            yield folder
            yield f"{folder}.libs"  # shared libraries that wheels bring along


def _shared_libraries() -> Iterator[str]:
    """Yield the folders that hold the system's shared libraries and nothing else."""
    triplet = sysconfig.get_config_var("MULTIARCH")
    if triplet:
        yield from (f"/lib/{triplet}", f"/usr/lib/{triplet}")


def hide_host(visible: Sequence[str]) -> None:
    """Replace the root of this process by a read-only tree that holds `visible` at their places.

    To be called in a mount namespace of one's own, by a process that has loaded what else it needs.

    Raises
    ------
    OSError
        The kernel or its policy refuses; the file tree may then be incomplete, but nothing is added to it.
    """
    sources = {path: os.path.realpath(path) for path in visible}
    _mount("none", "/", None, _MS_REC | _MS_PRIVATE)
    _mount("tmpfs", "/tmp", "tmpfs", _MS_NOSUID | _MS_NODEV, "size=1m,mode=755")
    os.mkdir("/tmp/.host")
    call("syscall", _PIVOT_ROOT, b"/tmp", b"/tmp/.host")
    os.chdir("/")
    for path, source in sources.items():
        _bind(f"/.host{source}", path)
    Path(UNREADABLE).touch()
    call("umount2", b"/.host", _MNT_DETACH)
    os.rmdir("/.host")
    _make_read_only("/", _AT_RECURSIVE)


def _bind(source: str, target: str) -> None:
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        Path(target).touch()
    _mount(source, target, None, _MS_BIND | _MS_REC)


def _mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    encoded = (None if text is None else text.encode() for text in (source, target, kind))
    data = None if options is None else options.encode()
    call("mount", *encoded, ctypes.c_ulong(flags), data)


def _make_read_only(path: str, flags: int) -> None:
    attributes = _MountAttributes(set=_MOUNT_ATTR_RDONLY)
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    call("syscall", _MOUNT_SETATTR, _AT_FDCWD, path.encode(), flags, ctypes.byref(attributes), size)
