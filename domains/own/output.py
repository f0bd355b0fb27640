"""What the functions of a problem's file print goes to stderr, results are alone on stdout; and a word there
where they take long.
"""

from __future__ import annotations

import os
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

SLOW_S = 10.0
"""Seconds after which a function of a file is said to be still running."""
_NOWHERE = os.stat(os.devnull).st_rdev
"""Device of ``/dev/null``, which a sealed process cannot ask for."""
_one_at_a_time = threading.RLock()
"""Threads that redirected and restored crosswise would leave stdout redirected."""


@contextmanager
def printing_to_stderr() -> Iterator[None]:
    """Let what is printed inside go to stderr. Other threads that want the same wait.

    Where stdout leads nowhere it stays: stderr of evaluation processes is a pipe that nobody empties.
    """
    if _leads_nowhere(1):
        yield
        return
    with _one_at_a_time, redirect_stdout(sys.stderr):
        yield


def _leads_nowhere(descriptor: int) -> bool:
    try:
        status = os.fstat(descriptor)
    except OSError:  # closed
        return True
    return stat.S_ISCHR(status.st_mode) and status.st_rdev == _NOWHERE


@contextmanager
def telling_if_slow(what: str) -> Iterator[None]:
    """Say on stderr that `what` is still running after `SLOW_S` seconds: it may never end."""
    said = f"{what} has run for {SLOW_S:g} s by now; it may be without end (Ctrl-C, twice, stops it)"
    timer = threading.Timer(SLOW_S, print, (said,), {"file": sys.stderr, "flush": True})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
