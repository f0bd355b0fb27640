"""Starting commands as a user without any rights, whoever runs the tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

NOBODY = 65534
_OPENED = """set -e
given=$(umask)
umask 022
mount --bind "$1" /mnt
mount -t tmpfs tmpfs -o mode=755 "$2"
mkdir -p "$1"
mount --bind /mnt "$1"
umask "$given"
shift 2
exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
"""
"""Shows the interpreter's folder, and nothing else of the closed home it lies in, in mounts of its own."""


def as_ordinary_user() -> list[str]:
    """The words to put before a command so that nobody runs it; none if the tests are an ordinary user's.

    Skips the test where that cannot be had.
    """
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("running as root, and there is no setpriv to become another user")
    plain = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    if _works(plain):
        return plain
    installation = Path(sys.base_prefix).resolve()
    closed = next(
        (place for place in reversed(installation.parents) if not place.stat().st_mode & 0o001), None
    )
    if closed is None or shutil.which("unshare") is None:
        pytest.skip("an ordinary user may not execute this interpreter")
    opened = ["unshare", "--mount", "sh", "-c", _OPENED, "sh", str(installation), str(closed)]
    if not _works(opened):
        pytest.skip("an ordinary user may not execute this interpreter, and there are no mounts to show it")
    return opened


def _works(prefix: Sequence[str]) -> bool:
    """Return whether the interpreter starts behind `prefix` and can start another, as the program does."""
    script = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import dga2d'], check=True)"
    done = subprocess.run([*prefix, sys.executable, "-P", "-c", script], capture_output=True, check=False)
    return done.returncode == 0
